/**
 * `bench/harbor` installs and runs mini-cc as Harbor does, with this machine as the container and a stub of Harbor's
 * classes, since Harbor needs pip and Docker. The packages come from npm.
 */
import {execFile} from 'node:child_process';
import {cpSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import {expect, onTestFinished, test} from 'vitest';
import manifest from '../../package.json' with {type: 'json'};
import {createUserEnvironment} from '../support/environment.ts';
import {callTool, say, startMessagesServer} from '../support/messages-server.ts';
import {buildOnce, root} from '../support/run-cli.ts';
import {emptyFolder} from '../support/workspace.ts';

const run = promisify(execFile);

/** Packs what is built. @returns the file */
async function pack(folder: string): Promise<string> {
  await buildOnce();
  const source = path.join(folder, 'source');
  mkdirSync(source);
  cpSync(path.join(root, 'dist'), path.join(source, 'dist'), {recursive: true});
  const {name, version, type, bin, dependencies} = manifest;
  const ripgrep = {'@vscode/ripgrep': dependencies['@vscode/ripgrep']};
  writeFileSync(path.join(source, 'package.json'), JSON.stringify({name, version, type, bin, dependencies: ripgrep}));
  const {stdout} = await run('npm', ['pack', '--silent', source], {cwd: folder});
  return path.join(folder, stdout.trim());
}

test('mini-cc is installed, does a task, and leaves its trajectory, tokens and cost', async () => {
  const {path: folder, remove} = await emptyFolder();
  onTestFinished(remove);
  mkdirSync(path.join(folder, 'app'));
  const replies = [
    callTool('bash', {command: 'echo "Hello, world!" > hello.txt && cat hello.txt'}),
    say('hello.txt says it.'),
  ];
  const server = await startMessagesServer(
    ({messages}) => replies[messages.filter(({role}) => role === 'assistant').length]!,
  );
  onTestFinished(server.close);
  const env = {...createUserEnvironment(), ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'test-key'};
  const drive = path.join(root, 'tests/fixtures/harbor/drive.py');
  const task = 'Write "Hello, world!" into hello.txt; it\'s $HOME\'s first file.';
  const args = [drive, path.join(root, 'bench/harbor'), folder, await pack(folder), task];
  const {stdout} = await run('python3', args, {env: env as NodeJS.ProcessEnv, timeout: 200_000});
  const context = JSON.parse(stdout);
  expect(context).toMatchObject({
    name: 'mini-cc',
    version: manifest.version,
    metadata: {exit_code: 0, subtype: 'success'},
  });
  expect(readFileSync(path.join(folder, 'app/hello.txt'), 'utf8')).toBe('Hello, world!\n');
  const trajectory = JSON.parse(readFileSync(path.join(folder, 'logs/trajectory.json'), 'utf8'));
  expect(trajectory).toMatchObject({
    schema_version: 'ATIF-v1.4',
    agent: {name: 'mini-cc', version: manifest.version, model_name: 'claude-sonnet-4-5'},
    steps: [
      {step_id: 1, source: 'user', message: task},
      {
        step_id: 2,
        source: 'agent',
        tool_calls: [{function_name: 'bash', arguments: {command: expect.stringContaining('echo')}}],
        observation: {results: [{content: expect.stringContaining('Hello, world!')}]},
      },
      {step_id: 3, source: 'agent', message: 'hello.txt says it.'},
    ],
    final_metrics: {total_steps: 3},
  });
  const {observation, tool_calls: calls} = trajectory.steps[1];
  expect(observation.results[0].source_call_id).toBe(calls[0].tool_call_id);
  const {usage} = server;
  const input = usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
  expect(context).toMatchObject({
    n_input_tokens: input,
    n_cache_tokens: usage.cache_read_input_tokens,
    n_output_tokens: usage.output_tokens,
  });
  expect(context.cost_usd).toBeGreaterThan(0);
  expect(server.requests[0]?.body.messages[0]?.content).toMatchObject([{text: task}]);
});
