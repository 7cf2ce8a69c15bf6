/** A program exchanges a folder and a link of the workspace without a pause, while a session works there. */
import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {createSandbox} from '../../src/sandbox/index.ts';
import {say} from '../support/messages-server.ts';
import {getToolResults} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTools} from '../support/scripted-replies.ts';
import {hasSwapper, startSwapper} from '../support/swapper.ts';
import {home, project, serve} from './fixture.ts';

const ROUNDS = 4;

it.skipIf(!hasSwapper())('an error of a file is a result of its call, and the session goes on', async () => {
  const [workspace, userHome] = [await project(), await home()];
  const root = workspace.path;
  const hidden = path.join(userHome.path, '.ssh');
  for (const folder of [path.join(root, 'dir'), hidden]) {
    mkdirSync(folder, {recursive: true});
    writeFileSync(path.join(folder, 'a.ts'), folder === hidden ? 'hidden-value-81f3\n' : 'plain\n');
  }
  symlinkSync(hidden, path.join(root, 'dir-link'));
  const env = {PATH: '/usr/bin:/bin'};
  const none = createSandbox({home: '/nonexistent', miniCcHome: '/nonexistent', searchPath: ''});
  const place = {root, extraRoots: [], cwd: root, confinement: 'none', env} as const;
  const stop = await startSwapper(none, place, [['dir', 'dir-link']], 'plain');
  const calls = Array.from({length: 12}, (_, at) => [
    {name: 'read_file', input: {path: 'dir/a.ts'}},
    {name: 'write_file', input: {path: `dir/new-${at}.ts`, content: 'x\n'}},
    {name: 'bash', input: {command: 'cat dir/a.ts'}},
    {name: 'grep', input: {pattern: 'plain', path: 'dir', mode: 'content'}},
  ]).flat();
  const server = await serve([...Array.from({length: ROUNDS}, () => callTools(calls)), say('done')]);
  const run = await runCli(['-p', 'x', '--permission-mode', 'acceptEdits'], {
    server,
    home: userHome,
    cwd: root,
  });
  await stop();
  expect([run.code, run.stdout.trim()], run.stderr).toEqual([0, 'done']);
  expect(server.requests).toHaveLength(ROUNDS + 1);
  const results = getToolResults(server.requests.at(-1)!.body);
  expect(results).toHaveLength(calls.length);
  expect(JSON.stringify(server.requests.map(({body}) => body))).not.toContain('hidden-value-81f3');
});
