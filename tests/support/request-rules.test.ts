import {expect, test} from 'vitest';
import type {MessagesBody, RequestBlock, RequestMessage} from './messages-server.ts';
import {findBrokenRule} from './request-rules.ts';

const text = (words: string): RequestBlock => ({type: 'text', text: words});
const user = (...content: RequestBlock[]): RequestMessage => ({role: 'user', content});
const assistant = (...content: RequestBlock[]): RequestMessage => ({role: 'assistant', content});
const call = (id: string): RequestBlock => ({type: 'tool_use', id, name: 'look', input: {}});
const result = (id: string): RequestBlock => ({type: 'tool_result', tool_use_id: id, content: 'seen'});
const thought: RequestBlock = {type: 'thinking', thinking: 'hm', signature: 'c2ln'};
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

test.each([
  ['at least one message', body([])],
  ['must have the role user', body([assistant(text('hi'))])],
  ['max_tokens', body([hello], {max_tokens: 0})],
  ['tool_choice needs tools', body([hello], {tool_choice: {type: 'none'}})],
  ['bad name', body([hello], {tools: [{name: 'a b'}]})],
  ['at most 4', body([user(...Array.from({length: 5}, () => ({...text('x'), cache_control: {}})))])],
  ['must not be empty', body([user()])],
  ['non-whitespace', body([user(text(' \n'))])],
  ['cache_control cannot', body([hello, assistant({...thought, cache_control: {}}, text('x'))])],
  ['needs its signature', body([hello, assistant({...thought, signature: ''}, text('x'))])],
  ['only be in assistant', body([user(thought, text('x'))])],
  ['trailing whitespace', body([hello, assistant(text('x '))])],
  ['has no tool_result', body([hello, assistant(call('a')), user(text('x'))])],
  ['has no tool_result', body([hello, assistant(call('a'))])],
  ['has no tool_use', body([hello, assistant(text('x')), user(result('a'))])],
  ['must be unique', body([hello, assistant(call('a'), call('a')), user(result('a'))])],
  ['a single result', body([hello, assistant(call('a')), user(result('a'), result('a'))])],
])('a request is refused: %s', (words, request) => {
  expect(findBrokenRule(request)).toContain(words);
});
