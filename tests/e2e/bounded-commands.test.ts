/** What runs without a question has bounds of memory, and the result names them. */
import {expect, test} from 'vitest';
import {say} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool} from '../support/scripted-replies.ts';
import {project, serve} from './fixture.ts';

/** Needs memory at once and touches none of it. */
const COMMAND = 'dd if=/dev/null of=/dev/null bs=6G count=1 && echo fine';
const SANDBOX = ['--settings', '{"sandbox": "auto"}'];

async function run(command: string, ...args: readonly string[]): Promise<string> {
  const server = await serve([callTool('bash', {command}), say('done')]);
  const all = ['-p', 'go', '--output-format', 'stream-json', '--verbose', ...args];
  return (await runCli(all, {cwd: (await project()).path, server})).stdout;
}

test('a command that runs in the sandbox without a question has at most 4 GB', async () => {
  const out = await run(COMMAND, ...SANDBOX);
  expect(out).toMatch(/runs without a question has at most [\d.]+ GB of memory/);
  expect(out).not.toContain('fine\\n');
});

test('a list of words that the shell itself makes ends at the limit too, where it only reads', async () => {
  // A limit that the words reach at once.
  const out = await run('ulimit -d 100000; ls {1..100000000}', ...SANDBOX);
  expect(out).toMatch(/allocate .*runs without a question has at most/s);
});

test('it has at most 1,000 processes in the sandbox', async () => {
  expect(await run('echo "processes $(ulimit -Hu)"', ...SANDBOX)).toContain('processes 1000');
});

test('a command that the user allowed has no such limit', async () => {
  const out = await run(COMMAND, '--allowed-tools', 'bash');
  expect(out).not.toContain('without a question has at most');
});
