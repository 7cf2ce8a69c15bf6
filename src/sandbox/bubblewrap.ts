/**
 * Confines commands on Linux by bubblewrap. The flags work only together: mounts alone do not confine root, which could
 * leave them by a remount, through `/proc/<pid>/root` or by a socket.
 */
import {existsSync, lstatSync} from 'node:fs';
import {dirname} from 'node:path';
import type {Duplex} from 'node:stream';
import {MiniCcError} from '../core/util/errors.ts';
import {isInside} from '../core/util/paths.ts';
import {runProgram} from '../core/util/processes.ts';
import {findOwnProgram, getRealPath} from '../core/util/programs.ts';
import type {AllowedHosts} from './allowed-hosts.ts';
import {confinedEnvironment} from './environment.ts';
import {withForwarder} from './host-forwarder.ts';
import {KnownProbe} from './known-probe.ts';
import {Mounts} from './mounts.ts';
import {type Placeholder, Placeholders} from './placeholders.ts';
import {guardedPlaces, needsFiles, type ProtectedPlaces, protectedPlaces} from './protected-places.ts';
import {RepositoryFinder} from './repositories/find-repositories.ts';
import {watchRepositories} from './repositories/repository-watch.ts';
import type {ConfinedCommand, ConfineOptions, Sandbox, SandboxProfile, SandboxStatus} from './sandbox.ts';
import {seccompFilter} from './seccomp.ts';
import {SessionFolder} from './view/session-folder.ts';
import {findSystemFolders, type SystemFolders} from './view/system-folders.ts';
import {existingRoots, type View, type ViewPlaces, Views} from './view/view.ts';

const ISOLATION_FLAGS = [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-net',
  '--unshare-ipc',
  '--unshare-uts',
  '--cap-drop',
  'ALL',
  '--new-session',
  '--die-with-parent',
];
/** Descriptor from which bwrap reads the system call filter, see `ConfinedCommand.input`. */
const INPUT = 4;
const PROBE_LIMIT_MS = 5000;
/**
 * Number of mount plans that are cached. Each agent with a workspace of its own needs two, one to read and one to
 * write.
 */
const MAX_MOUNTS = 20;
const PROBE_MOUNTS = ['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'];

export interface BubblewrapOptions extends ViewPlaces {
  /** Search path in which `bwrap` is looked for. Default: the PATH of this process. */
  readonly searchPath?: string;
  /** Folder that stores for a day that the sandbox works. Default: each start probes the sandbox. */
  readonly knownIn?: string | undefined;
  /** Hosts that commands of the profile `workspace-write` may reach. Default: none. */
  readonly hosts?: AllowedHosts;
  /** Whether commands of that profile may use Unix sockets. Default: no. */
  readonly unixSockets?: boolean;
  /** Names of further variables that confined commands get (`sandbox.env`). */
  readonly env?: readonly string[];
}

export class Bubblewrap implements Sandbox {
  readonly folder: SessionFolder;
  readonly #views: Views;
  readonly #filters: Readonly<Record<SandboxProfile, Uint8Array | undefined>>;
  readonly #placeholders = new Placeholders();
  readonly #repositories = new RepositoryFinder();
  /** Mount plans by everything that they depend on. */
  readonly #mounts = new Map<string, Mounts>();
  #status: Promise<SandboxStatus> | undefined;
  #system: SystemFolders | undefined;
  /** Path of bwrap. It is set when the probe has shown that the sandbox works. */
  #file: string | undefined;

