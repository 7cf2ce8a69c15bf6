import {symlink} from 'node:fs/promises';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {execa} from 'execa';
import {expect, onTestFinished, test} from 'vitest';
import {formatFailures, runRounds} from '../../scripts/random-rounds.mjs';
import {listProcesses} from '../../src/sandbox/launch/process-groups.ts';
import {createUserEnvironment} from '../support/environment.ts';
import {root} from '../support/run-cli.ts';
import {until} from '../support/wait.ts';
import {emptyFolder} from '../support/workspace.ts';

/** A folder of test files, whose vitest counts its runs in the file `runs`; the runs with these numbers are interrupted. */
async function createSeries(files: Readonly<Record<string, string>>, interrupted: readonly number[] = []) {
  const folder = await emptyFolder();
  onTestFinished(folder.remove);
  await symlink(path.join(root, 'node_modules'), path.join(folder.path, 'node_modules'));
  for (const [name, text] of Object.entries(files)) {
    const imports = "import {readFileSync} from 'node:fs';\nimport {expect, test} from 'vitest';\n";
    await folder.write(`${name}.test.js`, imports + text);
  }
  const seeds: (string | undefined)[] = [];
  const vitest = async (...args: string[]) => {
    seeds.push(args.find((arg) => arg.startsWith('--sequence.seed=')));
    await folder.write('runs', String(seeds.length));
    if (interrupted.includes(seeds.length)) return {code: 130, signal: null};
    const program = path.join(root, 'node_modules/vitest/vitest.mjs');
    const {exitCode} = await execa(process.execPath, [program, 'run', '--maxWorkers=1', '--no-isolate', ...args], {
      ...{cwd: folder.path, env: createUserEnvironment(), extendEnv: false, reject: false},
    });
    return {code: exitCode ?? null, signal: null};
  };
  const printed: string[] = [];
  const start = (rounds: number, seed?: number) =>
    runRounds(vitest, {
      rounds,
      seed,
      load: 0,
      file: path.join(folder.path, 'kept.json'),
      print: (line) => printed.push(line),
    });
  return {start, seeds, printed};
}

const failsIn = (name: string, ...runs: number[]) =>
  `test('${name}', () => { expect(${JSON.stringify(runs)}).not.toContain(Number(readFileSync('runs', 'utf8'))); });\n`;

test('a start after an interrupted round repeats this round alone, and the end counts the rounds that each test failed in', async () => {
  const {start, seeds, printed} = await createSeries(
    {
      some: `${failsIn('fails twice', 1, 3)}test('passes', () => undefined);`,
      // A round is one run, but for the second, which has two.
      other: `${failsIn('fails once', 3)}if (readFileSync('runs', 'utf8') === '4') throw new Error('one\\ntwo');`,
    },
    [2],
  );
  expect(await start(3, 7)).toBeUndefined();
  const rounds = await start(3);
  expect(rounds?.map(({passed}) => passed)).toEqual([2, 1, 2]);
  expect(formatFailures(rounds ?? []).map((line) => line.replace(/: expected .*/, ''))).toEqual([
    'failed in 2 of 3: some.test.js > fails twice',
    '    round 1',
    '    round 2',
    'failed in 1 of 3: other.test.js > fails once',
    '    round 2',
    'failed in 1 of 3: other.test.js',
    '    round 3: one',
  ]);
  expect(seeds[1]).toBe(seeds[2]);
  expect(new Set(seeds).size).toBe(3);
  expect(printed.filter((line) => line.includes('--seed 7')).map((line) => line.slice(0, 7))).toEqual([
    ...['round 1', 'round 2', 'round 2', 'round 3'],
  ]);
});

test('a series that is complete, or has another seed, is begun anew', async () => {
  const {start, seeds} = await createSeries({some: "test('passes', () => undefined);"});
  await start(1, 7);
  expect(await start(1, 8)).toHaveLength(1);
  expect(await start(1, 8)).toHaveLength(1);
  expect(new Set(seeds).size).toBe(2);
  expect(seeds).toHaveLength(3);
});

test('a round whose vitest leaves no report has failed', async () => {
  const {start} = await createSeries({});
  expect(formatFailures((await start(1)) ?? [])[0]).toBe('failed in 1 of 1: vitest');
});

test('the busy processes end with a process that is killed', async () => {
  const module = pathToFileURL(path.join(root, 'scripts/random-rounds.mjs')).href;
  const options = "{rounds: 1, load: 2, file: '/dev/null/kept', print: () => undefined}";
  const script = `const {runRounds} = await import('${module}'); setInterval(() => 0, 1000); await runRounds(() => new Promise(() => 0), ${options});`;
  const parent = execa(process.execPath, ['--input-type=module', '-e', script], {reject: false});
  const childrenOf = (pid: number | undefined) =>
    listProcesses()
      .filter((each) => each.parent === pid)
      .map((each) => each.pid);
  await until(() => childrenOf(parent.pid).length === 2, 'two busy processes');
  const busy = childrenOf(parent.pid);
  const running = () => listProcesses().flatMap(({pid}) => (busy.includes(pid) ? [pid] : []));
  onTestFinished(() => {
    for (const pid of running()) process.kill(pid, 'SIGKILL');
  });
  parent.kill('SIGKILL');
  await parent;
  await until(() => running().length === 0, 'the end of the busy processes');
});
