/**
 * What a workspace is like, in one word: the same word twice means that nothing changed between. With git, its HEAD
 * and what its status lists, with sizes and times; without, all files, with sizes and times. Asked when a run begins,
 * beside it, so that it does not wait; those who ask at the same moment share one answer.
 */
import {createHash, randomUUID} from 'node:crypto';
import {lstat, readdir} from 'node:fs/promises';
import path from 'node:path';
import {orAbsent} from '../core/util/file-errors.ts';
import {git} from './git.ts';

/** A tree without git that is larger than this is not looked through: its tasks simply run again. */
const MOST_FILES = 20_000;
const GIT_LIMIT_MS = 10_000;
/** Heads of the branch beside its commit: what it is called changes no file. */
const BRANCH_NAMES = /^# branch\.(?!oid )/;
/** `1 XY sub mH mI mW hH hI path`, `u XY sub m1 m2 m3 mW h1 h2 h3 path`, `? path`. */
const CHANGED_FILE = /^(?:1 (?:\S+ ){7}|u (?:\S+ ){9}|\? )(.+)$/s;
const SKIPPED = new Set(['node_modules', '.git']);

export class WorkspaceFingerprint {
  #underWay: Promise<string> | undefined;

  constructor(private readonly root: string) {}

  /** Never rejects: where the workspace cannot be looked at, no two answers are equal. */
  take(): Promise<string> {
    this.#underWay ??= this.#look().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #look(): Promise<string> {
    try {
      const facts = (await this.#byGit()) ?? (await this.#byListing());
      return facts === undefined ? randomUUID() : createHash('sha256').update(facts).digest('hex');
    } catch {
      // A folder that may not be read, or one that went away meanwhile: unknown is never the same.
      return randomUUID();
    }
  }

  /** Undefined outside of git. */
  async #byGit(): Promise<string | undefined> {
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
    if (lines.length > MOST_FILES) return randomUUID();
    const facts = lines.map(async (line) => {
      const name = CHANGED_FILE.exec(line)?.[1];
      return name === undefined ? line : `${line} ${await this.#factsOf(path.join(root, name))}`;
    });
    return JSON.stringify(await Promise.all(facts));
  }

  /** A repository within, a submodule or not, is looked at by itself: status names only its folder. */
  async #factsOf(file: string): Promise<string> {
    const isRepository = await lstat(path.join(file, '.git')).then(Boolean, () => false);
    return isRepository ? new WorkspaceFingerprint(path.normalize(file)).take() : factsOf(file);
  }

  async #byListing(): Promise<string | undefined> {
    const facts: string[] = [];
    const folders = [this.root];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const entry of await readdir(folder, {withFileTypes: true})) {
        if (SKIPPED.has(entry.name)) continue;
        const file = path.join(folder, entry.name);
        if (entry.isDirectory()) folders.push(file);
        else facts.push(`${file} ${await factsOf(file)}`);
      }
      if (facts.length > MOST_FILES) return undefined;
    }
    return facts.sort().join('\n');
  }

  /** Undefined when git is missing or fails, as it does outside of a repository. */
  async #git(args: readonly string[]): Promise<string | undefined> {
    const answer = await git(this.root, args, {limitMs: GIT_LIMIT_MS}).catch(() => undefined);
    return answer?.exitCode === 0 ? answer.stdout.toString() : undefined;
  }
}

async function factsOf(file: string): Promise<string> {
  const stat = await lstat(file, {bigint: true}).catch(orAbsent);
  return stat ? `${stat.size} ${stat.mtimeNs} ${stat.ino}` : 'gone';
}
