import {describe, expect, it} from 'vitest';
import type {Message} from '../../../src/core/contract/model.ts';
import {getThinkingStyle, type ThinkingStyle, toParams} from '../../../src/models/anthropic/params.ts';
import type {CallOptions} from '../../../src/models/protocol.ts';
import {hello} from '../fixture.ts';

const OPTIONS: CallOptions = {
  ...{id: 'm', thinking: undefined, thinkingTokens: undefined, maxTokens: 100_000, searchesWeb: false},
};

/** What the request says of thinking. */
function getThinking(change: Partial<CallOptions>, style: ThinkingStyle, messages?: readonly Message[]) {
  const params = toParams(hello(messages && {messages}), {...OPTIONS, ...change}, style);
  const {thinking, output_config: config} = params;
  const budget = thinking && 'budget_tokens' in thinking ? [thinking.budget_tokens] : [];
  return [thinking?.type, ...budget, ...(config?.effort ? [config.effort] : [])].join(' ');
}

describe('a request of the Messages API', () => {
  it.each([
    ['claude-opus-4-6', 'adaptive'],
    ['claude-sonnet-5-5', 'adaptive'],
    ['claude-opus-5-0-20270101', 'adaptive'],
    ['anthropic/claude-sonnet-4.10', 'adaptive'],
    ['claude-6-1', 'adaptive'],
    ['claude-opus-4-5', 'budget'],
    ['claude-opus-4-20250514', 'budget'],
    ['claude-3-7-sonnet-20250219', 'budget'],
    ['qwen3-9', 'budget'],
  ])('asks %s to think by the style %s', (id, style) => {
    expect(getThinkingStyle(id)).toBe(style);
  });

  it.each<[Partial<CallOptions>, ThinkingStyle, string]>([
    [{}, 'adaptive', ''],
    [{}, 'budget', ''],
    [{thinking: 'high'}, 'none', ''],
    [{thinking: 'off'}, 'adaptive', 'disabled'],
    [{thinking: 'high', thinkingTokens: 0}, 'budget', 'disabled'],
    [{thinking: 'off', thinkingTokens: 3000}, 'budget', 'enabled 3000'],
    [{thinking: 'low'}, 'adaptive', 'adaptive low'],
    [{thinking: 'low', thinkingTokens: 3000}, 'adaptive', 'enabled 3000'],
    [{thinking: 'low'}, 'budget', 'enabled 2048'],
    [{thinking: 'medium'}, 'budget', 'enabled 8192'],
    [{thinking: 'high'}, 'budget', 'enabled 24576'],
    [{thinkingTokens: 10}, 'budget', 'enabled 1024'],
    [{thinking: 'high', maxTokens: 4001}, 'budget', 'enabled 3000'],
    [{thinking: 'high', maxTokens: 1366}, 'budget', 'enabled 1024'],
    [{thinking: 'high', maxTokens: 1365}, 'budget', ''],
  ])('with %j and the style %s asks for thinking by %j', (change, style, asked) => {
    expect(getThinking(change, style)).toBe(asked);
  });

  it('asks for no budget in the middle of a turn whose reply did not think', () => {
    const call = {type: 'tool_use', id: 'a', name: 'look', input: {}} as const;
    const prompt: Message = {role: 'user', content: 'look'};
    const result: Message = {role: 'user', content: [{type: 'tool_result', tool_use_id: 'a', content: 'x'}]};
    const reply = (...blocks: readonly object[]) => ({role: 'assistant', content: [...blocks, call]}) as Message;
    const asked = (...messages: Message[]) => getThinking({thinking: 'low'}, 'budget', messages);
    expect(asked(prompt, reply(), result)).toBe('');
    expect(asked(prompt, {role: 'assistant', content: 'I look.'}, result)).toBe('');
    expect(asked(prompt, reply({type: 'thinking', thinking: 'hm', signature: 's'}), result)).toBe('enabled 2048');
    expect(asked(prompt, reply({type: 'redacted_thinking', data: 'x'}), result)).toBe('enabled 2048');
    expect(asked(prompt, reply(), result, prompt)).toBe('enabled 2048');
    expect(asked(result)).toBe('enabled 2048');
  });

  it('lets the server search the web by its own tool, where it does', () => {
    const tools = [
      {name: 'web_search', description: 'ours', input_schema: {type: 'object' as const}},
      {name: 'look', input_schema: {type: 'object' as const}},
    ];
    const named = (searchesWeb: boolean) => toParams(hello({tools}), {...OPTIONS, searchesWeb}, 'none').tools;
    expect(named(false)).toMatchObject([{name: 'look'}]);
    expect(named(true)?.[0]).toEqual({type: 'web_search_20250305', name: 'web_search', max_uses: 8});
    expect(named(true)?.[1]).toMatchObject({name: 'look', cache_control: {type: 'ephemeral'}});
  });

  it('has the limit and what was asked, and no more', () => {
    const params = (change: object) => toParams(hello({system: ' ', ...change}), OPTIONS, 'none');
    expect(params({})).toMatchObject({model: 'm', max_tokens: 100_000, stream: true});
    expect(Object.keys(params({})).toSorted()).toEqual(['max_tokens', 'messages', 'model', 'stream']);
    expect(params({mayCallTools: false})).not.toHaveProperty('tool_choice');
    const tools = [{name: 'look', input_schema: {type: 'object' as const}}];
    expect(params({mayCallTools: false, tools})).toMatchObject({tool_choice: {type: 'none'}});
    expect(params({tools})).not.toHaveProperty('tool_choice');
    const schema = {type: 'object'};
    expect(params({answerSchema: schema}).output_config).toEqual({format: {type: 'json_schema', schema}});
  });
});
