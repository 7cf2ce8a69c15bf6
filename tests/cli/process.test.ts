import {spawnSync} from 'node:child_process';
import {mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it} from 'vitest';
import {createHome} from '../support/environment.ts';
import {buildOnce, cliEnvironment, cliPath, runCli} from '../support/run-cli.ts';

it('says in one line that the working directory was removed', async () => {
  await buildOnce();
  const home = await createHome();
  const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-removed-'));
  const script = 'cd "$1" && rmdir "$1" && shift && exec "$@"';
  const args = ['-c', script, 'sh', folder, process.execPath, cliPath, '-p', 'x', '--offline'];
  const run = spawnSync('sh', args, {env: cliEnvironment(home, {}), encoding: 'utf8', input: ''});
  await home.remove();
  expect(run.stderr).toBe(
    'mini-cc: the working directory no longer exists: go to one that exists, or name one by --cwd\n',
  );
  expect(run).toMatchObject({status: 2, stdout: ''});
});

it.each([['-v'], ['-p', '--version'], ['--version', 'x']])('prints the version for %j', async (...args) => {
  const {stdout, stderr, code} = await runCli(args);
  expect({stdout, stderr, code}).toEqual({stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: '', code: 0});
});

it.each([['--help'], ['-h'], ['-p', 'x', '--help']])('prints the help text for %j', async (...args) => {
  const {stdout, stderr, code} = await runCli(args);
  expect({stderr, code}).toEqual({stderr: '', code: 0});
  expect(stdout).toMatch(/^ *-p, --print +one answer, no REPL$/m);
});
