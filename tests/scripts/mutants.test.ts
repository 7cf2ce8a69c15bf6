import {existsSync, readFileSync} from 'node:fs';
import {readdir, symlink} from 'node:fs/promises';
import path from 'node:path';
import {execa} from 'execa';
import {expect, onTestFinished, test} from 'vitest';
import {findChanges} from '../../scripts/mutants/operators.mjs';
import {createUserEnvironment} from '../support/environment.ts';
import {root} from '../support/run-cli.ts';
import {until} from '../support/wait.ts';
import {emptyFolder} from '../support/workspace.ts';

/** The code once for each change of it. */
function mutate(code: string): string[] {
  return findChanges('a.ts', code).map(({start, end, text}) => code.slice(0, start) + text + code.slice(end));
}

test.each([
  ['a comparison', 'f = a < b;', [';', 'f = a <= b;', 'f = a >= b;']],
  [
    'an equality',
    'if (a === 1) {}',
    ['if (true) {}', 'if (false) {}', 'if (a !== 1) {}', 'if (a === 2) {}', 'if (a === 0) {}'],
  ],
  ['logic', 'const f = !a && b;', ['const f = a && b;', 'const f = !a || b;']],
  ['a default', 'const f = a ?? b;', ['const f = a;', 'const f = b;']],
  [
    'numbers, by one or, where they are measures, by half',
    'const f = [0, 60];',
    ['const f = [1, 60];', 'const f = [0, 120];', 'const f = [0, 30];'],
  ],
  ['calls whose value is not used', 'await a?.b(); c();', ['; c();', 'await a?.b(); ;']],
  ['clean-up', 'try { a; } finally { b(); }', ['try { a; } finally {}', 'try { a; } finally { ; }']],
  ['lists', 'const f = a.filter(b).some(c);', ['const f = a.some(c);', 'const f = a.filter(b).every(c);']],
  ['a flag', 'const f = {a: true};', ['const f = {a: false};']],
  [
    'names, not messages, that are returned',
    "const f = () => 'a'; const g = () => 'a b';",
    ["const f = () => ''; const g = () => 'a b';"],
  ],
  [
    'what may be undefined',
    'function f(): A | undefined { return a; }',
    ['function f(): A | undefined { return undefined; }'],
  ],
  ['no types, keys and imports', "import a from 'a'; interface B { c: 1 } const d = {1: e as 2};", []],
])('mutants change %s', (_, code, mutants) => {
  expect(mutate(code)).toEqual(mutants);
});

const PROJECT = {
  'package.json': '{"type": "module"}',
  'vitest.config.ts': "export default {test: {include: ['tests/**/*.test.ts']}};",
  'src/core/price.ts': `export const FREE = 3;
export function price(count: number): number {
  if (count < FREE) return 0;
  if (count > 6) return 50;
  return count * 10;
}
export function countDown(from: number): number {
  while (from > 0) from -= 1;
  return from;
}
export function unused(a: boolean): boolean {
  return !a;
}
`,
  'src/core/program.ts':
    "import {price} from './price.ts';\nprocess.stdout.write(String(price(Number(process.argv[2]))));\n",
  'scripts/bundle.mjs': `import {rolldown} from 'rolldown';
export async function bundle(root, ...plugins) {
  const bundling = await rolldown({cwd: root, input: 'src/core/program.ts', platform: 'node', plugins});
  await bundling.write({dir: root + '/dist'});
}
`,
  'tests/core/price.test.ts': `import {expect, test} from 'vitest';
import {countDown, price} from '../../src/core/price.ts';
test('the first are free', () => expect([price(2), price(4)]).toEqual([0, 40]));
test('many have one price', () => expect(price(8)).toBe(50));
test('the count ends', () => expect(countDown(2)).toBe(0));
`,
  'tests/e2e/program.test.ts': `import {execFileSync} from 'node:child_process';
import {expect, test} from 'vitest';
test('prints the price of three', () => {
  expect(execFileSync(process.execPath, ['dist/program.js', '3'], {encoding: 'utf8', env: {}})).toBe('30');
});
`,
};

