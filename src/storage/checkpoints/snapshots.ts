/**
 * Takes the snapshots of a session: trees of the workspace in `<session>/checkpoints/git`, and the permissions of
 * files, which trees do not store.
 */
import path from 'node:path';
import {getErrorMessage} from '../../core/util/errors.ts';
import {type FileState, toFileState} from '../trees/file-state.ts';
import type {KnownSettings} from '../trees/git.ts';
import {findRepository} from '../trees/repository.ts';
import {Trees} from '../trees/trees.ts';

/** Milliseconds for one call of git. A workspace that takes longer is too large. */
const CALL_LIMIT_MS = 15_000;
const LIMITS = {fileBytes: 10 * 1024 * 1024, files: 20_000, bytes: 256 * 1024 * 1024};

export interface TreeChange {
  /** Absolute path. */
  readonly path: string;
  readonly before: FileState;
  readonly after: FileState;
}

export interface Snapshot {
  readonly tree: string;
  /** Relative paths of files that are too large or cannot be read, and of nested repositories. */
  readonly leftOut: readonly string[];
}

interface SnapshotsOptions {
  /** Git directory, created when it does not exist. */
  readonly folder: string;
  /** Folder of the workspace, with links resolved. */
  readonly root: string;
  /** mini-cc's own folder, which is left out inside the workspace. */
  readonly home: string;
  readonly signal?: AbortSignal;
}

export class Snapshots {
  /**
   * By tree, for the last two snapshots: unusual permission bits, which git does not store, by the name of the file.
   */
  readonly #modes = new Map<string, ReadonlyMap<string, number>>();
  #last: string | undefined;

  private constructor(
    readonly trees: Trees,
    private readonly top: string,
  ) {}

  /** @throws MiniCcError with the reason when no snapshots can be taken */
  static async open({folder, root, home, signal}: SnapshotsOptions): Promise<Snapshots> {
    const known: KnownSettings = {};
    const repository = await findRepository(root, {known});
    // The ledger has ids of 40 digits.
    const from = repository?.objectFormat === 'sha1' ? repository : undefined;
    // Use the top of the project, so that all its ignore files apply.
    const top = from?.top ?? root;
    const own = path.relative(top, home);
    const isOwnInside = own !== '' && !own.startsWith('..');
    const excludes = ['node_modules/', isOwnInside ? `/${own.replaceAll(/[\\*?[\]!# ]/g, '\\$&')}/` : ''];
    const place = {top, root, limits: LIMITS, limitMs: CALL_LIMIT_MS, isCapturedOften: true};
    return new Snapshots(await Trees.create(folder, place, {from, excludes, known}, signal), top);
  }

  /** @throws MiniCcError with the reason when it fails */
  async take(signal?: AbortSignal): Promise<Snapshot> {
    const {tree, leftOut, touched} = await this.trees.capture({signal});
    if (tree !== this.#last || touched.size > 0) this.#noteModes(tree, touched);
    return {tree, leftOut: leftOut.map(({name}) => name)};
  }

  /** Stores the permission bits of the last snapshot and the new one. */
  #noteModes(tree: string, touched: ReadonlyMap<string, number | undefined>): void {
    const former = this.#modes.get(this.#last ?? '') ?? new Map<string, number>();
    const modes = new Map(former);
    for (const [name, mode] of touched) {
      if (mode === undefined) modes.delete(name);
      else modes.set(name, mode);
    }
    this.#modes.clear();
    if (this.#last !== undefined) this.#modes.set(this.#last, former);
    this.#modes.set(tree, modes);
    this.#last = tree;
  }

  async changes(from: string, to: string): Promise<readonly TreeChange[]> {
    const diff = await this.trees.diff(from, to);
    return diff.map(({path: name, oldMode, newMode, oldId, newId}) => ({
      path: path.join(this.top, name),
      before: toFileState(oldMode, oldId, this.#modes.get(from)?.get(name)),
      after: toFileState(newMode, newId, this.#modes.get(to)?.get(name)),
    }));
  }
}

/** Says in a few words why a snapshot failed. */
export function describeFailure(error: unknown): string {
  const message = getErrorMessage(error);
  if (/\bENOENT\b/.test(message) && /\bspawn git\b/.test(message)) return 'git is not installed';
  const [, seconds] = /\bits (\d+) s$/.exec(message) ?? [];
  return seconds === undefined
    ? message.split('\n')[0]!
    : `the workspace is too large: git takes longer than ${seconds} s`;
}
