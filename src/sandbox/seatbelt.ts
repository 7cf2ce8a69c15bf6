/**
 * Confines commands on macOS by `sandbox-exec`, a part of the system. It is written from published profiles and not
 * tested on macOS yet.
 */
import {existsSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {MiniCcError} from '../core/util/errors.ts';
import {isInside} from '../core/util/paths.ts';
import {runProgram} from '../core/util/processes.ts';
import {confinedEnvironment} from './environment.ts';
import {depth} from './mounts.ts';
import {type GuardedPlaces, guardedPlaces, type ProtectedPlaces, protectedPlaces} from './protected-places.ts';
import {RepositoryFinder} from './repositories/find-repositories.ts';
import {watchRepositories} from './repositories/repository-watch.ts';
import type {ConfinedCommand, ConfineOptions, Sandbox, SandboxProfile, SandboxStatus} from './sandbox.ts';
import {SessionFolder} from './view/session-folder.ts';
import {MAC_FOLDERS} from './view/system-folders.ts';
import {type HiddenPath, type ViewPlaces, Views} from './view/view.ts';

const PROBE_LIMIT_MS = 5000;

export class Seatbelt implements Sandbox {
  readonly #repositories = new RepositoryFinder();
  #status: Promise<SandboxStatus> | undefined;
  #works = false;
  readonly folder: SessionFolder;
  readonly #views: Views;

  constructor(
    private readonly places: ViewPlaces,
    private readonly variables: readonly string[] = [],
    private readonly program = '/usr/bin/sandbox-exec',
  ) {
    this.folder = new SessionFolder(places.miniCcHome);
    this.#views = new Views(places, this.folder);
  }

  status(): Promise<SandboxStatus> {
    this.#status ??= this.#probe();
    return this.#status;
  }

  confine(profile: SandboxProfile, argv: readonly string[], options: ConfineOptions): ConfinedCommand {
    if (!this.#works) {
      throw new MiniCcError('SANDBOX_UNAVAILABLE', `No ${profile} command can run: the sandbox was not found to work.`);
    }
    const view = this.#views.get(options);
    const {roots, hidden, masked} = view;
    if (profile === 'guarded') {
      const {temporary} = this.folder;
      const folders = {home: realpathSync(this.places.home), miniCcHome: this.places.miniCcHome, temporary};
      const places = guardedPlaces(roots, folders, this.#repositories.find(roots));
      return {
        file: this.program,
        args: ['-p', createGuardProfile(places, roots, masked), ...argv],
        env: {...options.env, TMPDIR: temporary},
        reaches: [],
        release: () => [],
      };
    }
    const before = profile === 'workspace-write' ? this.#repositories.find(roots) : undefined;
    const writable = before && protectedPlaces(roots, realpathSync(this.places.home), before.found.values());
    const findMade = before && writable && watchRepositories(this.#repositories, before, {roots, places: writable});
    const session = this.folder.temporary;
    // macOS has no mounts, so a read-only command gets a folder of its own and leaves nothing where others read.
    const temporary = writable ? session : this.folder.createPrivate();
    const text = createSeatbeltProfile({
      roots,
      hidden: [...hidden, ...masked],
      temporary,
      writable,
      files: options.scope?.files,
      shown: [...view.shown, view.gitSettings, session],
    });
    return {
      file: this.program,
      args: ['-p', text, ...argv],
      env: {
        ...confinedEnvironment(options.env ?? {}, this.variables),
        TMPDIR: temporary,
        GIT_CONFIG_GLOBAL: view.gitSettings,
      },
      reaches: [],
      release() {
        if (!writable) rmSync(temporary, {recursive: true, force: true});
        return findMade?.() ?? [];
      },
    };
  }

  visibleIn(options: Omit<ConfineOptions, 'cwd'>): (place: string) => boolean {
    const {roots, hidden, shown} = this.#views.get(options);
    const visible = [...MAC_FOLDERS, ...roots, ...shown, this.folder.temporary];
    return (place) => {
      const innermost = [...visible, ...hidden.map(({path}) => path)]
        .filter((each) => isInside(place, [each]))
        .sort((a, b) => a.length - b.length)
        .at(-1);
      return innermost !== undefined && !hidden.some(({path}) => path === innermost);
    };
  }

  addsFiles(): boolean {
    return false;
  }

  outlives(directory: string): boolean {
    return existsSync(directory);
  }

  async #probe(): Promise<SandboxStatus> {
    const text = createSeatbeltProfile({
      roots: [],
      shown: [],
      hidden: [],
      temporary: realpathSync(tmpdir()),
      writable: undefined,
    });
    const args = ['-p', text, '/usr/bin/true'];
    const {exitCode, stderr, message} = await runProgram(this.program, args, {limitMs: PROBE_LIMIT_MS});
    const failure = exitCode === 0 ? undefined : stderr.trim().split('\n')[0] || message;
    this.#works = failure === undefined;
    return failure === undefined
      ? {available: true, kind: 'Seatbelt'}
      : {
          available: false,
          reason: `the sandbox of macOS does not work here (${failure})`,
          remedy: 'start mini-cc outside of another sandbox, where /usr/bin/sandbox-exec runs',
        };
  }
}

export interface SeatbeltPlaces {
  readonly roots: readonly string[];
  /** Further places that may be read, even inside hidden ones. */
  readonly shown: readonly string[];
  readonly hidden: readonly HiddenPath[];
  /** The command's folder for temporary files, which it may read and write. */
  readonly temporary: string;
  /** Places that stay read-only in writable roots. Undefined when the roots are read-only. */
  readonly writable: ProtectedPlaces | undefined;
  /** Files that can be written. When present, nothing else in the roots can be. */
  readonly files?: readonly string[] | undefined;
}

/** Without these rules no program starts, or programs cannot find their user, the time or the number of processors. */
const BASE = [
  '(version 1)',
  '(deny default)',
  '(allow process-exec process-fork)',
  '(allow process-info* signal (target same-sandbox))',
  '(allow sysctl-read user-preference-read ipc-posix-sem ipc-posix-shm)',
  `(allow mach-lookup ${[
    'com.apple.system.opendirectoryd.libinfo',
    'com.apple.system.opendirectoryd.membership',
    'com.apple.system.notification_center',
    'com.apple.system.logger',
    'com.apple.logd',
    'com.apple.bsd.dirhelper',
  ]
    .map((name) => `(global-name ${quoted(name)})`)
    .join(' ')})`,
  // Metadata can be read everywhere, so that paths resolve. The rules below say which contents can be read.
  '(allow file-read-metadata file-test-existence)',
  '(allow file-read* (literal "/"))',
  '(allow file-write* file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper"))',
  '(allow file-read* file-ioctl (literal "/dev/random") (literal "/dev/urandom") (literal "/dev/tty"))',
];
const SYSTEM_KEYS = ['/Library/Keychains'];

interface ProfileRule {
  readonly path: string;
  readonly text: string;
}

/**
 * Writes the profile of a confined command, in the language of the kernel's sandbox. Everything is denied that is not
 * allowed. When two rules are about a path, the later one wins. Paths that do not exist yet can be denied too.
 * @returns the profile for `sandbox-exec -p`. It does not allow any network
 */
export function createSeatbeltProfile({roots, shown, hidden, temporary, writable, files}: SeatbeltPlaces): string {
  const rules: ProfileRule[] = [
    ...MAC_FOLDERS.map((path) => allow('file-read*', path)),
    ...SYSTEM_KEYS.map((path) => deny(path)),
    ...[...roots, ...shown].map((path) => allow('file-read*', path)),
    ...(writable ? (files ?? roots).map((path) => allow('file-write*', path)) : []),
    ...hidden.map(({path}) => deny(path)),
  ];
  // Put outer paths first, as for mounts. The sort keeps the order of paths with the same depth.
  rules.sort((a, b) => depth(a.path) - depth(b.path));
  return [
    ...BASE,
    ...rules.map(({text}) => text),
    `(allow file-read* file-write* ${subpath(temporary)})`,
    ...(writable ? protection(writable, roots) : []),
  ].join('\n');
}

/** Writes the profile of a command that is as a plain one, but for protected places. */
function createGuardProfile(
  {settings, inSettings, ...places}: GuardedPlaces,
  roots: readonly string[],
  masked: readonly {readonly path: string}[],
): string {
  const rules = [
    ...settings.map((path) => `(deny file-write* ${subpath(path)})`),
    ...inSettings.map((path) => `(allow file-write* ${subpath(path)})`),
    ...masked.map(({path}) => `(deny file-read* file-write* ${subpath(path)})`),
  ];
  return ['(version 1)', '(allow default)', ...rules, ...protection({...places, pinned: []}, roots)].join('\n');
}

/** Denies writing the protected places, and renaming or removing the folders above them, which would move them. */
function protection({readOnly, pinned, missing}: ProtectedPlaces, roots: readonly string[]): string[] {
  const places = [...readOnly, ...missing.map(({path}) => path)];
  const above = new Set([...roots, ...pinned, ...places.flatMap((place) => foldersAbove(place, roots))]);
  return [
    ...places.map((path) => `(deny file-write* ${subpath(path)})`),
    ...[...above].map((path) => `(deny file-write-unlink (literal ${quoted(path)}))`),
  ];
}

function foldersAbove(place: string, roots: readonly string[]): string[] {
  const folder = place.slice(0, place.lastIndexOf('/'));
  return isInside(folder, roots) ? [folder, ...foldersAbove(folder, roots)] : [];
}

function allow(what: string, path: string): ProfileRule {
  return {path, text: `(allow ${what} ${subpath(path)})`};
}

function deny(path: string): ProfileRule {
  return {path, text: `(deny file-read* file-write* ${subpath(path)})`};
}

function subpath(path: string): string {
  return `(subpath ${quoted(path)})`;
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}
