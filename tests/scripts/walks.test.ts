/** `npm run walks` measures how many source files take part in a prompt. */
import path from 'node:path';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {countStrippedBytes} from '../../scripts/walks/stripped-bytes.mjs';
import {createUserEnvironment} from '../support/environment.ts';
import {root} from '../support/run-cli.ts';

const walks = (...args: readonly string[]) =>
  execa(process.execPath, [path.join(root, 'scripts', 'walks.mjs'), ...args], {
    ...{env: createUserEnvironment(), extendEnv: false, reject: false},
  });

test('a walk names the files of which a function ran, and not those that were only loaded', {
  timeout: 120_000,
}, async () => {
  const {stdout, exitCode} = await walks('--list', 'read_file');
  expect(exitCode).toBe(0);
  const [, plain = '', reading = ''] = stdout.split(/^(?:plain|read_file) .*\n/m);
  const [inPlain, beyond] = [plain, reading].map((part) => part.match(/(?<=^ {2})src\/\S+$/gm) ?? []);
  expect(inPlain).toEqual(
    expect.arrayContaining(['src/cli/index.ts', 'src/core/agent-loop.ts', 'src/drivers/print.ts']),
  );
  expect(beyond).toContain('src/tools/files/text-file.ts');
  expect(beyond).not.toContain('src/core/agent-loop.ts');
  // It is loaded for its constant alone.
  expect([...inPlain!, ...beyond!]).not.toContain('src/core/contract/worktree.ts');
  expect(stdout).toMatch(new RegExp(`^plain +${inPlain!.length}$`, 'm'));
  // On a busy machine this walk may not reach a file that the plain one did.
  expect(stdout).toMatch(new RegExp(`^read_file +\\d+ {2}\\+${beyond!.length}$`, 'm'));
  expect(stdout).toMatch(/^src\/ has [\d,]{9,} bytes of TypeScript without comments and white space\.$/m);
});

test('a walk that there is not is bad usage', async () => {
  expect(await walks('nowhere')).toMatchObject({
    ...{exitCode: 2, stdout: ''},
    stderr: 'walks: no walk nowhere; there are plain, bash, sandbox, Task, edit_file, read_file, MCP, hook',
  });
});

test('bytes are counted without comments and white space, in UTF-8', () => {
  expect(countStrippedBytes('a.ts', '/** A comment. */\nconst a: string = "//"; // more\n')).toBe(
    'consta:string="//";'.length,
  );
  expect(countStrippedBytes('a.tsx', 'const a = <b>é</b>; /* é */')).toBe('consta=<b>é</b>;'.length + 1);
});
