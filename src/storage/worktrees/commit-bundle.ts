/** Stores a run's commits and stashes as a git bundle, because only its file changes come back from the worktree. */
import {lstat, readdir, readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {getErrorMessage, ignoreMissing} from '../../core/util/errors.ts';
import {quoteForShell} from '../../core/util/text.ts';
import {git, gitOrThrow} from '../trees/git.ts';
import {keepFile} from './worktree-folder.ts';

const NAME = 'commits.bundle';

interface CommitsDeps {
  /** Top folder of the worktree. The run could change its `.git`. */
  readonly tree: string;
  /** mini-cc's own git directory. The run's `.git` is used only to list commits and to read objects. */
  readonly gitDir: string;
  /** Top folder of the main checkout. Commits that it has are not stored. */
  readonly main: string;
  readonly keepIn: string;
  /**
   * Refs at the start of the run, see `readRefs`. When they have not changed, the run made no commit that is on a
   * branch.
   */
  readonly refs?: string;
}

/** Returns the content of a checkout's refs: the files of its `.git` that name commits. */
export async function readRefs(top: string): Promise<string> {
  const gitDir = path.join(top, '.git');
  const refs = (await readdir(path.join(gitDir, 'refs'), {recursive: true}).catch(ignoreMissing)) ?? [];
  const names = ['HEAD', 'packed-refs', ...refs.map((name) => path.join('refs', name)).toSorted()];
  const read = async (name: string) => {
    const file = path.join(gitDir, name);
    const stat = await lstat(file).catch(ignoreMissing);
    return [name, stat?.isFile() ? await readFile(file, 'latin1') : String(stat?.isSymbolicLink())];
  };
  return JSON.stringify(await Promise.all(names.map(read)));
}

/** @returns lines that say where the commits are. Never rejects, since the run may have deleted `.git` */
export function keepCommits(deps: CommitsDeps): Promise<readonly string[]> {
  return orProblem(() => bundle(deps));
}

/** Stores a bundle that another machine made. @returns lines that say where it is. Never rejects. */
export function keepBundle(commits: Buffer, keepIn: string, main: string): Promise<readonly string[]> {
  return orProblem(async () => {
    const file = await keepFile(keepIn, NAME, (draft) => writeFile(draft, commits));
    const list = `git -C ${quoteForShell(main)} bundle list-heads ${quoteForShell(file)}`;
    return `Its commits are kept too: ${list}; git fetch takes one from there`;
  });
}

async function orProblem(keep: () => Promise<string | undefined>): Promise<readonly string[]> {
  try {
    const kept = await keep();
    return kept === undefined ? [] : [kept];
  } catch (error) {
    return [`Its commits could not be kept beside its changes: ${getErrorMessage(error)}`];
  }
}

async function bundle({tree, gitDir, main, keepIn, refs: before}: CommitsDeps): Promise<string | undefined> {
  if (before !== undefined && (await readRefs(tree)) === before) return undefined;
  // Set GIT_DIR, so that git uses no outer repository when this one was deleted.
  const [own, known] = await Promise.all([listTips(tree, {GIT_DIR: path.join(tree, '.git')}), listTips(main, {})]);
  const ids = new Set(known.map(({id}) => id));
  const fresh = own.filter(({id}) => !ids.has(id));
  if (fresh.length === 0) return undefined;
  const env = {GIT_DIR: gitDir, GIT_ALTERNATE_OBJECT_DIRECTORIES: path.join(tree, '.git', 'objects')};
  const refs = fresh.map(({id, name}) => `${id} ${name}\n`);
  await writeFile(path.join(gitDir, 'packed-refs'), `# pack-refs with: \n${refs.join('')}`);
  const input = [...fresh.map(({name}) => name), ...[...ids].map((id) => `^${id}`), ''].join('\n');
  const {stdout} = await gitOrThrow(gitDir, ['rev-list', '--count', '--stdin'], {env, input});
  const count = Number(stdout);
  if (count === 0) return undefined;
  const file = await keepFile(keepIn, NAME, async (draft) => {
    await gitOrThrow(gitDir, ['bundle', 'create', '--quiet', draft, '--stdin'], {env, input});
  });
  const names = fresh.map(({name}) => name.replace('refs/heads/', '')).join(', ');
  const fetch = `git -C ${quoteForShell(main)} fetch ${quoteForShell(file)} ${quoteForShell(fresh[0]!.name)}`;
  return `Its ${count === 1 ? 'commit is' : `${count} commits are`} kept too, of ${names}: ${fetch}`;
}

interface Tip {
  readonly id: string;
  readonly name: string;
}

/** Lists branches, tags and stashes, and the checked-out commit when it is on no branch. */
async function listTips(folder: string, env: Readonly<Record<string, string>>): Promise<readonly Tip[]> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads', 'refs/tags', 'refs/stash'];
  const [refs, head] = await Promise.all([
    gitOrThrow(folder, args, {env}),
    git(folder, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], {env}),
  ]);
  const lines = refs.stdout.toString().split('\n').filter(Boolean);
  const tips = lines.map((line) => ({id: line.replace(/ .*/, ''), name: line.replace(/^\S+ /, '')}));
  const id = head.stdout.toString().trim();
  return id === '' || tips.some((tip) => tip.id === id) ? tips : [...tips, {id, name: 'refs/heads/on-no-branch'}];
}
