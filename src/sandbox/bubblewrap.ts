/**
 * Linux: bubblewrap. The flags work only together: `--ro-bind / /` alone does not confine root, which could leave it by a
 * remount, through `/proc/<pid>/root` or by a socket in `/tmp`.
 */
import {accessSync, constants, lstatSync, realpathSync} from 'node:fs';
import {delimiter, dirname, isAbsolute, join} from 'node:path';
import type {Duplex} from 'node:stream';
import {MiniCcError} from '../core/util/errors.ts';
import {isInside} from '../core/util/paths.ts';
import {runProgram} from '../core/util/processes.ts';
import type {AllowedHosts} from './allowed-hosts.ts';
import {existingPaths, type HiddenPlaces, hiddenPaths} from './hidden-paths.ts';
import {withForwarder} from './host-forwarder.ts';
import {existingRoots, mountFlags, PRIVATE_FOLDERS} from './mounts.ts';
import {type Placeholder, Placeholders} from './placeholders.ts';
import {protectedPlaces} from './protected-places.ts';
import {RepositoryFinder} from './repositories/find-repositories.ts';
import {watchRepositories} from './repositories/repository-watch.ts';
import type {ConfinedCommand, ConfineOptions, Sandbox, SandboxProfile, SandboxStatus} from './sandbox.ts';
import {seccompFilter} from './seccomp.ts';

const ISOLATION_FLAGS = [
  ...['--ro-bind', '/', '/'],
  ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'],
  ...['--cap-drop', 'ALL', '--new-session', '--die-with-parent'],
  ...['--proc', '/proc', '--dev', '/dev'],
];
/** The descriptor from which bwrap reads the system call filter, see `ConfinedCommand.input`. */
const INPUT = 4;
const PROBE_LIMIT_MS = 5000;

export interface BubblewrapOptions {
  readonly searchPath?: string;
  readonly hosts?: AllowedHosts;
  readonly unixSockets?: boolean;
}

export class Bubblewrap implements Sandbox {
  readonly #places: HiddenPlaces;
  readonly #searchPath: string;
  readonly #hosts: AllowedHosts | undefined;
  readonly #filters: Readonly<Record<SandboxProfile, Uint8Array | undefined>>;
  readonly #placeholders = new Placeholders();
  readonly #repositories = new RepositoryFinder();
  #status: Promise<SandboxStatus> | undefined;
  /** Set when the probe has shown that the sandbox works. */
  #file: string | undefined;

  constructor(
    places: HiddenPlaces,
    {searchPath = process.env.PATH ?? '', hosts, unixSockets = false}: BubblewrapOptions = {},
  ) {
    this.#places = places;
    this.#hosts = hosts;
    this.#searchPath = searchPath;
    this.#filters = {'read-only': seccompFilter(), 'workspace-write': seccompFilter({unixSockets})};
  }

  status(): Promise<SandboxStatus> {
    this.#status ??= this.#probe();
    return this.#status;
  }

