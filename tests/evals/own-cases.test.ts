import {expect, test} from 'vitest';
import {root, runCli} from '../support/run-cli.ts';

test('the cases of explore pass in this repository with the offline model, without a key or a question', async () => {
  const {stdout, code} = await runCli(['agents', 'test', 'explore', '--offline'], {cwd: root, timeoutMs: 280_000});
  expect(stdout).toContain('pass rate 100 %');
  expect(code).toBe(0);
});
