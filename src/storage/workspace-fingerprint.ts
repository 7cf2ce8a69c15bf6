/**
 * The state of a workspace as a hash: two equal fingerprints mean that nothing changed between them. With git it covers
 * HEAD and the files of `git status`, with sizes and times; without git, all files, with sizes and times. It is taken
 * beside the start of a run, which does not wait for it; calls at the same time share one result.
 */
import {createHash, randomUUID} from 'node:crypto';
import {lstat, readdir} from 'node:fs/promises';
import path from 'node:path';
import {ignoreMissing} from '../core/util/errors.ts';
import {git} from './trees/git.ts';

/** A workspace with more files gets no fingerprint: a repeated task simply runs again. */
const MAX_FILES = 20_000;
const GIT_LIMIT_MS = 10_000;
/** Status lines about the branch other than its commit: the name of the branch changes no file. */
const BRANCH_NAMES = /^# branch\.(?!oid )/;
/** `1 XY sub mH mI mW hH hI path`, `u XY sub m1 m2 m3 mW h1 h2 h3 path`, `? path`. */
const CHANGED_FILE = /^(?:1 (?:\S+ ){7}|u (?:\S+ ){9}|\? )(.+)$/s;
const SKIPPED = new Set(['node_modules', '.git']);

export class WorkspaceFingerprint {
  #pending: Promise<string> | undefined;

  constructor(private readonly root: string) {}

  /** Never rejects. When the workspace cannot be read, no two fingerprints are equal. */
  take(): Promise<string> {
    this.#pending ??= this.#compute().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #compute(): Promise<string> {
    try {
      const facts = (await this.#listByGit()) ?? (await this.#listFiles());
      return facts === undefined ? randomUUID() : createHash('sha256').update(facts).digest('hex');
    } catch {
      // A folder without read permission, or one that was deleted meanwhile: an unknown state never equals another.
      return randomUUID();
    }
  }

  /** Undefined without a git repository. */
  async #listByGit(): Promise<string | undefined> {
    const args = [
      'status',
      '--porcelain=v2',
      '--branch',
      '--no-ahead-behind',
      '-z',
      '--untracked-files=all',
      '--no-renames',
    ];
    const [status, top] = await Promise.all([this.#git(args), this.#git(['rev-parse', '--show-toplevel'])]);
    if (status === undefined) return undefined;
    const root = top?.replace(/\n$/, '') ?? this.root;
    const lines = status.split('\0').filter((line) => line !== '' && !BRANCH_NAMES.test(line));
    if (lines.length > MAX_FILES) return randomUUID();
    const facts = lines.map(async (line) => {
      const name = CHANGED_FILE.exec(line)?.[1];
      return name === undefined ? line : `${line} ${await this.#describe(path.join(root, name))}`;
    });
    return JSON.stringify(await Promise.all(facts));
  }

  /** A nested repository or submodule has a fingerprint of its own, since `git status` names only its folder. */
  async #describe(file: string): Promise<string> {
    const isRepository = await lstat(path.join(file, '.git')).then(Boolean, () => false);
    return isRepository ? new WorkspaceFingerprint(path.normalize(file)).take() : describeFile(file);
  }

  async #listFiles(): Promise<string | undefined> {
    const facts: string[] = [];
    const folders = [this.root];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const entry of await readdir(folder, {withFileTypes: true})) {
        if (SKIPPED.has(entry.name)) continue;
        const file = path.join(folder, entry.name);
        if (entry.isDirectory()) folders.push(file);
        else facts.push(`${file} ${await describeFile(file)}`);
      }
      if (facts.length > MAX_FILES) return undefined;
    }
    return facts.sort().join('\n');
  }

  /** Undefined when git is missing or fails, as it does outside of a repository. */
  async #git(args: readonly string[]): Promise<string | undefined> {
    const answer = await git(this.root, args, {limitMs: GIT_LIMIT_MS}).catch(() => undefined);
    return answer?.exitCode === 0 ? answer.stdout.toString() : undefined;
  }
}

async function describeFile(file: string): Promise<string> {
  const stat = await lstat(file, {bigint: true}).catch(ignoreMissing);
  return stat ? `${stat.size} ${stat.mtimeNs} ${stat.ino}` : 'missing';
}
