/** Replies and histories that make a server refuse all that comes after them, against a server as strict as the real one. */

import {expect, it} from 'vitest';
import {runAgent} from '../../src/core/agent-loop.ts';
import type {AgentEventBody} from '../../src/core/contract/events.ts';
import type {Message} from '../../src/core/contract/model.ts';
import type {Tool} from '../../src/core/contract/tool.ts';
import type {TranscriptEntry} from '../../src/core/contract/transcript.ts';
import {History} from '../../src/core/turn/history.ts';
import {textResult} from '../../src/core/util/tool-output.ts';
import {modelAt, serve} from '../models/fixture.ts';
import type {Script} from '../support/messages-server.ts';
import {getToolResults} from '../support/request-facts.ts';
import {
  callTool,
  callTools,
  type MessageReply,
  refuse,
  type ScriptedBlock,
  say,
  status,
  thinkingThen,
} from '../support/scripted-replies.ts';
import {runFixture, tool} from './run-fixture.ts';

async function setUp(script: Script, tools: readonly Tool[] = [tool('look')], restored: readonly Message[] = []) {
  const server = await serve(script);
  const lines: TranscriptEntry[] = [];
  const journal = {append: (line: TranscriptEntry) => void lines.push(structuredClone(line))};
  const history = new History(
    journal,
    restored.map((message, index) => ({uuid: `r${index}`, message})),
  );
  const model = modelAt({baseURL: server.url, apiKey: 'key'});
  const {run, events} = runFixture(model, tools, {history, limits: {maxTurns: 100, timeoutSeconds: 0}});
  const ask = (prompt: string) => {
    history.appendPrompt(prompt);
    return runAgent(run);
  };
  return {ask, history, lines, server, events, bodies: () => server.requests.map(({body}) => body)};
}

const notices = (events: readonly AgentEventBody[]) =>
  events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
const reply = (...blocks: ScriptedBlock[]): MessageReply => ({type: 'message', blocks, stopReason: 'tool_use'});
const looks = (input: unknown, id: string): ScriptedBlock => ({type: 'tool_use', id, name: 'look', input});

/** The start of a PNG. */
function png(width: number, height: number): string {
  const bytes = Buffer.alloc(60);
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes.toString('base64');
}

const showImage = (width: number, height: number): Tool =>
  tool('look', () => ({
    content: [{type: 'image', source: {type: 'base64', media_type: 'image/png', data: png(width, height)}}],
  }));

it.each<[string, MessageReply, RegExp | undefined]>([
  ['blank text before a call', callTool('look', {}, 'a', '\n\n'), undefined],
  ['an input that is a list', reply(looks(['a.txt'], 'a')), /1 input of a call was no object/],
  ['an input that is null', reply(looks(null, 'a')), /1 input of a call was no object/],
  ['an id twice in one reply', reply(looks({}, 'a'), looks({}, 'a')), /1 id of a call was used twice/],
  ['an id that is empty', reply(looks({}, '')), /1 id of a call/],
  ['an id with a space', reply(looks({}, 'a b')), /1 id of a call/],
  ['a tool name with a space', callTools([{name: 'look at', input: {}}]), /1 name of a tool/],
  ['half of a surrogate pair', reply({type: 'text', text: 'so \ud83d'}, looks({value: '\udc00'}, 'a')), /characters/],
  [
    'thinking without a signature',
    reply({type: 'thinking', thinking: 'hm', signature: ''}, looks({}, 'a')),
    /thinking/,
  ],
])('after %s the next requests are taken', async (_, first, notice) => {
  const {ask, events, server} = await setUp([first, say('done'), say('again')]);
  expect(await ask('one')).toMatchObject({outcome: 'success', text: 'done'});
  expect(await ask('two')).toMatchObject({outcome: 'success', text: 'again'});
  expect(server.requests).toHaveLength(3);
  if (notice) expect(notices(events)).toEqual([expect.stringMatching(notice)]);
  else expect(notices(events)).toEqual([]);
});

