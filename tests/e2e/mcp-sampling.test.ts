/** A server of the Model Context Protocol asks the session's model, where the user's own settings allow it. */
import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {PLAYED} from '../extensions/mcp/fixture.ts';
import {say} from '../support/messages-server.ts';
import {answer} from '../support/questions.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool} from '../support/scripted-replies.ts';
import {home, project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const notes = {command: process.execPath, args: [PLAYED, 'asking']};
const allow = ['mcp__notes'];

/** A home with the server `notes`, which asks a model by its tool `think`, and a model that answers it. */
async function open(mcp?: object) {
  const server = await serve(({system, messages}) => {
    if (JSON.stringify(system).includes('You count.')) return say('Two.');
    const {content} = messages.at(-1)!;
    const results = typeof content === 'string' ? [] : content.filter(({type}) => type === 'tool_result');
    if (results.length > 0) return say('That was it.');
    return callTool(JSON.stringify(content).includes('capabilities') ? 'mcp__notes__can' : 'mcp__notes__think', {});
  });
  const [user, {path: cwd}] = [await home(), await project()];
  mkdirSync(path.join(user.path, '.mini-cc'), {recursive: true});
  const settings = {mcpServers: {notes}, permissions: {allow}, ...(mcp && {mcp})};
  writeFileSync(path.join(user.path, '.mini-cc', 'settings.json'), JSON.stringify(settings));
  const lastResult = () => JSON.stringify(server.requests.at(-1)!.body.messages.at(-1));
  return {server, home: user, cwd, lastResult};
}

it.each([true, ['notes']])(
  'mcp.sampling %j answers by one call of the model, without tools, which is counted',
  async (sampling) => {
    const {lastResult, ...at} = await open({sampling});
    const run = await runCli(['-p', 'count them', '--output-format', 'json'], at);
    expect(run).toMatchObject({code: 0});
    const [first, asked, last] = at.server.requests.map(({body}) => body);
    expect(at.server.requests).toHaveLength(3);
    expect(asked).toMatchObject({model: first!.model, messages: [{role: 'user'}]});
    expect(JSON.stringify(asked)).toContain('How many?');
    expect(asked!.tools ?? []).toEqual([]);
    expect(asked!.max_tokens).toBeLessThanOrEqual(8_000);
    expect(lastResult()).toContain('Two.');
    expect(JSON.stringify(asked)).not.toContain('count them');
    // The result counts the tokens of all three calls.
    const alone = await runCli(['-p', 'count them', '--output-format', 'json'], await open());
    expect(JSON.parse(run.stdout).total_cost_usd).toBeGreaterThan(JSON.parse(alone.stdout).total_cost_usd);
    expect(last!.messages).toHaveLength(3);
  },
);

it("without the setting, by another server's name, and by a project that is not trusted, it is refused with the reason", async () => {
  for (const [mcp, projects] of [
    [undefined],
    [{sampling: ['other']}],
    [undefined, {sampling: true}],
    [{sampling: 'ask'}],
  ]) {
    const {lastResult, ...at} = await open(mcp);
    mkdirSync(path.join(at.cwd, '.mini-cc'), {recursive: true});
    if (projects) writeFileSync(path.join(at.cwd, '.mini-cc', 'settings.json'), JSON.stringify({mcp: projects}));
    expect(await runCli(['-p', 'count them'], at)).toMatchObject({code: 0});
    expect(lastResult()).toContain('this server may not ask a model here; the user allows it by');
    expect(at.server.requests).toHaveLength(2);
    await runCli(['-p', 'say your capabilities'], at);
    expect(lastResult()).toContain('roots');
    expect(lastResult()).not.toContain('sampling');
  }
});

it('"ask" shows the server and its text in the REPL; no is told to the server, and 2 is a yes for the session', async () => {
  const {lastResult, ...at} = await open({sampling: 'ask'});
  const terminal = await repl(at);
  await send(terminal, 'count them');
  await terminal.waitFor('Send this question of the MCP server notes to the model?');
  expect(terminal.text()).toMatch(/system: You count\.\s+user: How many\?/);
  await answer(terminal, '3 no', '3');
  await terminal.waitFor('That was it.');
  expect(lastResult()).toContain('the person says no');
  expect(at.server.requests).toHaveLength(2);
  await idle(terminal);
  await send(terminal, 'count again');
  await answer(terminal, '2 yes, all of notes for this session', '2');
  await terminal.waitFor(() => at.server.requests.length === 5);
  await idle(terminal);
  expect(lastResult()).toContain('Two.');
  await send(terminal, 'and again');
  await terminal.waitFor(() => at.server.requests.length === 8);
  await idle(terminal);
  await send(terminal, '/cost');
  await terminal.waitFor(/mini-cc .*\d/);
});