  constructor(private readonly options: BubblewrapOptions) {
    this.folder = new SessionFolder(options.miniCcHome);
    this.#views = new Views(options, this.folder);
    this.#filters = {
      'read-only': seccompFilter(),
      'workspace-write': seccompFilter(options),
      guarded: undefined,
    };
  }

  status(): Promise<SandboxStatus> {
    this.#status ??= this.#probe();
    return this.#status;
  }

  confine(profile: SandboxProfile, argv: readonly string[], options: ConfineOptions): ConfinedCommand {
    if (this.#file === undefined) {
      throw new MiniCcError('SANDBOX_UNAVAILABLE', `No ${profile} command can run: the sandbox was not found to work.`);
    }
    if (profile === 'guarded') return this.#guard(this.#file, argv, options);
    const roots = existingRoots(options);
    const before = profile === 'workspace-write' ? this.#repositories.find(roots) : undefined;
    const places = before && protectedPlaces(roots, getRealPath(this.options.home), before.found.values());
    const files = places && options.scope?.files.filter((file) => existsSync(file) && !isInside(file, places.readOnly));
    const hosts = places && this.options.hosts?.names.length ? this.options.hosts : undefined;
    const inside = hosts ? withForwarder(argv) : argv;
    // Node may be installed in a folder that is otherwise hidden.
    const seen = [...(options.seen ?? []), ...(hosts ? [dirname(process.execPath)] : [])];
    // Get the view before the placeholders exist: the view watches `.git`, so a placeholder there would cause a new
    // search each time.
    const view = this.#views.get({...options, seen});
    const placeholders = this.#createPlaceholders(files ? [] : (places?.missing ?? []));
    const writable = places && {...places, missing: placeholders};
    const filter = this.#filters[profile];
    const readOnly = (writable?.readOnly ?? []).map((path) => ({path, inode: getInode(path)}));
    // A command that writes only existing files makes no repository.
    const findMade =
      before && places && !files ? watchRepositories(this.#repositories, before, {roots, places}) : undefined;
    return {
      file: this.#file,
      args: [
        ...ISOLATION_FLAGS,
        ...seccompFlags(filter),
        ...this.#createMounts(view, writable, files).getFlags(process.getuid?.() === 0),
        '--chdir',
        options.cwd,
        '--',
        ...inside,
      ],
      env: {
        ...confinedEnvironment(options.env ?? {}, this.options.env),
        TMPDIR: this.folder.temporary,
        GIT_CONFIG_GLOBAL: view.gitSettings,
      },
      ...(filter && {input: filter}),
      ...(hosts && {link: (stream: Duplex) => linkTo(stream, hosts)}),
      reaches: hosts?.names ?? [],
      release: (hasBegun = true) => {
        for (const {path} of placeholders) this.#placeholders.release(path);
        if (!hasBegun) return [];
        return [...(findMade?.() ?? []), ...readOnly.flatMap(describeReplaced)];
      },
    };
  }

  /**
   * Runs the command as a plain one, on mounts that keep protected places. The user namespace, or for root the missing
   * capabilities, prevent it from reaching the places through the processes outside.
   */
  #guard(file: string, argv: readonly string[], options: ConfineOptions): ConfinedCommand {
    const roots = existingRoots(options);
    const {temporary} = this.folder;
    const folders = {home: getRealPath(this.options.home), miniCcHome: this.options.miniCcHome, temporary};
    const {settings, inSettings, readOnly, missing} = guardedPlaces(roots, folders, this.#repositories.find(roots));
    const placeholders = this.#createPlaceholders(missing);
    const masked = (options.masked ?? []).flatMap((place) => {
      const stat = lstatSync(place, {throwIfNoEntry: false});
      if (!stat) return [];
      return stat.isDirectory() ? ['--tmpfs', place, '--remount-ro', place] : ['--ro-bind', '/dev/null', place];
    });
    const kept = [...readOnly, ...placeholders.map(({path}) => path)];
    const bind = (flag: string, all: readonly string[]) => all.flatMap((place) => [flag, place, place]);
    const capabilities = process.getuid?.() === 0 ? ['CAP_SYS_ADMIN', 'CAP_SYS_PTRACE'] : [];
    return {
      file,
      args: [
        '--dev-bind',
        '/',
        '/',
        ...bind('--ro-bind', settings),
        ...bind('--bind', inSettings),
        ...bind('--ro-bind', kept),
        ...masked,
        ...capabilities.flatMap((capability) => ['--cap-drop', capability]),
        '--die-with-parent',
        '--chdir',
        options.cwd,
        '--',
        ...argv,
      ],
      env: {...options.env, TMPDIR: temporary},
      reaches: [],
      release: () => {
        for (const {path} of placeholders) this.#placeholders.release(path);
        return [];
      },
    };
  }

  prepare(options: ConfineOptions): void {
    this.#repositories.find(existingRoots(options));
  }

  addsFiles(profile: SandboxProfile, options: ConfineOptions): boolean {
    return profile !== 'read-only' && needsFiles(existingRoots(options), getRealPath(this.options.home));
  }

  visibleIn(options: Omit<ConfineOptions, 'cwd'>): (place: string) => boolean {
    const mounts = this.#createMounts(this.#views.get(options), undefined);
    return (place) => mounts.isVisible(place);
  }

  outlives(directory: string, options: Omit<ConfineOptions, 'cwd'>): boolean {
    return existsSync(directory) && this.#createMounts(this.#views.get(options), undefined).hasFolder(directory);
  }

  /** Caches the mounts: one command asks several times, and the next one mostly sees the same places. */
  #createMounts(view: View, writable: ProtectedPlaces | undefined, files?: readonly string[]): Mounts {
    this.#system ??= findSystemFolders();
    const temporary = {path: this.folder.temporary, names: this.folder.list()};
    const home = getRealPath(this.options.home);
    const key = JSON.stringify([view, home, temporary, writable, files]);
    const mounts = this.#mounts.get(key) ?? new Mounts({system: this.#system, view, home, temporary, writable, files});
    if (!this.#mounts.has(key) && this.#mounts.size >= MAX_MOUNTS) this.#mounts.clear();
    this.#mounts.set(key, mounts);
    return mounts;
  }

  /** @returns the placeholders that were created, without those where neither mini-cc nor its commands may write */
  #createPlaceholders(missing: readonly Placeholder[]): Placeholder[] {
    const placeholders: Placeholder[] = [];
    try {
      for (const placeholder of missing) if (this.#placeholders.acquire(placeholder)) placeholders.push(placeholder);
      return placeholders;
    } catch (error) {
      for (const {path} of placeholders) this.#placeholders.release(path);
      throw error;
    }
  }

  async #probe(): Promise<SandboxStatus> {
    const file = findOwnProgram('bwrap', this.options.searchPath);
    if (file === undefined) {
      const install = 'apt-get install bubblewrap';
      const remedy = isInContainer() ? `${install}, and ${CONTAINER_REMEDY}` : install;
      return {available: false, reason: 'bubblewrap is not installed', remedy};
    }
    const filter = this.#filters['read-only'];
    const args = [...ISOLATION_FLAGS, ...seccompFlags(filter), ...PROBE_MOUNTS, '--', 'true'];
    const {knownIn} = this.options;
    const known = knownIn === undefined ? undefined : new KnownProbe(knownIn, file, args);
    const isKnown = known?.works ?? false;
    const failure = isKnown ? undefined : await findFailure(file, args, filter);
    if (failure === undefined) {
      if (!isKnown) known?.remember();
      this.#file = file;
      return {available: true, kind: 'bubblewrap'};
    }
    return {available: false, reason: `bubblewrap does not work here (${failure})`, remedy: remedyFor(failure)};
  }
}

