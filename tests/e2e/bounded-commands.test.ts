/** What runs without a question has bounds of memory, and the result names them. */
import {expect, test} from 'vitest';
import {say} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool} from '../support/scripted-replies.ts';
import {project, serve} from './fixture.ts';

/** Needs memory at once and touches none of it. */
const COMMAND = 'dd if=/dev/null of=/dev/null bs=6G count=1 && echo fine';

async function run(...args: readonly string[]): Promise<string> {
  const server = await serve([callTool('bash', {command: COMMAND}), say('done')]);
  const all = ['-p', 'go', '--output-format', 'stream-json', '--verbose', ...args];
  return (await runCli(all, {cwd: (await project()).path, server})).stdout;
}

test('a command that runs in the sandbox without a question has at most 4 GB', async () => {
  const out = await run('--settings', '{"sandbox": "auto"}');
  expect(out).toMatch(/runs without a question has at most [\d.]+ GB of memory/);
  expect(out).not.toContain('fine\\n');
});

test('a command that the user allowed has no such limit', async () => {
  const out = await run('--allowed-tools', 'bash');
  expect(out).not.toContain('without a question has at most');
});