async function createProject() {
  const folder = await emptyFolder();
  onTestFinished(folder.remove);
  await symlink(path.join(root, 'node_modules'), path.join(folder.path, 'node_modules'));
  for (const [name, text] of Object.entries(PROJECT)) await folder.write(name, text);
  const program = path.join(root, 'scripts/mutants.mjs');
  const args = [program, '--root', folder.path, '--cache', path.join(folder.path, 'cache'), '--folder', 'core'];
  const run = async (...more: string[]) => {
    const {all: output, exitCode} = await execa(process.execPath, [...args, ...more], {
      ...{env: createUserEnvironment(), extendEnv: false, reject: false, all: true},
    });
    return {exitCode, lines: output.split('\n')};
  };
  return {folder, args, run};
}

test('a seed draws the same mutants each time, and another one others', async () => {
  const {run} = await createProject();
  const draw = async (seed: string) => (await run('--list', '--sample', '4', '--seed', seed)).lines;
  const first = await draw('1');
  expect(first).toHaveLength(5);
  expect(first[0]).toBe('4 of 30 mutants, seed 1');
  expect(await draw('1')).toEqual(first);
  expect((await draw('2')).slice(1)).not.toEqual(first.slice(1));
});

test('the tests near a mutant kill it, else the end-to-end tests do with a bundle of it, or it survives', {
  timeout: 180_000,
}, async () => {
  const {folder, run: runMutants} = await createProject();
  const places = ['3:13:opposite', '4:13:boundary', '12:10:not', '1:21:more'];
  const run = async () => {
    const {exitCode, lines} = await runMutants(...places.flatMap((place) => ['--only', `src/core/price.ts:${place}`]));
    // The survivors are named twice: at once, and before the figures.
    const states = [...new Set(lines.filter((line) => line.includes(' → ')))].sort();
    return {exitCode, states, figures: lines.at(-1), runs: lines.filter((line) => / reach: |lives: /.test(line))};
  };
  const first = await run();
  const unit = '(by tests/core/price.test.ts: the first are free)';
  const endToEnd = '(by tests/e2e/program.test.ts: prints the price of three)';
  expect(first).toEqual({
    exitCode: 1,
    states: [
      `killed  src/core/price.ts:1  export const FREE = 3; → export const FREE = 4;  ${endToEnd}`,
      `killed  src/core/price.ts:3  if (count < FREE) return 0; → if (count >= FREE) return 0;  ${unit}`,
      'not reached  src/core/price.ts:12  return !a; → return a;',
      'survived  src/core/price.ts:4  if (count > 6) return 50; → if (count >= 6) return 50;',
    ],
    figures: 'core            4       2         2       50    10',
    runs: ['finding what test files reach: 1', 'running 1 end-to-end test files against what lives: 3'],
  });
  // They are known now: a run that was interrupted goes on where it was.
  expect(await run()).toEqual({...first, runs: []});
  expect(await readdir(folder.path)).not.toContain('.mutants');
  expect(await folder.read('src/core/price.ts')).toBe(PROJECT['src/core/price.ts']);
});

test('a test file that a mutant lets run for ever has killed it', async () => {
  const {run} = await createProject();
  const {lines} = await run('--unit', '--hang', '1', '--only', 'src/core/price.ts:8:25:assignment');
  const change = 'while (from > 0) from -= 1; → while (from > 0) from += 1;';
  expect(lines).toContain(`killed  src/core/price.ts:8  ${change}  (by tests/core/price.test.ts: it hung)`);
});

test('an interrupted run ends what it started, and removes the copies', async () => {
  const {folder, args} = await createProject();
  const begun = path.join(folder.path, 'begun');
  await folder.write(
    'tests/core/endless.test.ts',
    `import {writeFileSync} from 'node:fs';
import {test} from 'vitest';
import '../../src/core/price.ts';
test('never ends', () => {
  writeFileSync(${JSON.stringify(begun)}, String(process.pid));
  for (;;);
});
`,
  );
  const running = execa(process.execPath, [...args, '--sample', '1'], {
    ...{env: createUserEnvironment(), extendEnv: false, reject: false},
  });
  await until(() => existsSync(begun) && readFileSync(begun, 'utf8') !== '', 'the endless test');
  running.kill('SIGINT');
  expect((await running).exitCode).toBe(130);
  const pid = await folder.read('begun');
  await until(() => !existsSync(`/proc/${pid}`), 'the end of its process');
  expect(await readdir(folder.path)).not.toContain('.mutants');
});
