import {afterAll, describe, expect, it} from 'vitest';
import type {ModelProgress, StreamEvent} from '../../src/core/contract/model.ts';
import {ReplyBuilder} from '../../src/models/reply-builder.ts';
import {ask, converse} from './converse.ts';
import {project} from './project.ts';
import {closeIndexes, MAIN_TOOLS, specs} from './simple-tools.ts';

afterAll(closeIndexes);

const HELLO = [{role: 'user' as const, content: 'hello'}];
const WHERE = {messages: [{role: 'user' as const, content: 'where is track defined?'}], tools: specs(MAIN_TOOLS)};

describe('the offline model', () => {
  it('streams an answer as events of the Messages API, in small text deltas', async () => {
    const events: StreamEvent[] = [];
    const texts: string[] = [];
    const reply = await ask({messages: HELLO}, (progress) => {
      if (progress.type === 'raw') events.push(progress.event);
      if (progress.type === 'text') texts.push(progress.text);
    });
    const types = events.map(({type}) => type);
    expect(types[0]).toBe('message_start');
    expect(types.slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop']);
    expect(texts.length).toBeGreaterThan(10);
    expect(Math.max(...texts.map((text) => [...text].length))).toBe(32);
    expect(reply.content).toEqual([{type: 'text', text: texts.join(''), citations: null}]);
  });

  it.each([{messages: HELLO}, WHERE])('streams what its reply says (%#)', async (request) => {
    const builder = new ReplyBuilder();
    const reply = await ask(request, (progress) => {
      if (progress.type === 'raw') builder.add(progress.event);
    });
    const {id, content, stopReason, usage} = builder.finish('none');
    expect({...reply.usage, cost_usd: 0}).toEqual({...usage, cost_usd: 0});
    expect({id, content, stopReason}).toEqual({id: reply.id, content: reply.content, stopReason: reply.stopReason});
  });

  it('estimates tokens, costs nothing, and reports both while it answers', async () => {
    const used: ModelProgress[] = [];
    const reply = await ask({messages: HELLO}, (progress) => {
      if (progress.type === 'usage') used.push(progress);
    });
    expect(reply).toMatchObject({stopReason: 'end_turn', model: 'offline', usage: {cost_usd: 0}});
    expect(reply.usage.output_tokens).toBeGreaterThan(50);
    expect(reply.usage.input_tokens).toBeGreaterThan(5);
    expect(used).toMatchObject([
      {usage: {input_tokens: reply.usage.input_tokens, output_tokens: 1}},
      {usage: {...reply.usage}, model: 'offline'},
    ]);
  });

  it('calls tools in tool_use blocks whose input arrives as JSON deltas', async () => {
    let pieces = 0;
    const reply = await ask(WHERE, (progress) => {
      const delta = progress.type === 'raw' && progress.event.type === 'content_block_delta' && progress.event.delta;
      if (delta && delta.type === 'input_json_delta') pieces++;
    });
    expect(reply.stopReason).toBe('tool_use');
    expect(reply.content.map((block) => block.type)).toEqual(['tool_use', 'tool_use', 'tool_use']);
    expect(reply.content[0]).toMatchObject({name: 'symbols', input: {mode: 'definitions', name: 'track'}});
    expect(pieces).toBeGreaterThan(1);
    expect(new Set(reply.content.map((block) => ('id' in block ? block.id : ''))).size).toBe(3);
  });

  it('gives the same calls and answer when a conversation is repeated', async () => {
    const root = project();
    const once = await converse('what is track?', {root, tools: MAIN_TOOLS});
    const again = await converse('what is track?', {root, tools: MAIN_TOOLS});
    expect(again.messages).toEqual(once.messages);
  });

  it('ends with the reason of the signal when it is aborted, before and during the stream', async () => {
    const before = new AbortController();
    before.abort(new Error('before'));
    await expect(ask({messages: HELLO, signal: before.signal})).rejects.toThrow('before');
    const amid = new AbortController();
    const types: string[] = [];
    const reply = ask({messages: HELLO, signal: amid.signal}, (progress) => {
      types.push(progress.type);
      if (progress.type === 'text') amid.abort(new Error('amid'));
    });
    await expect(reply).rejects.toThrow('amid');
    expect(types.filter((type) => type === 'text')).toHaveLength(1);
  });
});
