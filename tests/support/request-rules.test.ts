import {expect, test} from 'vitest';
import type {MessagesBody, RequestBlock, RequestMessage} from './messages-server.ts';
import {findBrokenRule, signThought} from './request-rules.ts';

const text = (words: string): RequestBlock => ({type: 'text', text: words});
const user = (...content: RequestBlock[]): RequestMessage => ({role: 'user', content});
const assistant = (...content: RequestBlock[]): RequestMessage => ({role: 'assistant', content});
const call = (id: string): RequestBlock => ({type: 'tool_use', id, name: 'look', input: {}});
const result = (id: string): RequestBlock => ({type: 'tool_result', tool_use_id: id, content: 'seen'});
const thought: RequestBlock = {type: 'thinking', thinking: 'hm', signature: signThought('hm')};
const body = (messages: readonly RequestMessage[], more: Partial<MessagesBody> = {}): MessagesBody => ({
  ...{model: 'm', max_tokens: 1, messages},
  ...more,
});
const hello = user(text('hello'));

test.each([
  [[hello]],
  [[{role: 'user' as const, content: 'hello'}, assistant(thought, call('a')), user(result('a'), text('go on'))]],
  [[hello, assistant(thought, text('Still at it.'))]],
])('a valid request is not refused (%#)', (messages) => {
  expect(findBrokenRule(body(messages))).toBeUndefined();
});

/** The first bytes of a PNG: its size is in them, its pixels are not. */
function png(width: number, height: number): string {
  const bytes = Buffer.alloc(60);
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes.toString('base64');
}
const image = (data: string, media_type = 'image/png'): RequestBlock => ({
  type: 'image',
  source: {type: 'base64', media_type, data},
});

test('an image within the limits, thoughts as they were sent, and a prompt within the window are not refused', () => {
  const other: RequestBlock = {type: 'thinking', thinking: 'so', signature: signThought('so')};
  const messages = [user(text('see'), image(png(8_000, 10))), assistant(thought, other, text('x')), hello];
  const facts = {contextWindow: 400, sentThoughts: [[thought.signature!, other.signature!]]};
  expect(findBrokenRule(body(messages), facts)).toBeUndefined();
});

const asked = [hello, assistant(call('a'))];
test.each([
  ['at least one message', body([])],
  ['must use the "user" role', body([assistant(text('hi'))])],
  ['max_tokens', body([hello], {max_tokens: 0})],
  ['tool_choice may only', body([hello], {tool_choice: {type: 'none'}})],
  ['tools.0.custom.name', body([hello], {tools: [{name: 'a b'}]})],
  ['must be unique', body([hello], {tools: [{name: 'a'}, {name: 'a'}]})],
  ['Found 5', body([user(...Array.from({length: 5}, () => ({...text('x'), cache_control: {}})))])],
  ['non-empty content', body([user()])],
  ['must be non-empty', body([{role: 'user', content: ''}])],
  ['non-whitespace', body([user(text(' \n'))])],
  ['system: text content blocks', body([hello], {system: [text(' ')]})],
  ['tool_result.content.0: text', body([...asked, user({...result('a'), content: [text(' ')]})])],
  ['content cannot be empty', body([...asked, user({...result('a'), content: ''})])],
  ['not permitted in `user`', body([user(thought, text('x'))])],
  ['expected tags', body([user({type: 'odd'})])],
  ['cache_control cannot', body([hello, assistant({...thought, cache_control: {}}, text('x'))])],
  ['signature: Field required', body([hello, assistant({...thought, signature: ''}, text('x'))])],
  ['Invalid `signature`', body([hello, assistant({...thought, thinking: 'changed'}, text('x'))])],
  ['cannot be `thinking`', body([hello, assistant(thought), hello])],
  ['trailing whitespace', body([hello, assistant(text('x '))])],
  ['immediately after: a', body([...asked, user(text('x'))])],
  ['immediately after: a', body(asked)],
  ['immediately after: a', body([...asked, user(text('x'), result('a'))])],
  ['unexpected `tool_use_id`', body([hello, assistant(text('x')), user(result('a'))])],
  ['unexpected `tool_use_id`', body([...asked, user(result('a'), result('b'))])],
  ['ids must be unique', body([hello, assistant(call('a'), call('a')), user(result('a'))])],
  ['ids must be unique', body([...asked, user(result('a')), assistant(call('a')), user(result('a'))])],
  ['a single result', body([...asked, user(result('a'), result('a'))])],
  ['tool_use.input', body([hello, assistant({...call('a'), input: ['x']}), user(result('a'))])],
  ['tool_use.input', body([hello, assistant({...call('a'), input: null}), user(result('a'))])],
  ['tool_use.id', body([hello, assistant(call('a b')), user(result('a b'))])],
  ['tool_use.name', body([hello, assistant({...call('a'), name: 'a b'}), user(result('a'))])],
  ['no low surrogate', body([user(text('a \ud83d b'))])],
  ['exceed max allowed size: 8000', body([user(image(png(10, 8_001)))])],
  ['many-image requests: 2000', body([user(...Array.from({length: 21}, () => image(png(2_001, 10))))])],
  ['appears to be a image/png', body([user(image(png(10, 10), 'image/jpeg'))])],
  ['media_type: Input', body([user(image(png(10, 10), 'image/bmp'))])],
  ['Invalid base64', body([user(image('not base64!'))])],
  ['Could not process', body([user(image('bm90IGFuIGltYWdlIGF0IGFsbCE='))])],
  ['Too many images', body([user(...Array.from({length: 101}, () => image(png(1, 1))))])],
])('a request is refused: %s', (words, request) => {
  expect(findBrokenRule(request)).toContain(words);
});

test('a prompt larger than the window is refused, with both sizes', () => {
  const problem = findBrokenRule(body([user(text('x'.repeat(4_000)))]), {contextWindow: 1_000});
  expect(problem).toMatch(/^prompt is too long: 10\d\d tokens > 1000 maximum$/);
});

test('thoughts of a reply go back all together and in their order', () => {
  const other: RequestBlock = {type: 'thinking', thinking: 'so', signature: signThought('so')};
  const facts = {sentThoughts: [[thought.signature!, other.signature!]]};
  for (const thoughts of [[other, thought], [thought]]) {
    expect(findBrokenRule(body([hello, assistant(...thoughts, text('x')), hello]), facts)).toContain(
      'cannot be modified',
    );
  }
});
