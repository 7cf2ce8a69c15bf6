/**
 * Linux: bubblewrap. The flags are one set that was probed as a whole: `--ro-bind / /` alone does not hold root,
 * which leaves it by a remount, through `/proc/<pid>/root` or by a socket in `/tmp`.
 */
import {execFile} from 'node:child_process';
import {accessSync, constants, existsSync} from 'node:fs';
import {delimiter, isAbsolute, join, sep} from 'node:path';
import {MiniCcError} from '../core/errors.ts';
import {type HiddenPlaces, hiddenPaths} from './hidden-paths.ts';
import type {ConfinedCommand, ConfineOptions, Sandbox, SandboxProfile, SandboxStatus} from './sandbox.ts';

const HOLD = [
  ...['--ro-bind', '/', '/'],
  ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'],
  ...['--cap-drop', 'ALL', '--new-session', '--die-with-parent'],
  ...['--proc', '/proc', '--dev', '/dev'],
];
/** Replaced by empty ones: they hold sockets and other people's files. */
const PRIVATE = ['/tmp', '/run'];
const PROBE_LIMIT_MS = 5000;

/** One mount over the read-only root. */
interface Mount {
  readonly path: string;
  /** At equal paths the later one in this order wins. */
  readonly kind: 'private' | 'shown' | 'hidden-directory' | 'hidden-file';
}
const ORDER: readonly Mount['kind'][] = ['private', 'shown', 'hidden-directory', 'hidden-file'];

export class Bubblewrap implements Sandbox {
  readonly #places: HiddenPlaces;
  readonly #searchPath: string;
  #probe: Promise<SandboxStatus> | undefined;
  /** Set once the probe has shown that it holds. */
  #file: string | undefined;

  constructor(places: HiddenPlaces, searchPath = process.env.PATH ?? '') {
    this.#places = places;
    this.#searchPath = searchPath;
  }

  status(): Promise<SandboxStatus> {
    this.#probe ??= this.#tryOut();
    return this.#probe;
  }

  confine(profile: SandboxProfile, argv: readonly string[], options: ConfineOptions): ConfinedCommand {
    if (this.#file === undefined) {
      throw new MiniCcError('SANDBOX_UNAVAILABLE', `No ${profile} command can run: the sandbox was not found to work.`);
    }
    const tmp = isRoot('/tmp', options) ? '/dev/shm' : '/tmp';
    return {
      file: this.#file,
      args: [...HOLD, ...this.#mounts(options), '--setenv', 'TMPDIR', tmp, '--chdir', options.cwd, '--', ...argv],
    };
  }

  outlives(directory: string, options: Omit<ConfineOptions, 'cwd'>): boolean {
    if (PRIVATE.includes(directory)) return true;
    const hidden = hiddenPaths(this.#places).map(({path}) => path);
    const innermost = [...PRIVATE, ...hidden, ...rootsOf(options)]
      .filter((place) => isInside(directory, place))
      .sort((a, b) => b.length - a.length)[0];
    return innermost === undefined || rootsOf(options).includes(innermost);
  }

  #mounts(options: ConfineOptions): string[] {
    const hidden = hiddenPaths(this.#places);
    const covered = [...PRIVATE, ...hidden.map(({path}) => path)];
    const shown = [...rootsOf(options), ...(options.seen ?? []).filter((path) => existsSync(path))].filter((root) =>
      covered.some((place) => isInside(root, place)),
    );
    const mounts: Mount[] = [
      ...PRIVATE.map((path): Mount => ({path, kind: 'private'})),
      ...shown.map((path): Mount => ({path, kind: 'shown'})),
      ...hidden.map(({path, isDirectory}): Mount => ({path, kind: isDirectory ? 'hidden-directory' : 'hidden-file'})),
    ];
    // Outer ones first, so that a workspace inside a hidden directory is seen, and keys inside a workspace are not.
    mounts.sort((a, b) => depth(a.path) - depth(b.path) || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
    const closed = mounts.filter(({path, kind}) => kind === 'hidden-directory' || path === '/run');
    return [...mounts.flatMap(mountFlags), ...closed.flatMap(({path}) => ['--remount-ro', path])];
  }

  async #tryOut(): Promise<SandboxStatus> {
    const file = findProgram('bwrap', this.#searchPath);
    if (file === undefined) {
      return {available: false, reason: 'bubblewrap is not installed', remedy: 'apt-get install bubblewrap'};
    }
    const failure = await new Promise<string | undefined>((resolve) => {
      const args = [...HOLD, '--tmpfs', '/tmp', '--tmpfs', '/run', '--', 'true'];
      execFile(file, args, {timeout: PROBE_LIMIT_MS}, (error, _stdout, stderr) => {
        resolve(error ? stderr.trim().split('\n')[0] || error.message : undefined);
      });
    });
    if (failure === undefined) {
      this.#file = file;
      return {available: true, kind: 'bubblewrap'};
    }
    return {available: false, reason: `bubblewrap does not work here (${failure})`, remedy: remedyFor(failure)};
  }
}

function mountFlags({path, kind}: Mount): string[] {
  switch (kind) {
    case 'private':
    case 'hidden-directory':
      return ['--tmpfs', path];
    case 'shown':
      return ['--ro-bind', path, path];
    case 'hidden-file':
      return ['--ro-bind', '/dev/null', path];
  }
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

function rootsOf({root, extraRoots}: Omit<ConfineOptions, 'cwd'>): string[] {
  return [root, ...extraRoots].filter((path) => existsSync(path));
}

function isRoot(path: string, options: ConfineOptions): boolean {
  return rootsOf(options).includes(path);
}

/** Also true for the directory itself. */
function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

function depth(path: string): number {
  return path.split(sep).filter(Boolean).length;
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
