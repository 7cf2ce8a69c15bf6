import {Anthropic} from '@anthropic-ai/sdk';
import {afterAll, describe, expect, it} from 'vitest';
import {createOfflineFetch} from '../../src/offline-model/fetch.ts';
import {collectMessage} from '../support/collect-message.ts';
import {client, converse} from './converse.ts';
import {project} from './project.ts';
import {closeIndexes, MAIN_TOOLS, specs} from './simple-tools.ts';

afterAll(closeIndexes);

const ASK = {model: 'offline', max_tokens: 1000} as const;
const HELLO = [{role: 'user' as const, content: 'hello'}];

describe('the fetch of the offline model', () => {
  it('streams an answer as events of the Messages API, in small text deltas', async () => {
    const types: string[] = [];
    const texts: string[] = [];
    for await (const event of await client().messages.create({...ASK, stream: true, messages: HELLO})) {
      types.push(event.type);
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') texts.push(event.delta.text);
    }
    expect(types[0]).toBe('message_start');
    expect(types.slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop']);
    expect(texts.length).toBeGreaterThan(10);
    expect(Math.max(...texts.map((text) => text.trim().split(/\s+/).length))).toBeLessThanOrEqual(4);
  });

  it('answers without a stream as one message with the same text and an estimate of tokens', async () => {
    const streamed = await collectMessage(await client().messages.create({...ASK, stream: true, messages: HELLO}));
    const whole = await client().messages.create({...ASK, messages: HELLO});
    expect(whole.content).toEqual(streamed.content);
    expect(whole.stop_reason).toBe('end_turn');
    expect(streamed.usage.output_tokens).toBeGreaterThan(50);
    expect(streamed.usage.input_tokens).toBeGreaterThan(5);
  });

  it('calls tools in tool_use blocks whose input arrives as JSON deltas', async () => {
    const messages = [{role: 'user' as const, content: 'where is track defined?'}];
    const request = {...ASK, messages, tools: specs(MAIN_TOOLS)};
    let pieces = 0;
    for await (const event of await client().messages.create({...request, stream: true})) {
      if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta') pieces++;
    }
    const reply = await collectMessage(await client().messages.create({...request, stream: true}));
    expect(reply.stop_reason).toBe('tool_use');
    expect(reply.content.map((block) => block.type)).toEqual(['tool_use', 'tool_use']);
    expect(reply.content[0]).toMatchObject({name: 'symbols', input: {mode: 'definitions', name: 'track'}});
    expect(pieces).toBeGreaterThan(1);
    expect(new Set(reply.content.map((block) => ('id' in block ? block.id : ''))).size).toBe(2);
  });

  it('gives equal bytes for equal requests', async () => {
    const body = JSON.stringify({...ASK, stream: true, messages: HELLO, tools: specs(MAIN_TOOLS)});
    const bytes = async () => (await createOfflineFetch()('http://offline/v1/messages', {method: 'POST', body})).text();
    expect(await bytes()).toBe(await bytes());
  });

  it('gives the same calls and answer when a conversation is repeated', async () => {
    const root = project();
    const once = await converse('what is track?', {root, tools: MAIN_TOOLS});
    const again = await converse('what is track?', {root, tools: MAIN_TOOLS});
    expect(again.messages).toEqual(once.messages);
  });

  it('ends at once when it is aborted, before and during the stream', async () => {
    const before = new AbortController();
    before.abort();
    const early = client().messages.create({...ASK, messages: HELLO}, {signal: before.signal});
    await expect(early).rejects.toThrow(Anthropic.APIUserAbortError);
    const amid = new AbortController();
    const types: string[] = [];
    for await (const event of await client().messages.create(
      {...ASK, stream: true, messages: HELLO},
      {signal: amid.signal},
    )) {
      types.push(event.type);
      if (event.type === 'content_block_delta') amid.abort();
    }
    expect(types).toContain('content_block_delta');
    expect(types).not.toContain('message_stop');
  });

  it('says what is wrong with an invalid request', async () => {
    const fetch = createOfflineFetch();
    const broken = await fetch('http://offline/v1/messages', {method: 'POST', body: '{'});
    expect(broken.status).toBe(400);
    expect(await broken.json()).toMatchObject({type: 'error', error: {type: 'invalid_request_error'}});
    expect((await fetch('http://offline/v1/models')).status).toBe(404);
  });

  it('counts tokens by the same estimate', async () => {
    const counted = await client().messages.countTokens({model: 'offline', messages: HELLO});
    expect(counted.input_tokens).toBeGreaterThan(5);
  });
});
