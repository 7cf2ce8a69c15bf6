/** macOS: `sandbox-exec`, a part of the system. Written from published profiles, not tested on macOS yet. */
import {existsSync, mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {MiniCcError} from '../core/util/errors.ts';
import {isInside} from '../core/util/paths.ts';
import {runProgram} from '../core/util/processes.ts';
import {existingPaths, type HiddenPlaces, hiddenPaths} from './hidden-paths.ts';
import {existingRoots} from './mounts.ts';
import {protectedPlaces} from './protected-places.ts';
import {RepositoryFinder} from './repositories/find-repositories.ts';
import {watchRepositories} from './repositories/repository-watch.ts';
import type {ConfinedCommand, ConfineOptions, Sandbox, SandboxProfile, SandboxStatus} from './sandbox.ts';
import {createSeatbeltProfile, SHARED_FOLDERS} from './seatbelt-profile.ts';

const PROBE_LIMIT_MS = 5000;
const TEMPORARY = 'mini-cc-';

export class Seatbelt implements Sandbox {
  readonly #repositories = new RepositoryFinder();
  #status: Promise<SandboxStatus> | undefined;
  #works = false;

  constructor(
    private readonly places: HiddenPlaces,
    private readonly program = '/usr/bin/sandbox-exec',
  ) {}

  status(): Promise<SandboxStatus> {
    this.#status ??= this.#probe();
    return this.#status;
  }

  confine(profile: SandboxProfile, argv: readonly string[], options: ConfineOptions): ConfinedCommand {
    if (!this.#works) {
      throw new MiniCcError('SANDBOX_UNAVAILABLE', `No ${profile} command can run: the sandbox was not found to work.`);
    }
    const roots = existingRoots(options);
    const hidden = hiddenPaths(this.places);
    const masked = existingPaths(options.masked ?? []);
    const before = profile === 'workspace-write' ? this.#repositories.find(roots) : undefined;
    const writable = before && protectedPlaces(roots, realpathSync(this.places.home), before.found.values());
    const watch = before && writable && watchRepositories(this.#repositories, before, {roots, places: writable});
    const temporary = mkdtempSync(join(realpathSync(tmpdir()), TEMPORARY));
    const text = createSeatbeltProfile({
      ...{roots, seen: options.seen ?? [], hidden: [...hidden, ...masked], temporary, writable},
    });
    return {
      file: this.program,
      args: ['-p', text, '/usr/bin/env', `TMPDIR=${temporary}`, ...argv],
      reaches: [],
      hidden: hidden.map(({path}) => path),
      release() {
        rmSync(temporary, {recursive: true, force: true});
        return watch?.finish() ?? [];
      },
    };
  }

  isVisible(place: string, options: Omit<ConfineOptions, 'cwd'>): boolean {
    const shown = [...existingRoots(options), ...(options.seen ?? [])];
    const innermost = [...SHARED_FOLDERS, ...hiddenPaths(this.places).map(({path}) => path), ...shown]
      .filter((each) => isInside(place, [each]))
      .sort((a, b) => b.length - a.length)[0];
    return innermost === undefined || shown.includes(innermost);
  }

  outlives(directory: string): boolean {
    return !isInside(directory, [realpathSync(tmpdir())]) || existsSync(directory);
  }

  async #probe(): Promise<SandboxStatus> {
    const text = createSeatbeltProfile({
      ...{roots: [], seen: [], hidden: [], temporary: realpathSync(tmpdir()), writable: undefined},
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
