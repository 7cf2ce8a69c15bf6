/** The web search that a model's server carries out itself. */
import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {type MessagesBody, rawEvents, say} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {home, project, serve} from './fixture.ts';

const RESULT = {
  ...{type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', caller: {type: 'direct'}},
  content: [
    {type: 'web_search_result', url: 'https://a.example', title: 'A', encrypted_content: 'abc', page_age: null},
  ],
};
const CITATION = {
  type: 'web_search_result_location',
  url: 'https://a.example',
  title: 'A',
  encrypted_index: 'x',
  cited_text: 'y',
};

function searchReply({model}: MessagesBody) {
  const usage = {input_tokens: 10, output_tokens: 5};
  const start = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
  return rawEvents(
    {type: 'message_start', message: {...start, usage}},
    {
      ...{type: 'content_block_start', index: 0},
      content_block: {type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {}},
    },
    {type: 'content_block_delta', index: 0, delta: {type: 'input_json_delta', partial_json: '{"query": "news"}'}},
    {type: 'content_block_stop', index: 0},
    {type: 'content_block_start', index: 1, content_block: RESULT},
    {type: 'content_block_stop', index: 1},
    {type: 'content_block_start', index: 2, content_block: {type: 'text', text: '', citations: []}},
    {type: 'content_block_delta', index: 2, delta: {type: 'text_delta', text: 'Here is the news.'}},
    {type: 'content_block_delta', index: 2, delta: {type: 'citations_delta', citation: CITATION}},
    {type: 'content_block_stop', index: 2},
    {type: 'message_delta', delta: {stop_reason: 'end_turn', stop_sequence: null}, usage},
    {type: 'message_stop'},
  );
}

it('is offered by servers that have it, goes back to them, and never to another', async () => {
  const searching = await serve((body) => (body.messages.length === 1 ? searchReply(body) : say('ok')));
  const other = await serve(() => say('ok'));
  const [user, folder] = [await home(), await project()];
  mkdirSync(user.env.MINI_CC_HOME!, {recursive: true});
  const settings = {providers: {s: {baseURL: searching.url, webSearch: true}}};
  writeFileSync(path.join(user.env.MINI_CC_HOME!, 'settings.json'), JSON.stringify(settings));
  const run = (...args: string[]) => runCli(['-p', ...args], {home: user, cwd: folder.path, server: other});
  expect(await run('what is new?', '--model', 's/m')).toMatchObject({code: 0, stdout: 'Here is the news.\n'});
  expect(searching.requests[0]!.body.tools).toContainEqual(
    expect.objectContaining({type: 'web_search_20250305', name: 'web_search'}),
  );
  await run('and now?', '-c', '--model', 's/m');
  expect(searching.requests[1]!.body.messages[1]!.content).toMatchObject([
    {type: 'server_tool_use', id: 'srvtoolu_1', input: {query: 'news'}},
    RESULT,
    {type: 'text', text: 'Here is the news.', citations: [CITATION]},
  ]);
  await run('and now?', '-c', '--model', 'sonnet');
  const {tools, messages} = other.requests[0]!.body;
  expect(tools?.map(({name}) => name)).not.toContain('web_search');
  expect(messages[1]!.content).toEqual([{type: 'text', text: 'Here is the news.', citations: null}]);
  const listed = async (env: Record<string, string>) => {
    const {stdout} = await runCli(['agents', 'list', '--json'], {home: user, cwd: folder.path, server: other, env});
    return JSON.parse(stdout).find(({name}: {name: string}) => name === 'code').tools;
  };
  expect(await listed({})).not.toContain('web_search');
  expect(await listed({ANTHROPIC_MODEL: 's/m'})).toContain('web_search');
});