it('the same id in two turns is renamed, and its result goes with it', async () => {
  const named = tool('look', (_, value) => textResult(`saw ${value}`));
  const script = [callTool('look', {value: 'x'}, 'a'), say('one'), callTool('look', {value: 'y'}, 'a'), say('two')];
  const {ask, bodies} = await setUp(script, [named]);
  await ask('one');
  expect(await ask('two')).toMatchObject({outcome: 'success', text: 'two'});
  expect(getToolResults(bodies()[3]!)).toEqual([{id: 'a_2', text: 'saw y', isError: false}]);
});

it('a call whose input was no object gets an error as its result, and is not run', async () => {
  let runs = 0;
  const counted = tool('look', () => textResult(`run ${++runs}`));
  const {ask, bodies} = await setUp([reply(looks(['a.txt'], 'a'), looks({}, 'b')), say('ok')], [counted]);
  await ask('go');
  expect(getToolResults(bodies()[1]!)).toMatchObject([
    {id: 'a', isError: true, text: expect.stringContaining('The input of look is no object: ["a.txt"]')},
    {id: 'b', isError: false, text: 'run 1'},
  ]);
});

it('a blank result, and half of a surrogate pair in one, reach the server as text that it takes', async () => {
  const texts = ['', ' \n', 'a \ud83d b'];
  const blank = tool('look', () => textResult(texts.shift()!));
  const {ask, bodies} = await setUp([callTools([1, 2, 3].map(() => ({name: 'look', input: {}}))), say('ok')], [blank]);
  expect(await ask('go')).toMatchObject({outcome: 'success'});
  expect(getToolResults(bodies()[1]!).map(({text}) => text)).toEqual(['(no output)', '(no output)', 'a \ufffd b']);
});

it('an image beyond the limits is described with its size and the limit', async () => {
  const {ask, bodies, events} = await setUp([callTool('look', {}), say('ok')], [showImage(1_200, 9_000)]);
  expect(await ask('go')).toMatchObject({outcome: 'success'});
  expect(getToolResults(bodies()[1]!)[0]?.text).toContain('1200 × 9000 pixels; at most 8000 a side');
  expect(notices(events)).toEqual([expect.stringContaining('1 image was beyond the limits')]);
});

it('of more than 20 images the large ones are described, of more than 100 the oldest', async () => {
  const many = (count: number) => callTools(Array.from({length: count}, () => ({name: 'look', input: {}})));
  const {ask, bodies} = await setUp([many(15), many(10), many(80), say('ok')], [showImage(2_100, 10)]);
  expect(await ask('go')).toMatchObject({outcome: 'success'});
  const count = (index: number) => JSON.stringify(bodies()[index]).split('"type":"image"').length - 1;
  expect([count(1), count(2), count(3)]).toEqual([15, 0, 0]);
  const small = await setUp([many(60), many(60), say('ok')], [showImage(20, 10)]);
  expect(await small.ask('go')).toMatchObject({outcome: 'success'});
  expect(JSON.stringify(small.bodies()[2]).split('"type":"image"').length - 1).toBe(100);
});

it('thoughts go back as they came, in their order', async () => {
  const thoughtful = thinkingThen('first', thinkingThen('second', callTool('look', {})));
  const {ask, bodies} = await setUp([thoughtful, say('ok'), say('more')]);
  await ask('one');
  expect(await ask('two')).toMatchObject({outcome: 'success', text: 'more'});
  expect(bodies()[2]?.messages[1]?.content).toMatchObject([
    {thinking: 'first'},
    {thinking: 'second'},
    {type: 'tool_use'},
  ]);
});

