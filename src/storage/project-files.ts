/** Lists the files of a project: those that git tracks, and those that it does not ignore. */
import {git, splitNames} from './trees/git.ts';

const LIMIT_MS = 20_000;

interface ListedFiles {
  readonly tracked: readonly string[];
  readonly all: readonly string[];
}

/** @param root folder to list; paths are relative to it @param listAll lists the files where there is no git */
export async function listProjectFiles(root: string, listAll: () => Promise<readonly string[]>): Promise<ListedFiles> {
  const tracked = await listByGit(root, ['--cached']);
  if (!tracked) {
    const all = (await listAll()).toSorted();
    return {tracked: all, all};
  }
  const others = (await listByGit(root, ['--others', '--exclude-standard'])) ?? [];
  return {tracked, all: [...new Set([...tracked, ...others])].toSorted()};
}

/** Undefined without a repository. */
async function listByGit(root: string, args: readonly string[]): Promise<readonly string[] | undefined> {
  try {
    const {exitCode, stdout} = await git(root, ['ls-files', '-z', ...args], {limitMs: LIMIT_MS});
    return exitCode === 0
      ? splitNames(stdout)
          .map((name) => name.toString())
          .toSorted()
      : undefined;
  } catch {
    // Git is missing, or it takes too long.
    return undefined;
  }
}
