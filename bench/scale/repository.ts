/** A repository with more and more files: start, `@`, glob, the first command that may write, a worktree beside git's own. */
import {execFileSync} from 'node:child_process';
import {mkdirSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {callTools, type ScriptedCall, say} from '../../tests/support/scripted-replies.ts';
import {measureRun} from '../compared/measures.ts';
import type {ModelServer} from '../compared/model-server.ts';
import {createProgram, type Program} from '../compared/programs.ts';
import {Screen} from '../compared/screen.ts';
import type {Curve, Point, ScaleOptions} from './curve.ts';

const COUNTS = [100, 1000, 10_000, 100_000, 200_000];
const WHAT = {
  start: 'start to the prompt',
  at: '`@` shows a file',
  glob: 'glob',
  command: 'first command that writes',
  later: 'a later command',
  worktree: 'a worktree',
  git: '`git worktree add`',
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
      // So that no file is as new as the index.
      await sleep(1100);
      execFileSync('git', ['status'], {
        cwd: program.cwd,
        stdio: 'ignore',
        env: {...process.env, GIT_OPTIONAL_LOCKS: '1'},
      });
      const values = {
        ...(await measureScreen(program, server)),
        ...(await measureCalls(program, server)),
        git: measureGit(program),
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
    ...{per: 'files in the repository', unit: 'ms', points: each},
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

async function measureScreen(program: Program, server: ModelServer): Promise<{start: number; at: number}> {
  server.play(() => say('Done.'));
  const screen = new Screen(program.interactive);
  try {
    await screen.waitFor(program.prompt, 60_000);
    const start = performance.now() - screen.startedAt;
    const typedAt = performance.now();
    for (const key of '@file99') {
      screen.type(key);
      await sleep(15);
    }
    await screen.waitFor(/part0\/module0\/file99\.ts/, 120_000);
    return {start, at: performance.now() - typedAt};
  } finally {
    await screen.close();
  }
}

/** Each from the end of a reply to the next request. */
async function measureCalls(program: Program, server: ModelServer) {
  const call = (name: string, input: object): ScriptedCall => ({name, input, id: `toolu_${name}_${Math.random()}`});
  const calls = [
    call('glob', {pattern: '**/file9*.ts'}),
    program.runCommand('touch made-1', 'toolu_1'),
    program.runCommand('touch made-2', 'toolu_2'),
    call('Task', {description: 'work', prompt: 'in a worktree', agent_type: 'code', isolation: 'worktree'}),
  ];
  let turn = 0;
  server.play(() => {
    const next = calls[turn++];
    return next ? callTools([next]) : say('Done.');
  });
  await measureRun(program.print('go'), 600_000);
  const [glob = 0, command = 0, later = 0, worktree = 0] = server.turns
    .slice(1)
    .map(({arrivedAt}, index) => arrivedAt - server.turns[index]!.endedAt);
  return {glob, command, later, worktree};
}

function measureGit({cwd, home}: Program): number {
  const folder = path.join(home, 'worktree');
  const startedAt = performance.now();
  execFileSync('git', ['worktree', 'add', '-q', folder], {cwd, stdio: 'ignore'});
  const ms = performance.now() - startedAt;
  rmSync(folder, {recursive: true});
  return ms;
}
