import {describe, expect, it} from 'vitest';
import type {Message} from '../../../src/core/contract/model.ts';
import {type Quirk, toChatParams} from '../../../src/models/openai/request.ts';
import {hello} from '../fixture.ts';

const OPTIONS = {id: 'm', thinking: undefined, thinkingTokens: undefined, maxTokens: 1000, searchesWeb: false};
const toMessages = (messages: readonly unknown[], system = '') =>
  toChatParams(hello({system, messages: messages as Message[]}), OPTIONS, new Set()).messages;

describe('a request by chat completions', () => {
  it.each<[readonly Quirk[], object]>([
    [[], {max_tokens: 1000}],
    [['max_tokens'], {max_completion_tokens: 1000}],
    [['max_completion_tokens'], {max_tokens: 1000}],
    [['max_tokens', 'max_completion_tokens'], {}],
  ])('names its limit as the server takes it: without %j', (quirks, limit) => {
    expect(toChatParams(hello(), OPTIONS, new Set(quirks))).toEqual({
      ...{model: 'm', stream: true, stream_options: {include_usage: true}, ...limit},
      messages: [
        {role: 'system', content: 'system'},
        {role: 'user', content: 'hello'},
      ],
    });
  });

  it.each([
    [1, 'low'],
    [4095, 'low'],
    [4096, 'medium'],
    [16_383, 'medium'],
    [16_384, 'high'],
  ])('has for %s tokens of thinking the effort %s', (thinkingTokens, effort) => {
    expect(toChatParams(hello(), {...OPTIONS, thinkingTokens}, new Set()).reasoning_effort).toBe(effort);
  });

  it('leaves out an empty system prompt, empty replies, and the tool of servers that search', () => {
    const thought = {type: 'thinking', thinking: 'hm', signature: 'reasoning-1'};
    expect(
      toMessages(
        [
          {role: 'user', content: 'a'},
          {role: 'assistant', content: [thought]},
        ],
        ' \n',
      ),
    ).toEqual([{role: 'user', content: 'a'}]);
    const search = {name: 'web_search', input_schema: {type: 'object' as const}};
    expect(toChatParams(hello({tools: [search]}), OPTIONS, new Set())).not.toHaveProperty('tools');
  });

  it('has replies with their calls, and reasoning that these servers made after the prompt', () => {
    const call = {type: 'tool_use', id: 'a', name: 'look', input: {at: 1}};
    const thought = (signature: string) => ({type: 'thinking', thinking: `by ${signature}`, signature});
    expect(
      toMessages([
        {role: 'assistant', content: 'earlier'},
        {role: 'user', content: 'a'},
        {role: 'assistant', content: [thought('reasoning-1'), thought('other'), call]},
        {role: 'assistant', content: [{type: 'text', text: 'b'}]},
      ]).slice(0, 4),
    ).toEqual([
      {role: 'assistant', content: 'earlier'},
      {role: 'user', content: 'a'},
      {
        ...{role: 'assistant', content: null, reasoning_content: 'by reasoning-1'},
        tool_calls: [{id: 'a', type: 'function', function: {name: 'look', arguments: '{"at":1}'}}],
      },
      {role: 'assistant', content: 'b'},
    ]);
  });

  it('has results as text, one message each, and texts beside them as one', () => {
    const result = (id: string, content?: unknown) => ({type: 'tool_result', tool_use_id: id, content});
    const text = (words: string) => ({type: 'text', text: words});
    expect(
      toMessages([
        {role: 'user', content: [result('a'), result('b', [text('one'), text('two')]), result('c', [])]},
        {role: 'user', content: [result('d', 'x'), text('and'), text('more')]},
      ]),
    ).toEqual([
      {role: 'tool', tool_call_id: 'a', content: '(no output)'},
      {role: 'tool', tool_call_id: 'b', content: 'one\n\ntwo'},
      {role: 'tool', tool_call_id: 'c', content: '(no output)'},
      {role: 'tool', tool_call_id: 'd', content: 'x'},
      {role: 'user', content: 'and\n\nmore'},
    ]);
  });

  it('has images by their address, and says what it cannot send', () => {
    const content = [
      {type: 'image', source: {type: 'url', url: 'https://example.com/a.png'}},
      {type: 'document', source: {}},
    ];
    expect(toMessages([{role: 'user', content}])).toEqual([
      {
        role: 'user',
        content: [
          {type: 'image_url', image_url: {url: 'https://example.com/a.png'}},
          {type: 'text', text: '(A document was left out: this model cannot read it.)'},
        ],
      },
    ]);
  });
});
