import {execFile} from 'node:child_process';
import {symlink} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';
import {expect, onTestFinished, test} from 'vitest';
import {createUserEnvironment} from '../support/environment.ts';
import {root} from '../support/run-cli.ts';
import {emptyFolder} from '../support/workspace.ts';

test('a test that passed only at its second try is named, and no other is', async () => {
  const folder = await emptyFolder();
  onTestFinished(folder.remove);
  await symlink(path.join(root, 'node_modules'), path.join(folder.path, 'node_modules'));
  await folder.write(
    'flaky.test.js',
    "import {expect, test} from 'vitest';\nlet tries = 0;\ntest('comes late', () => expect(++tries).toBe(2));\ntest('passes', () => {});\n",
  );
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
  const reporter = path.join(root, 'scripts/second-tries.mjs');
  const {stdout} = await promisify(execFile)(
    process.execPath,
    [vitest, 'run', '--retry=1', '--maxWorkers=1', `--reporter=${reporter}`],
    {cwd: folder.path, env: createUserEnvironment()},
  );
  expect(stdout).toBe(
    'passed at the second try: flaky.test.js > comes late (first: expected 1 to be 2 // Object.is equality)\n',
  );
});
