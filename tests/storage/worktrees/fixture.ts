/** An ordinary repository, and worktrees of it. */
import {execFileSync} from 'node:child_process';
import {cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {onTestFinished} from 'vitest';
import type {BroughtBack} from '../../../src/core/contract/worktree.ts';
import {GitWorktrees, type WorktreeDeps} from '../../../src/storage/worktrees/git-worktrees.ts';

export const NEVER = new AbortController().signal;

export function folder(name: string): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), `mini-cc-${name}-`)));
  onTestFinished(() => rmSync(made, {recursive: true, force: true}));
  return made;
}

export function put(root: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), {recursive: true});
    writeFileSync(path.join(root, name), content);
  }
}

export function git(cwd: string, ...args: string[]): string {
  const env = {...process.env, GIT_OPTIONAL_LOCKS: '0', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1'};
  return execFileSync('git', args, {cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
}

let empty: string | undefined;

/** Made once per process: a copy takes less than the starts of git. */
function emptyRepository(): string {
  if (empty !== undefined) return empty;
  empty = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-empty-repository-')));
  git(empty, 'init', '--quiet', '--initial-branch=trunk');
  git(empty, 'config', 'user.name', 'Ann');
  git(empty, 'config', 'user.email', 'ann@example.com');
  return empty;
}

/** One commit with `a.ts` and `src/b.ts`; `ignored/` is ignored. */
export function repository(more: Readonly<Record<string, string | Buffer>> = {}): string {
  const root = folder('repository');
  cpSync(emptyRepository(), root, {recursive: true});
  put(root, {'a.ts': 'one\ntwo\nthree\n', 'src/b.ts': 'b\n', '.gitignore': 'ignored/\n', ...more});
  git(root, 'add', '.');
  git(root, 'commit', '--quiet', '--message=first');
  return root;
}

export function worktrees(root: string, change: Partial<WorktreeDeps> = {}) {
  const session = folder('session');
  const deps: WorktreeDeps = {
    root,
    sessionFolder: () => session,
    hidden: () => [],
    isProtected: (file) => file.startsWith('.claude/'),
    writing: (_owner, _files, work) => work(),
    warn: (text) => {
      throw new Error(text);
    },
    ...change,
  };
  const made = new GitWorktrees(deps);
  const open = (agentId = 'run-1', signal = NEVER) => made.open({agentId, label: `[code] ${agentId}`}, signal);
  /** Acts like a run: opens a worktree, works, and brings the changes back. */
  const run = async (
    work: (top: string) => void | Promise<void>,
    agentId = 'run-1',
    written: readonly string[] = [],
  ): Promise<BroughtBack> => {
    const tree = await open(agentId);
    await work(tree.top);
    const brought = await tree.bringBack(written.map((name) => path.join(tree.top, name)));
    tree.discard();
    await made.settled();
    return brought;
  };
  return {session, open, run, settled: () => made.settled(), left: () => readdirSync(session)};
}

export function read(root: string, name: string): string {
  return readFileSync(path.join(root, name), 'utf8');
}

/** All files of a checkout's `.git` as bytes, by name. */
export function gitFiles(root: string): Record<string, string> {
  const base = path.join(root, '.git');
  const files = readdirSync(base, {recursive: true, withFileTypes: true}).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return [path.relative(base, file), readFileSync(file, 'latin1')];
    }),
  );
}
