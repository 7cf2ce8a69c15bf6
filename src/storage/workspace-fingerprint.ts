/**
 * Computes the state of a workspace as a hash. Two equal fingerprints mean that nothing changed between them. With git
 * the hash covers HEAD, the index, and the files that differ from it, with sizes and times; without git, all files,
 * with sizes and times. The start of a run does not wait for its fingerprint. Calls at the same time share one result.
 */
import {randomUUID} from 'node:crypto';
import {lstat, readdir} from 'node:fs/promises';
import path from 'node:path';
import {ignoreMissing} from '../core/util/errors.ts';
import {sha256} from '../core/util/hash.ts';
import {git, type KnownSettings, splitNames} from './trees/git.ts';
import {LIST_DIFFERING} from './trees/listed-files.ts';

/** A workspace with more files gets no fingerprint, so a repeated task simply runs again. */
const MAX_FILES = 20_000;
const GIT_LIMIT_MS = 10_000;
const SUBMODULE_MODE = '160000 ';
const SUBMODULE = /^160000 [^\t]*\t(.+)$/s;
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
      return facts === undefined ? randomUUID() : sha256(facts);
    } catch {
      // A folder cannot be read or was deleted meanwhile. An unknown state never equals another.
      return randomUUID();
    }
  }

  /** Undefined without a git repository, or without git. */
  async #listByGit(): Promise<string | undefined> {
    const known: KnownSettings = {};
    const ask = async (cwd: string, ...args: string[]) => {
      const answer = await git(cwd, args, {limitMs: GIT_LIMIT_MS, known}).catch(() => undefined);
      return answer?.exitCode === 0 ? answer.stdout : undefined;
    };
    const top = (await ask(this.root, 'rev-parse', '--show-toplevel'))?.toString().replace(/\n$/, '');
    if (top === undefined) return undefined;
    const [head, index, differing] = await Promise.all([
      ask(top, 'rev-parse', '--verify', '--quiet', 'HEAD'),
      ask(top, 'ls-files', '-z', '--stage'),
      ask(top, ...LIST_DIFFERING),
    ]);
    if (!index || !differing) return undefined;
    // Split the index only when it contains submodules. Most projects have none, and many files.
    const lines = index.includes(SUBMODULE_MODE) ? splitNames(index) : [];
    const submodules = lines.flatMap((line) => SUBMODULE.exec(line.toString())?.[1] ?? []);
    const names = new Set([...splitNames(differing).map(String), ...submodules]);
    if (names.size > MAX_FILES) return randomUUID();
    const facts = [...names].map(async (name) => `${name} ${await this.#describe(path.join(top, name))}`);
    return JSON.stringify([`${head}`, sha256(index), await Promise.all(facts)]);
  }

  /** A nested repository or submodule gets its own fingerprint, since git lists only its folder. */
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
}

async function describeFile(file: string): Promise<string> {
  const stat = await lstat(file, {bigint: true}).catch(ignoreMissing);
  return stat ? `${stat.size} ${stat.mtimeNs} ${stat.ino}` : 'missing';
}
