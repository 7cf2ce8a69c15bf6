import {symlink} from 'node:fs/promises';
import path from 'node:path';
import {execa} from 'execa';
import {expect, onTestFinished, test} from 'vitest';
import {runTests} from '../../scripts/run-tests.mjs';
import {createUserEnvironment} from '../support/environment.ts';
import {root} from '../support/run-cli.ts';
import {emptyFolder} from '../support/workspace.ts';

/** Runs these test files in a new folder; in them `isFirst(name)` is true at the first call with the name. */
async function runFiles(files: Readonly<Record<string, string>>, {args = [] as string[], onCi = true} = {}) {
  const folder = await emptyFolder();
  onTestFinished(folder.remove);
  await symlink(path.join(root, 'node_modules'), path.join(folder.path, 'node_modules'));
  await folder.write(
    'first.js',
    "import {appendFileSync, existsSync} from 'node:fs';\nexport const isFirst = (name) => !existsSync(name) && (appendFileSync(name, ''), true);\n",
  );
  const imports = "import {beforeAll, describe, expect, test} from 'vitest';\nimport {isFirst} from './first.js';\n";
  for (const [name, text] of Object.entries(files)) await folder.write(`${name}.test.js`, imports + text);
  const starts: string[][] = [];
  let printed = '';
  const vitest = async (...given: string[]) => {
    starts.push(given.filter((arg) => !/^--(?:reporter|outputFile)/.test(arg)));
    const program = path.join(root, 'node_modules/vitest/vitest.mjs');
    // As in vitest.config.ts.
    const shared = given.includes('--isolate') ? [] : ['--no-isolate'];
    const {all, exitCode} = await execa(process.execPath, [program, 'run', '--maxWorkers=1', ...shared, ...given], {
      ...{cwd: folder.path, env: createUserEnvironment(), extendEnv: false, reject: false, all: true},
    });
    printed += all;
    return exitCode === 0;
  };
  const {passed, failed, lines} = await runTests(vitest, {args, onCi});
  return {passed, failed, lines: lines.sort(), starts, printed};
}

const throwFirst = (name: string) => `if (isFirst('${name}')) throw new Error('bad luck\\nmore');`;

test('the files that failed run once more, in new processes; what passes only then is flaky, and has failed', async () => {
  const {passed, failed, lines, starts, printed} = await runFiles({
    fine: "test('is fine', () => {});",
    late: `let tries = 0;\ntest('comes late', () => { ${throwFirst('late')} expect(++tries).toBe(1); });\ntest('passes', () => {});`,
    hook: `describe('in a hook', () => { beforeAll(() => { ${throwFirst('hook')} }); test('waits for it', () => {}); });`,
    loading: `${throwFirst('loading')}\ntest('is loaded', () => {});`,
    outside: `test('throws later', async () => { setTimeout(() => { ${throwFirst('outside')} }); await new Promise((go) => setTimeout(go, 50)); });`,
    breaks: "test('breaks', () => { throw new Error('one\\ntwo'); });\ntest('stands', () => {});",
    unreadable: "throw new Error('cannot be loaded');",
  });
  expect(lines).toEqual([
    'failed: breaks.test.js > breaks (one)',
    'failed: unreadable.test.js (cannot be loaded)',
    'flaky: hook.test.js (first: bad luck)',
    'flaky: late.test.js > comes late (first: bad luck)',
    'flaky: loading.test.js (first: bad luck)',
    'flaky: outside.test.js (first: bad luck)',
  ]);
  expect({passed, failed}).toEqual({passed: 6, failed: 6});
  const again = ['breaks', 'hook', 'late', 'loading', 'outside', 'unreadable'].map((name) => `${name}.test.js`);
  expect([starts.length, starts[1]?.[0], starts[1]?.slice(1).sort()]).toEqual([2, '--isolate', again]);
  expect(printed).toContain('bad luck');
});

test('the two runs of a file are paired by the names of tests, also when their order or number differs', async () => {
  const {passed, failed, lines} = await runFiles({
    order: `const isOne = isFirst('order');
const tests = [['breaks', () => { if (isOne) throw new Error('bad luck'); }], ['stands', () => {}], ['stands', () => {}]];
for (const [name, run] of isOne ? tests : [...tests.slice(1), ['is new', () => {}], tests[0]]) test(name, run);`,
    worse: `test('breaks', () => { ${throwFirst('worse')} });\ntest('breaks later', () => { if (!isFirst('later')) throw new Error('late'); });`,
  });
  expect(lines).toEqual([
    'flaky: order.test.js > breaks (first: bad luck)',
    'flaky: worse.test.js > breaks (first: bad luck)',
    'flaky: worse.test.js > breaks later (second: late)',
  ]);
  expect({passed, failed}).toEqual({passed: 3, failed: 3});
});

test('the files that a process had not run when it ended run again, however many they are', async () => {
  // Whichever runs first ends the process: vitest promises no order.
  const crash = "test('is run', () => { if (isFirst('crash')) process.kill(process.pid, 'SIGKILL'); });";
  const files = Object.fromEntries(Array.from({length: 12}, (_, at) => [`file${at}`, crash]));
  const {passed, failed, lines} = await runFiles(files);
  expect({passed, failed}).toEqual({passed: 12, failed: 12});
  for (const line of lines) expect(line).toMatch(/^flaky: \w+\.test\.js \(first: .*SIGKILL/);
  // Two dozen processes start, one after the other.
});

test('a test that a hook left out at its second run has failed, and on CI so has one that is skipped', async () => {
  const {passed, failed, lines} = await runFiles({
    worse: `beforeAll(() => { if (!isFirst('worse')) throw new Error('worse'); });\ntest('breaks', () => { throw new Error('bad'); });\ntest('stands', () => {});`,
    skipped: "test['skip']('is not run', () => {});\ntest('runs', () => {});",
  });
  expect(lines).toEqual([
    'failed: worse.test.js > breaks (bad)',
    'flaky: worse.test.js (second: worse)',
    'skipped on CI: skipped.test.js > is not run',
  ]);
  expect({passed, failed}).toEqual({passed: 2, failed: 3});
});

test.each([
  ['files of their own', ['some'], ['skipped on CI: some.test.js > is not run']],
  ['options, which may have picked tests', ['-t', 'runs'], []],
])('on CI a skipped test fails where the run has %s: %j', async (_, args, expected) => {
  const some = "test['skip']('is not run', () => {});\ntest('runs', () => {});";
  expect((await runFiles({some}, {args})).lines).toEqual(expected);
});

test.each([
  ['with options', {breaks: "test('breaks', () => { throw new Error('one'); });"}, {args: ['--no-color']}],
  [
    'when more than ten failed',
    Object.fromEntries(
      Array.from({length: 11}, (_, at) => [`breaks${at}`, "test('breaks', () => expect(1).toBe(2));"]),
    ),
    {},
  ],
])('no file runs again %s', async (_, files, options) => {
  const {starts, failed} = await runFiles(files, options);
  expect([starts.length, failed]).toEqual([1, Object.keys(files).length]);
});
