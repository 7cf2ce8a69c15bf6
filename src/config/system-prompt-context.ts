/** What the system prompt says about the place where a session works. Read once, so that the prompt stays the same. */
import {existsSync, readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import type {Trusts} from '../core/contract/permission.ts';
import type {SystemPromptContext} from '../core/turn/system-prompt.ts';
import {memoryFiles} from './memory-files.ts';

interface SystemPromptContextOptions {
  readonly cwd: string;
  readonly home: string;
  /** What the user trusts of the project's files. */
  readonly trusts: Trusts;
}

export function readSystemPromptContext(
  {cwd, home, trusts}: SystemPromptContextOptions,
  appended: string | undefined,
): SystemPromptContext {
  const branch = gitBranch(cwd);
  return {
    cwd,
    platform: process.platform,
    date: new Date().toISOString().slice(0, 10),
    memory: memoryFiles(cwd, home, trusts),
    ...(branch === undefined ? {} : {gitBranch: branch}),
    ...(appended ? {appended} : {}),
  };
}

/** Current branch, or a short commit when detached; undefined outside git. Read from files, without starting git. */
function gitBranch(cwd: string): string | undefined {
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    const dotGit = path.join(folder, '.git');
    if (existsSync(dotGit)) return branchIn(gitFolder(dotGit));
    if (path.dirname(folder) === folder) return undefined;
  }
}

/** In a worktree `.git` is a file that names the folder. */
function gitFolder(dotGit: string): string {
  if (statSync(dotGit).isDirectory()) return dotGit;
  const [, target = ''] = /^gitdir: (.+)$/m.exec(readFileSync(dotGit, 'utf8')) ?? [];
  return path.resolve(path.dirname(dotGit), target.trim());
}

function branchIn(folder: string): string | undefined {
  const head = path.join(folder, 'HEAD');
  if (!statSync(head, {throwIfNoEntry: false})?.isFile()) return undefined;
  // One line alone: further text of a project's file must not enter the prompt.
  const [text = ''] = readFileSync(head, 'utf8').trim().split('\n', 1);
  return text.startsWith('ref: ') ? text.replace(/^ref: refs\/heads\//, '') : text.slice(0, 8);
}