it('a refused turn is taken out, and the user is told why', async () => {
  const refused = refuse('I will not');
  const {ask, bodies, events, lines} = await setUp([say('hi'), refused, say('fine')]);
  await ask('hello');
  expect(await ask('do harm')).toMatchObject({outcome: 'error', code: 'REFUSAL'});
  expect(await ask('do good')).toMatchObject({outcome: 'success', text: 'fine'});
  expect(bodies()[2]?.messages.map(({role, content}) => [role, getWords(content)])).toEqual([
    ['user', 'hello'],
    ['assistant', 'hi'],
    ['user', 'do good'],
  ]);
  expect(notices(events)).toEqual([expect.stringMatching(/left out of the conversation.*\/rewind/)]);
  expect(JSON.stringify(lines)).toContain('I will not');
});

const getWords = (content: string | readonly {readonly text?: string}[]) =>
  typeof content === 'string' ? content : content.map(({text}) => text).join();

it.each<[string, MessageReply]>([
  ['empty', reply()],
  ['blank', say('\n\n')],
  ['of thinking alone', reply({type: 'thinking', thinking: 'hm', signature: 'x'})],
])('a reply that is %s is asked for again; the eighth one in a row ends the run', async (_, empty) => {
  const once = await setUp([empty, say('there')]);
  expect(await once.ask('go')).toMatchObject({outcome: 'success', text: 'there'});
  const always = await setUp([...Array.from({length: 8}, () => empty), say('next')]);
  expect(await always.ask('go')).toMatchObject({
    ...{outcome: 'limit', limit: 'no_progress', reason: 'no progress: an empty reply 8 times'},
  });
  expect(always.server.requests).toHaveLength(8);
  expect(await always.ask('on')).toMatchObject({outcome: 'success', text: 'next'});
});

const user = (content: Message['content']): Message => ({role: 'user', content});
const assistant = (...content: object[]): Message => ({role: 'assistant', content}) as Message;
const use = (id: string) => ({type: 'tool_use', id, name: 'look', input: {}});
const result = (id: string) => ({type: 'tool_result', tool_use_id: id, content: `result of ${id}`}) as const;
const said = {type: 'text', text: 'said'};

it.each<[string, Message[]]>([
  ['without the results of a call', [user('go'), assistant(use('a')), assistant(said)]],
  ['without one of two results', [user('go'), assistant(use('a'), use('b')), user([result('b')]), assistant(said)]],
  ['without the calls of results', [user('go'), user([result('a')]), assistant(said)]],
  ['that ends with open calls', [user('go'), assistant(use('a'))]],
  ['without its first prompt', [assistant(use('a')), user([result('a')]), assistant(said)]],
  ['with an id in two turns', [user('go'), ...[1, 2].flatMap(() => [assistant(use('a')), user([result('a')])])]],
  ['with an empty message', [user('go'), assistant(), user('')]],
  ['with text before the results', [user('go'), assistant(use('a')), user([said as never, result('a')])]],
  [
    'with a damaged block',
    [user('go'), assistant({type: 'text'}, {type: 'tool_use'}, 7 as never), user([{} as never])],
  ],
])('a restored history %s is taken, and what was repaired is one notice', async (title, restored) => {
  const {ask, events} = await setUp([say('ok'), say('again')], [tool('look')], restored);
  expect(await ask('on')).toMatchObject({outcome: 'success', text: 'ok'});
  expect(await ask('and on')).toMatchObject({outcome: 'success', text: 'again'});
  expect(notices(events)).toHaveLength(/empty|before the results/.test(title) ? 0 : 1);
});

it('a result that the server refuses by its number is replaced by one line, and the same request goes on', async () => {
  const poison = tool('look', (_, value) => textResult(value));
  const script: Script = (body, index) => {
    const at = body.messages.findIndex((message) => JSON.stringify(message).includes('"content":"poison"'));
    if (at >= 0) return status(400, {message: `messages.${at}.content.0: this is not allowed`});
    return [callTool('look', {value: 'good'}), callTool('look', {value: 'poison'})][index] ?? say('ok');
  };
  const {ask, bodies, events, lines} = await setUp(script, [poison]);
  expect(await ask('go')).toMatchObject({outcome: 'success', text: 'ok'});
  expect(JSON.stringify(bodies().at(-1))).toContain('"content":"good"');
  expect(notices(events)).toEqual([
    expect.stringMatching(/refused.*this is not allowed.*Left out: the results of 1 call.*\/rewind/),
  ]);
  expect(lines.filter(({type}) => type === 'shorten')).toHaveLength(1);
  const requests = bodies().length;
  expect(await ask('more')).toMatchObject({outcome: 'success'});
  expect(bodies()).toHaveLength(requests + 1);
});

