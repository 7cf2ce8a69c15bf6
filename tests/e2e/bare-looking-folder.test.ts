/** A project whose files make a folder look like a bare repository, whose settings name a program. */
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {getToolResults} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, say} from '../support/scripted-replies.ts';
import {home, project, searchPathWithout, serve} from './fixture.ts';

async function setUp() {
  const workspace = await project();
  const mark = path.join(path.dirname(workspace.path), `${path.basename(workspace.path)}-ran`);
  const config = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${workspace.path}\n\tfsmonitor = touch ${mark}; false\n`;
  const parts = {HEAD: 'ref: refs/heads/main\n', config, 'objects/x': '', 'refs/x': ''};
  const make = () => {
    for (const [name, content] of Object.entries(parts)) {
      const file = path.join(workspace.path, 'vendor/lib', name);
      mkdirSync(path.dirname(file), {recursive: true});
      writeFileSync(file, content);
    }
  };
  return {workspace, mark, parts, make};
}

const STATUS = 'cd vendor/lib && git status --short';

it('runs the program for a person who starts git there', async () => {
  const {workspace, mark, make} = await setUp();
  make();
  execFileSync('bash', ['-c', `${STATUS} || true`], {cwd: workspace.path, stdio: 'pipe'});
  expect(existsSync(mark)).toBe(true);
});

it.each([
  ['with', undefined],
  ['without', 'bwrap'],
])('runs nothing for an agent that may run git status, %s a sandbox', async (_, missing) => {
  const {workspace, mark, make} = await setUp();
  make();
  const server = await serve([callTool('bash', {command: STATUS}), say('done')]);
  const env = missing === undefined ? {} : {PATH: `${path.dirname(process.execPath)}:${searchPathWithout(missing)}`};
  const at = {server, cwd: workspace.path, home: await home(), env};
  await runCli(['-p', 'look', '--allowed-tools', 'bash(git status:*)'], at);
  expect(server.requests).toHaveLength(2);
  expect(existsSync(mark)).toBe(false);
});

it('is not made by the file tools without a question', async () => {
  const {workspace, parts} = await setUp();
  const calls = Object.entries(parts).map(([name, content], index) =>
    callTool('write_file', {path: `vendor/lib/${name}`, content: `${content} `}, `w${index}`),
  );
  const server = await serve([...calls, say('done')]);
  const at = {server, cwd: workspace.path, home: await home()};
  await runCli(['-p', 'make it', '--permission-mode', 'acceptEdits'], at);
  const refused = server.requests.flatMap(({body}) => getToolResults(body)).filter(({isError}) => isError);
  expect(refused.map(({text}) => text).join()).toMatch(/Permission denied/);
  expect(existsSync(path.join(workspace.path, 'vendor/lib/refs/x'))).toBe(false);
});
