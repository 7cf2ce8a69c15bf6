import {symlink} from 'node:fs/promises';
import path from 'node:path';
import {execa} from 'execa';
import {expect, onTestFinished, test} from 'vitest';
import {createUserEnvironment} from '../support/environment.ts';
import {root} from '../support/run-cli.ts';
import {emptyFolder} from '../support/workspace.ts';

test('the end names tests that failed, with the first line of why, those that passed only at the second try, and no other', async () => {
  const folder = await emptyFolder();
  onTestFinished(folder.remove);
  await symlink(path.join(root, 'node_modules'), path.join(folder.path, 'node_modules'));
  await folder.write(
    'some.test.js',
    "import {expect, test} from 'vitest';\nlet tries = 0;\ntest('comes late', () => expect(++tries).toBe(2));\ntest('passes', () => {});\ntest('breaks', () => { throw new Error('one\\ntwo'); });\n",
  );
  await folder.write('unreadable.test.js', "throw new Error('cannot be loaded');\n");
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
  const reporter = path.join(root, 'scripts/test-summary.mjs');
  const {stdout, exitCode} = await execa(
    process.execPath,
    [vitest, 'run', '--retry=1', '--maxWorkers=1', `--reporter=${reporter}`],
    {cwd: folder.path, env: createUserEnvironment(), extendEnv: false, reject: false},
  );
  expect(exitCode).toBe(1);
  expect(stdout.split('\n').sort()).toEqual([
    'failed: some.test.js > breaks (one)',
    'failed: unreadable.test.js (cannot be loaded)',
    'passed at the second try: some.test.js > comes late (first: expected 1 to be 2 // Object.is equality)',
  ]);
});
