/**
 * Linux: bubblewrap. The flags are one set that was probed as a whole: `--ro-bind / /` alone does not hold root,
 * which leaves it by a remount, through `/proc/<pid>/root` or by a socket in `/tmp`.
 */
import {accessSync, constants, lstatSync, realpathSync, renameSync} from 'node:fs';
import {delimiter, dirname, isAbsolute, join} from 'node:path';
import type {Duplex} from 'node:stream';
import {MiniCcError} from '../core/util/errors.ts';
import {isInside} from '../core/util/inside.ts';
import {runProgram} from '../core/util/processes.ts';
import type {AllowedHosts} from './allowed-hosts.ts';
import {type HiddenPlaces, hiddenPaths} from './hidden-paths.ts';
import {withForwarder} from './host-forwarder.ts';
import {mountFlags, PRIVATE, rootsOf} from './mounts.ts';
import {type Placeholder, Placeholders} from './placeholders.ts';
import {isRepository, protectedPlaces} from './protected-places.ts';
import type {ConfinedCommand, ConfineOptions, Sandbox, SandboxProfile, SandboxStatus} from './sandbox.ts';
import {seccompFilter} from './seccomp.ts';

const HOLD = [
  ...['--ro-bind', '/', '/'],
  ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'],
  ...['--cap-drop', 'ALL', '--new-session', '--die-with-parent'],
  ...['--proc', '/proc', '--dev', '/dev'],
];
/** The descriptor by which a command is given its filter, see `ConfinedCommand.input`. */
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
  #probe: Promise<SandboxStatus> | undefined;
  /** Set once the probe has shown that it holds. */
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
    this.#probe ??= this.#tryOut();
    return this.#probe;
  }

  confine(profile: SandboxProfile, argv: readonly string[], options: ConfineOptions): ConfinedCommand {
    if (this.#file === undefined) {
      throw new MiniCcError('SANDBOX_UNAVAILABLE', `No ${profile} command can run: the sandbox was not found to work.`);
    }
    const roots = rootsOf(options);
    const tmp = roots.includes('/tmp') ? '/dev/shm' : '/tmp';
    const places = profile === 'workspace-write' ? protectedPlaces(roots, realpathOr(this.#places.home)) : undefined;
    const held = this.#hold(places?.absent ?? []);
    const writable = places && {...places, absent: held};
    const hosts = writable && this.#hosts?.names.length ? this.#hosts : undefined;
    const inside = hosts ? withForwarder(argv) : argv;
    // Node lies where it was installed, which may be in a place that is covered.
    const seen = [...(options.seen ?? []), ...(hosts ? [dirname(process.execPath)] : [])];
    const filter = this.#filters[profile];
    const hidden = hiddenPaths(this.#places);
    const mounts = mountFlags({...options, seen}, hidden, writable);
    const kept = (writable?.kept ?? []).map((path) => ({path, inode: inodeOf(path)}));
    const plain = writable ? roots.filter((root) => !isRepository(root)) : [];
    return {
      file: this.#file,
      args: [
        ...HOLD,
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
        for (const {path} of held) this.#placeholders.release(path);
        return [...plain.flatMap(undoRepository), ...kept.flatMap(sayReplaced)];
      },
    };
  }

  outlives(directory: string, options: Omit<ConfineOptions, 'cwd'>): boolean {
    if (PRIVATE.includes(directory)) return true;
    const hidden = hiddenPaths(this.#places).map(({path}) => path);
    const innermost = [...PRIVATE, ...hidden, ...rootsOf(options)]
      .filter((place) => isInside(directory, [place]))
      .sort((a, b) => b.length - a.length)[0];
    return innermost === undefined || rootsOf(options).includes(innermost);
  }

  /** @returns those that are there now, to be released. Where mini-cc may make nothing, its commands may not either. */
  #hold(absent: readonly Placeholder[]): Placeholder[] {
    const held: Placeholder[] = [];
    try {
      for (const placeholder of absent) if (this.#placeholders.hold(placeholder)) held.push(placeholder);
      return held;
    } catch (error) {
      for (const {path} of held) this.#placeholders.release(path);
      throw error;
    }
  }

  async #tryOut(): Promise<SandboxStatus> {
    const file = findProgram('bwrap', this.#searchPath);
    if (file === undefined) {
      return {available: false, reason: 'bubblewrap is not installed', remedy: 'apt-get install bubblewrap'};
    }
    const filter = this.#filters['read-only'];
    const args = [...HOLD, ...seccompFlags(filter), '--tmpfs', '/tmp', '--tmpfs', '/run', '--', 'true'];
    const failure = await failureOf(file, args, filter);
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

/** Loaded where hosts are allowed. Until it is there the command's first connection waits. */
async function linkTo(stream: Duplex, hosts: AllowedHosts): Promise<void> {
  const {openGate} = await import('./allowed-hosts.ts');
  openGate(stream, hosts);
}

/** Why it does not run; undefined when it does. */
async function failureOf(
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

function inodeOf(path: string): number | undefined {
  return lstatSync(path, {throwIfNoEntry: false})?.ino;
}

/** A mount goes when somebody outside replaces what it lies on, as git does with its configuration. */
function sayReplaced({path, inode}: {readonly path: string; readonly inode: number | undefined}): string[] {
  if (inodeOf(path) === inode) return [];
  return [`(${path} was replaced from outside while this command ran, which could write it from then on: look at it)`];
}

/** A workspace that a command made into a repository would run its hooks: the file that makes it one is put aside. */
function undoRepository(root: string): string[] {
  if (!isRepository(root)) return [];
  const aside = join(root, 'HEAD.put-aside');
  renameSync(join(root, 'HEAD'), aside);
  return [`(${root} had become a bare git repository: HEAD is now ${aside})`];
}

/** Relative entries of the search path are left out: a project must not bring its own sandbox. */
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