  confine(profile: SandboxProfile, argv: readonly string[], options: ConfineOptions): ConfinedCommand {
    if (this.#file === undefined) {
      throw new MiniCcError('SANDBOX_UNAVAILABLE', `No ${profile} command can run: the sandbox was not found to work.`);
    }
    const roots = existingRoots(options);
    const tmp = roots.includes('/tmp') ? '/dev/shm' : '/tmp';
    const before = profile === 'workspace-write' ? this.#repositories.find(roots) : undefined;
    const places = before && protectedPlaces(roots, realpathOr(this.#places.home), before.found.values());
    const placeholders = this.#createPlaceholders(places?.missing ?? []);
    const writable = places && {...places, missing: placeholders};
    const hosts = writable && this.#hosts?.names.length ? this.#hosts : undefined;
    const inside = hosts ? withForwarder(argv) : argv;
    // Node may be installed in a folder that is hidden otherwise.
    const seen = [...(options.seen ?? []), ...(hosts ? [dirname(process.execPath)] : [])];
    const filter = this.#filters[profile];
    const hidden = hiddenPaths(this.#places);
    const masked = existingPaths(options.masked ?? []);
    const mounts = mountFlags({...options, seen}, [...hidden, ...masked], writable);
    const readOnly = (writable?.readOnly ?? []).map((path) => ({path, inode: getInode(path)}));
    const watch = before && places && watchRepositories(this.#repositories, before, {roots, places});
    return {
      file: this.#file,
      args: [
        ...ISOLATION_FLAGS,
        ...seccompFlags(filter),
        ...mounts,
        '--setenv',
        'TMPDIR',
        tmp,
        '--chdir',
        options.cwd,
        '--',
        ...inside,
      ],
      ...(filter && {input: filter}),
      ...(hosts && {link: (stream: Duplex) => linkTo(stream, hosts)}),
      reaches: hosts?.names ?? [],
      hidden: hidden.map(({path}) => path),
      release: () => {
        for (const {path} of placeholders) this.#placeholders.release(path);
        return [...(watch?.finish() ?? []), ...readOnly.flatMap(describeReplaced)];
      },
    };
  }

  outlives(directory: string, options: Omit<ConfineOptions, 'cwd'>): boolean {
    return PRIVATE_FOLDERS.includes(directory) || this.isVisible(directory, options);
  }

  isVisible(place: string, options: Omit<ConfineOptions, 'cwd'>): boolean {
    const hidden = hiddenPaths(this.#places).map(({path}) => path);
    const shown = [...existingRoots(options), ...(options.seen ?? [])];
    const innermost = [...PRIVATE_FOLDERS, ...hidden, ...shown]
      .filter((each) => isInside(place, [each]))
      .sort((a, b) => b.length - a.length)[0];
    return innermost === undefined || shown.includes(innermost);
  }

  /** @returns the placeholders that were created, without those where neither mini-cc nor its commands may write. */
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
    const file = findProgram('bwrap', this.#searchPath);
    if (file === undefined) {
      return {available: false, reason: 'bubblewrap is not installed', remedy: 'apt-get install bubblewrap'};
    }
    const filter = this.#filters['read-only'];
    const args = [...ISOLATION_FLAGS, ...seccompFlags(filter), '--tmpfs', '/tmp', '--tmpfs', '/run', '--', 'true'];
    const failure = await findFailure(file, args, filter);
    if (failure === undefined) {
      this.#file = file;
      return {available: true, kind: 'bubblewrap'};
    }
    return {available: false, reason: `bubblewrap does not work here (${failure})`, remedy: remedyFor(failure)};
  }
}

function seccompFlags(filter: Uint8Array | undefined): string[] {
  return filter ? ['--seccomp', String(INPUT)] : [];
}

/** Loaded only when hosts are allowed. The command's first connection waits until it is loaded. */
async function linkTo(stream: Duplex, hosts: AllowedHosts): Promise<void> {
  const {serveAllowedHosts} = await import('./allowed-hosts.ts');
  serveAllowedHosts(stream, hosts);
}

/** Why bwrap does not run; undefined when it runs. */
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
  if (/uid map|namespace|permitted|permission/i.test(failure)) {
    return (
      'allow unprivileged user namespaces (on Ubuntu 24.04: an AppArmor profile for bwrap with `userns,`, or ' +
      'sysctl kernel.apparmor_restrict_unprivileged_userns=0), then start mini-cc again'
    );
  }
  return 'apt-get install --reinstall bubblewrap, then start mini-cc again';
}

function realpathOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function getInode(path: string): number | undefined {
  return lstatSync(path, {throwIfNoEntry: false})?.ino;
}

/** A mount disappears when a program outside replaces its target, as git does with its configuration. */
function describeReplaced({path, inode}: {readonly path: string; readonly inode: number | undefined}): string[] {
  const now = getInode(path);
  // Nothing is there: the command moved the folder around it, with the mount.
  if (now === undefined || now === inode) return [];
  return [
    `(${path} was replaced from outside while this command ran, so the command could write it from then on: look at it)`,
  ];
}

/** Ignores relative entries of the search path: a project must not provide its own sandbox. */
function findProgram(name: string, searchPath: string): string | undefined {
  return searchPath
    .split(delimiter)
    .filter((directory) => isAbsolute(directory))
    .map((directory) => join(directory, name))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
