/** A repository with more and more files: start, `@`, glob, the first command that may write, a worktree beside git's own. */
import {execFileSync} from 'node:child_process';
import {mkdirSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {callTools, type ScriptedCall, say} from '../../tests/support/scripted-replies.ts';
import {listGaps, measureRun} from '../compared/measures.ts';
import type {ModelServer} from '../compared/model-server.ts';
import {createProgram, type Program} from '../compared/programs.ts';
import {Screen} from '../compared/screen.ts';
import {median} from '../statistics.ts';
import type {Curve, Point, ScaleOptions} from './curve.ts';

const COUNTS = [100, 1000, 10_000, 100_000, 200_000];
/** Numbers of files that are looked for. */
const ROUNDS = [88, 77, 66];
/** The list of files for `@` is made again when it is older. */
const LIST_GROWS_OLD_MS = 2500;
const WHAT = {
  start: 'start to the prompt',
  at: '`@` shows a file',
  again: 'the last key of a later `@`',
  glob: 'glob',
  reading: 'a command that only reads',
  command: 'first command that writes',
  later: 'a later command',
  worktree: 'a worktree',
  back: 'its changes brought back',
  git: '`git worktree add`',
  ratio: 'a worktree to git’s own',
} as const;
type Step = keyof typeof WHAT;

export async function measureRepository(
  server: ModelServer,
  {short, onProgress}: ScaleOptions,
): Promise<readonly Curve[]> {
  const points = new Map<Step, Point[]>();
  for (const count of short ? COUNTS.slice(0, 3) : COUNTS) {
    onProgress(`a repository of ${count} files`);
    const program = createProgram('mini-cc', server.url);
    try {
      createRepository(program.cwd, count);
      // Wait until no file is as new as the index.
      await sleep(1100);
      execFileSync('git', ['status'], {
        cwd: program.cwd,
        stdio: 'ignore',
        env: {...process.env, GIT_OPTIONAL_LOCKS: '1'},
      });
      const values = {
        ...(await measureScreen(program, server)),
        ...(await measureCalls(program, server)),
        ...(await measureWorktrees(program, server)),
      };
      for (const [step, value] of Object.entries(values) as [Step, number][]) {
        points.set(step, [...(points.get(step) ?? []), {of: count, value}]);
      }
    } finally {
      program.remove();
    }
  }
  return [...points].map(([step, each]) => ({
    what: WHAT[step].replaceAll('`', ''),
    ...{per: 'files in the repository', unit: step === 'ratio' ? '×' : 'ms', points: each},
  }));
}

function createRepository(root: string, count: number): void {
  for (let index = 0; index < count; index += 1) {
    const folder = path.join(root, `part${Math.floor(index / 1000)}`, `module${Math.floor(index / 100) % 10}`);
    if (index % 100 === 0) mkdirSync(folder, {recursive: true});
    writeFileSync(path.join(folder, `file${index}.ts`), `export const value${index} = ${index};\n`.repeat(20));
  }
  const git = (...args: string[]) => execFileSync('git', args, {cwd: root, stdio: 'pipe'});
  git('init', '-q');
  git('add', '-A');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'all');
}

async function measureScreen(program: Program, server: ModelServer) {
  server.play(() => say('Done.'));
  const screen = new Screen(program.interactive);
  try {
    await screen.waitFor(program.prompt, 60_000);
    const start = performance.now() - screen.startedAt;
    const typedAt = performance.now();
    await typeSlowly(screen, '@file99');
    await screen.waitFor(/part0\/module0\/file99\.ts/, 120_000);
    const at = performance.now() - typedAt;
    const later: number[] = [];
    for (const number of ROUNDS) {
      // Wait until the list of files is old, so that it is made again during the next search.
      await sleep(LIST_GROWS_OLD_MS);
      await typeSlowly(screen, `\x15@file${number}`);
      const lastKeyAt = performance.now();
      await screen.waitFor(new RegExp(`part0/module0/file${number}\\.ts`), 120_000);
      later.push(performance.now() - lastKeyAt);
    }
    return {start, at, again: median(later)};
  } finally {
    await screen.close();
  }
}

async function typeSlowly(screen: Screen, text: string): Promise<void> {
  for (const key of text) {
    await sleep(15);
    screen.type(key);
  }
}

const call = (name: string, input: object): ScriptedCall => ({name, input, id: `toolu_${name}_${Math.random()}`});

/** Measures the milliseconds of each call, from the end of a reply to the next request. */
async function measureCalls(program: Program, server: ModelServer) {
  const [glob = 0, reading = 0, command = 0, later = 0] = await measureGaps(program, server, [
    call('glob', {pattern: '**/file9*.ts'}),
    program.runCommand('uname -a', 'toolu_0'),
    program.runCommand('touch made-1', 'toolu_1'),
    program.runCommand('touch made-2', 'toolu_2'),
  ]);
  return {glob, reading, command, later};
}

async function measureGaps(program: Program, server: ModelServer, calls: readonly ScriptedCall[]): Promise<number[]> {
  let turn = 0;
  server.play(() => {
    const next = calls[turn++];
    return next ? callTools([next]) : say('Done.');
  });
  await measureRun(program.print('go'), 600_000);
  return listGaps(server);
}

/**
 * Measures git and mini-cc one after the other in each round, because the speed of the disk changes. A run's worktree is
 * removed when it ends.
 */
async function measureWorktrees(program: Program, server: ModelServer) {
  const input = {description: 'work', prompt: 'in a worktree', agent_type: 'code', isolation: 'worktree'};
  const rounds: {readonly git: number; readonly worktree: number; readonly back: number}[] = [];
  for (const _ of ROUNDS) {
    const git = measureGit(program);
    // The first gap ends with the subagent's request, the second begins with the reply to it.
    const [worktree = 0, back = 0] = await measureGaps(program, server, [call('Task', input)]);
    rounds.push({git, worktree, back});
  }
  const middle = (step: 'git' | 'worktree' | 'back') => median(rounds.map((round) => round[step]));
  const [git, worktree] = [middle('git'), middle('worktree')];
  return {git, worktree, back: middle('back'), ratio: worktree / git};
}

function measureGit({cwd, home}: Program): number {
  const folder = path.join(home, 'worktree');
  const startedAt = performance.now();
  execFileSync('git', ['worktree', 'add', '-q', folder], {cwd, stdio: 'ignore'});
  const ms = performance.now() - startedAt;
  rmSync(folder, {recursive: true});
  execFileSync('git', ['worktree', 'prune'], {cwd});
  return ms;
}
