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
import {protectedPlaces} from './protected-places.ts';
import {RepositoryFinder} from './repositories/find-repositories.ts';
import {watchRepositories} from './repositories/repository-watch.ts';
import type {ConfinedCommand, ConfineOptions, Sandbox, SandboxProfile, SandboxStatus} from './sandbox.ts';
import {createSeatbeltProfile} from './seatbelt-profile.ts';
import {SessionFolder} from './view/session-folder.ts';
import {MAC_FOLDERS} from './view/system-folders.ts';
import {type ViewPlaces, Views} from './view/view.ts';

const PROBE_LIMIT_MS = 5000;

export class Seatbelt implements Sandbox {
  readonly #repositories = new RepositoryFinder();
  #status: Promise<SandboxStatus> | undefined;
  #works = false;
  readonly folder = new SessionFolder();
  readonly #views: Views;

  constructor(
    private readonly places: ViewPlaces,
    private readonly variables: readonly string[] = [],
    private readonly program = '/usr/bin/sandbox-exec',
  ) {
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
    const before = profile === 'workspace-write' ? this.#repositories.find(roots) : undefined;
    const writable = before && protectedPlaces(roots, realpathSync(this.places.home), before.found.values());
    const watch = before && writable && watchRepositories(this.#repositories, before, {roots, places: writable});
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
      hidden: hidden.map(({path}) => path),
      release() {
        if (!writable) rmSync(temporary, {recursive: true, force: true});
        return watch?.finish() ?? [];
      },
    };
  }

  isVisible(place: string, options: Omit<ConfineOptions, 'cwd'>): boolean {
    const {roots, hidden, shown} = this.#views.get(options);
    const visible = [...MAC_FOLDERS, ...roots, ...shown, this.folder.temporary];
    const innermost = [...visible, ...hidden.map(({path}) => path)]
      .filter((each) => isInside(place, [each]))
      .sort((a, b) => a.length - b.length)
      .at(-1);
    return innermost !== undefined && !hidden.some(({path}) => path === innermost);
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