it('a history that the server refuses without saying where shrinks to the prompt, and the session goes on', async () => {
  const script: Script = (body) =>
    JSON.stringify(body.messages).includes('poison') ? status(400, {message: 'messages: no'}) : say('ok');
  const restored = [user('poison'), assistant(said), user('more'), assistant(said)];
  const {ask, bodies, events} = await setUp(script, [], restored);
  expect(await ask('on')).toMatchObject({outcome: 'success', text: 'ok'});
  expect(notices(events)).toHaveLength(1);
  expect(JSON.stringify(bodies().at(-1)?.messages)).not.toContain('poison');
});

it.each([
  ['the prompt itself', 4],
  ['the message before it', 3],
  ['none that there is', 99],
])('the prompt stays when the server refuses the history and names %s', async (_, at) => {
  const script: Script = (body) =>
    JSON.stringify(body.messages).includes('poison') ? status(400, {message: `messages.${at}: no`}) : say('ok');
  const restored = [user('before'), assistant(said), user('then'), assistant({type: 'text', text: 'poison'})];
  const {ask, bodies} = await setUp(script, [], restored);
  expect(await ask('the prompt')).toMatchObject({outcome: 'success', text: 'ok'});
  const sent = bodies()
    .at(-1)!
    .messages.map(({content}) => getWords(content));
  expect(sent.join()).toContain('the prompt');
  // What the server names is left out alone.
  expect(sent.join().includes('before')).toBe(at === 3);
});

it('a prompt that the server refuses fails, is left out, and leaves the rest of the history as it was', async () => {
  const script: Script = (body) =>
    JSON.stringify(body.messages).includes('poison') ? status(400, {message: 'messages: no'}) : say('ok');
  const {ask, history, events} = await setUp(script);
  await ask('one');
  const before = history.messages;
  expect(await ask('poison')).toMatchObject({outcome: 'error', code: 'MODEL_BAD_REQUEST'});
  expect(history.messages).toEqual(before);
  expect(notices(events)).toEqual([expect.stringContaining('/rewind')]);
  expect(await ask('two')).toMatchObject({outcome: 'success'});
});

it('thinking that another server signed is left out once that server refuses it', async () => {
  const restored = [user('go'), assistant({type: 'thinking', thinking: 'hm', signature: 'foreign'}, said)];
  const {ask, server, events} = await setUp([say('unused'), say('ok'), say('more')], [], restored);
  expect(await ask('on')).toMatchObject({outcome: 'success', text: 'ok'});
  expect(await ask('on')).toMatchObject({outcome: 'success', text: 'more'});
  expect(server.requests).toHaveLength(3);
  expect(notices(events)).toEqual([expect.stringContaining('the thinking of earlier replies')]);
});

it('of 50 turns of 15 calls each, at least 90 % of the input tokens are read from the cache', async () => {
  const fifteen = (turn: number) =>
    callTools(Array.from({length: 15}, (_, value) => ({name: 'look', input: {value: `${turn} ${value}`}})));
  const {ask, server} = await setUp(
    (_, index) => (index < 50 ? fifteen(index) : say('done')),
    [tool('look', (_, value) => textResult(`line ${value} `.repeat(20)))],
  );
  const {usage, turns} = await ask('x'.repeat(5_000));
  expect([turns, server.requests.length]).toEqual([51, 51]);
  const all = usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
  expect(usage.cache_read_input_tokens / all).toBeGreaterThan(0.9);
});
