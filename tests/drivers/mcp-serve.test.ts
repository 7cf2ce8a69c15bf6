/** `mini-cc mcp serve`: another program uses mini-cc's tools and agents, under the same permissions as a session. */
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {home as createHome, project, serve} from '../e2e/fixture.ts';
import {call, openServers} from '../extensions/mcp/fixture.ts';
import {buildOnce, cliEnvironment, cliPath} from '../support/run-cli.ts';
import {say} from '../support/scripted-replies.ts';

async function setUp(...flags: string[]) {
  await buildOnce();
  const [{path: cwd}, home] = [await project(), await createHome()];
  const server = await serve([say('It is a project.')]);
  writeFileSync(path.join(cwd, 'note.txt'), 'a note\n');
  const args = [cliPath, 'mcp', 'serve', '--cwd', cwd, ...flags];
  const entry = {command: process.execPath, args, env: cliEnvironment(home, {server}), timeout: 60_000};
  const {mcp} = openServers({me: entry}, {env: {MCP_TIMEOUT: '60000'}});
  const source = mcp.forMain();
  const use = (tool: string, input: object) => call(source, `mcp__me__${tool}`, input);
  return {cwd, mcp, use, server};
}

it('offers its tools and Task; what would be asked about is refused, and nothing else writes to standard output', async () => {
  const {cwd, mcp, use, server} = await setUp();
  expect((await use('read_file', {path: 'note.txt'})).text).toMatch(/a note/);
  expect(mcp.list()[0]!.tools.map(({name}) => name)).toEqual(
    expect.arrayContaining(['mcp__me__bash', 'mcp__me__edit_file', 'mcp__me__grep', 'mcp__me__Task']),
  );
  const refused = await use('write_file', {path: 'made.txt', content: 'x'});
  expect(refused).toMatchObject({isError: true, text: expect.stringMatching(/nobody can be asked here/)});
  expect((await use('read_file', {file: 3})).isError).toBe(true);
  const report = await use('Task', {description: 'look', prompt: 'what is it?', agent_type: 'explore'});
  expect(report.text).toContain('It is a project.');
  expect(server.requests).toHaveLength(1);
  expect(() => readFileSync(path.join(cwd, 'made.txt'))).toThrow(/ENOENT/);
});

it('allows what its flags allow, and refuses what rules deny', async () => {
  const {cwd, mcp, use} = await setUp('--permission-mode', 'acceptEdits', '--disallowed-tools', 'bash');
  expect((await use('write_file', {path: 'made.txt', content: 'by a program'})).isError ?? false).toBe(false);
  expect(readFileSync(path.join(cwd, 'made.txt'), 'utf8')).toBe('by a program');
  expect(mcp.list()[0]!.tools.map(({name}) => name)).not.toContain('mcp__me__bash');
});