function seccompFlags(filter: Uint8Array | undefined): string[] {
  return filter ? ['--seccomp', String(INPUT)] : [];
}

/**
 * Loads the server of allowed hosts only when hosts are allowed. The command's first connection waits until it is
 * loaded.
 */
async function linkTo(stream: Duplex, hosts: AllowedHosts): Promise<void> {
  const {serveAllowedHosts} = await import('./allowed-hosts.ts');
  serveAllowedHosts(stream, hosts);
}

/** Docker and Podman put these files into each container. */
const CONTAINER_SIGNS = ['/.dockerenv', '/run/.containerenv'];
const CONTAINER_REMEDY =
  'start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt ' +
  'systempaths=unconfined, or, where the container is wall enough, set "sandbox": {"container": true} in your settings';

function isInContainer(): boolean {
  return CONTAINER_SIGNS.some((file) => existsSync(file));
}

/** Returns why bwrap does not run; undefined when it runs. */
async function findFailure(
  file: string,
  args: readonly string[],
  filter: Uint8Array | undefined,
): Promise<string | undefined> {
  const limits = {limitMs: PROBE_LIMIT_MS, inputs: [undefined, filter]};
  const {ended, exitCode, stderr, message} = await runProgram(file, args, limits);
  if (exitCode === 0) return undefined;
  return stderr.trim().split('\n')[0] || (ended === 'start' ? message : `it ended with ${exitCode ?? null}`);
}

function remedyFor(failure: string): string {
  if (isInContainer()) return CONTAINER_REMEDY;
  if (/uid map|namespace|permitted|permission/i.test(failure)) {
    return (
      'allow unprivileged user namespaces (on Ubuntu 24.04: an AppArmor profile for bwrap with `userns,`, or ' +
      'sysctl kernel.apparmor_restrict_unprivileged_userns=0), then start mini-cc again'
    );
  }
  return 'apt-get install --reinstall bubblewrap, then start mini-cc again';
}

function getInode(path: string): number | undefined {
  return lstatSync(path, {throwIfNoEntry: false})?.ino;
}

/**
 * Reports a mount that disappeared because a program outside replaced its target, as git does with its configuration.
 */
function describeReplaced({path, inode}: {readonly path: string; readonly inode: number | undefined}): string[] {
  const now = getInode(path);
  // When the path is missing, the command moved its folder, and the mount moved with it.
  if (now === undefined || now === inode) return [];
  return [
    `(${path} was replaced from outside while this command ran, so the command could write it from then on: look at it)`,
  ];
}
