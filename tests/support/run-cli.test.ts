import {readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {createHome} from './environment.ts';
import {say, startMessagesServer} from './messages-server.ts';
import {getKey} from './request-facts.ts';
import {cliEnvironment, root, runCli, startCli} from './run-cli.ts';

const {version} = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {version: string};

test('the built program says its version and nothing else', async () => {
  expect(await runCli(['--version'])).toMatchObject({stdout: `${version}\n`, stderr: '', code: 0, signal: null});
});

test('in print mode it asks the scripted server and prints the answer', async () => {
  const server = await startMessagesServer([say('The answer is 42.')]);
  onTestFinished(server.close);
  const {stdout, code} = await runCli(['-p', 'What is the answer?'], {server});
  expect({stdout, code}).toEqual({stdout: 'The answer is 42.\n', code: 0});
  expect(getKey(server.requests[0])).toBe('test-key');
});

test('in a terminal it takes a prompt and shows the answer of the scripted server', async () => {
  const server = await startMessagesServer([say('The answer is 42.')]);
  onTestFinished(server.close);
  const terminal = await startCli([], {server, cols: 80, rows: 24});
  onTestFinished(terminal.close);
  await terminal.waitFor(/^> /m);
  terminal.type('What is the answer?');
  await terminal.waitFor('> What is the answer?');
  terminal.press('enter');
  await terminal.waitFor('The answer is 42.');
  terminal.press('ctrl-d');
  expect(await terminal.waitForExit()).toMatchObject({code: 0});
});

test('a run that does not end is killed, and its output is in the error', async () => {
  const server = await startMessagesServer([{type: 'hang'}]);
  onTestFinished(server.close);
  await expect(runCli(['-p', 'x'], {server, timeoutMs: 700})).rejects.toThrow('did not end within 700 ms');
});

test('its environment has a home of its own and no key from outside', async () => {
  vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'from outside');
  onTestFinished(() => void vi.unstubAllEnvs());
  const home = await createHome();
  onTestFinished(home.remove);
  const env = cliEnvironment(home, {});
  expect(env.HOME).toBe(home.path);
  const outside = Object.keys(env).filter((name) => /^(?:ANTHROPIC|npm)_|^CI$|^VITEST/.test(name));
  expect(outside).toEqual(['npm_config_update_notifier']);
});
