/** What servers send in place of a well-formed stream, and how connections end. */
import {describe, expect, it} from 'vitest';
import {fastClock} from '../support/fast-clock.ts';
import {
  callTool,
  cut,
  drip,
  endEarly,
  garbledEvent,
  pings,
  rawEvents,
  refuse,
  say,
  stall,
  thinkingThen,
  thinkOnly,
} from '../support/messages-server.ts';
import {signThought} from '../support/request-rules.ts';
import {ask, hello, modelAt, retries, serve, texts, thoughts} from './fixture.ts';

describe('a whole reply', () => {
  it.each([
    ['hangs', stall(Number.POSITIVE_INFINITY, say('All of it.'))],
    ['breaks', cut(Number.POSITIVE_INFINITY, say('All of it.'))],
    ['brings pings without an end', pings(Number.POSITIVE_INFINITY, 10, say('All of it.'))],
    ['brings what is no event', garbledEvent(Number.POSITIVE_INFINITY, say('All of it.'))],
  ])('is taken at once, though its connection %s', async (_, script) => {
    const {reply, server, progress} = await ask([script]);
    expect(await reply).toMatchObject({content: [{text: 'All of it.'}], stopReason: 'end_turn'});
    expect(server.requests).toHaveLength(1);
    expect(retries(progress)).toBe(0);
  });

  it('leaves its connection to the next request, and closes one that stays open', async () => {
    const server = await serve([say('one'), stall(Number.POSITIVE_INFINITY, say('two'))]);
    const model = modelAt({baseURL: server.url, apiKey: 'key'});
    await model.reply(hello(), () => undefined);
    await model.reply(hello(), () => undefined);
    expect(server.requests[0]).toMatchObject({abandoned: false});
    await expect.poll(() => server.requests[1]?.abandoned).toBe(true);
  });
});

describe('a server', () => {
  const whole = thinkingThen('Hm.', {
    ...callTool('bash', {command: 'ls'}, 'toolu_1', 'Look:'),
    usage: {output_tokens: 9},
  });

  it.each(['json', 'data lines'] as const)('that answers with %s is understood', async (format) => {
    const {reply, progress} = await ask([{...whole, format}]);
    expect(await reply).toMatchObject({
      stopReason: 'tool_use',
      content: [
        {type: 'thinking', thinking: 'Hm.', signature: signThought('Hm.')},
        {type: 'text', text: 'Look:'},
        {type: 'tool_use', id: 'toolu_1', input: {command: 'ls'}},
      ],
      usage: {output_tokens: 9},
    });
    expect(texts(progress)).toBe('Look:');
    expect(thoughts(progress)).toBe('Hm.');
    expect(retries(progress)).toBe(0);
  });

  it.each([
    ['half an event', garbledEvent(3)],
    ['an event that is no object', rawEvents(null as never, {type: 'message_start'})],
    ['an event without its fields', rawEvents({type: 'message_start'})],
    ['a block without a type', rawEvents({type: 'content_block_start', index: 0, content_block: {}})],
    ['an end before the reply is whole', endEarly(4)],
  ])('that sends %s is asked again', async (_, fault) => {
    const {reply, progress} = await ask([fault, say('at last')]);
    expect((await reply).content).toMatchObject([{text: 'at last'}]);
    expect(retries(progress)).toBe(1);
  });

  it('that sends an error in place of the message, or a refusal of the request as an event, is heard', async () => {
    const refused = {type: 'error', error: {type: 'invalid_request_error', message: 'messages: too many'}};
    const {reply, server} = await ask([rawEvents(refused)]);
    await expect(reply).rejects.toMatchObject({kind: 'bad_request', message: /messages: too many$/});
    expect(server.requests).toHaveLength(1);
  });

  it('that drips is given up, and asked again', async () => {
    const {reply, server, progress} = await ask([drip(300), say('at last')], {
      clock: fastClock(50),
      replyLimits: {idleSeconds: 0, thinkingSeconds: 600},
    });
    expect((await reply).content).toMatchObject([{text: 'at last'}]);
    expect(progress).toContainEqual(
      expect.objectContaining({type: 'retry', reason: 'the stream brought less than 120 bytes in 120 s'}),
    );
    expect(server.requests).toHaveLength(2);
  });

  it('that sends pings while the model thinks is waited for, up to limits.thinkingSeconds', async () => {
    const replyLimits = {idleSeconds: 50, thinkingSeconds: 100};
    const {reply, server} = await ask([pings(1, 20)], {clock: fastClock(50), replyLimits});
    const began = performance.now();
    await expect(reply).rejects.toMatchObject({kind: 'idle', message: 'no content from the model for 100 s'});
    expect(performance.now() - began).toBeGreaterThan(1_500);
    expect(server.requests).toHaveLength(1);
  });
});

describe('the loop is told', () => {
  it('that the model only thought', async () => {
    const {reply} = await ask([thinkOnly()]);
    expect(await reply).toMatchObject({stopReason: 'end_turn', content: [{type: 'thinking'}]});
  });

  it('why the model refused', async () => {
    const details = {category: 'cyber', explanation: 'It could harm.'};
    expect(await (await ask([refuse('', details)])).reply).toMatchObject({stopReason: 'refusal', refusal: details});
    const unknown = await (await ask([refuse('No.', {category: null, explanation: null})])).reply;
    expect(unknown.refusal).toEqual({});
    expect(await (await ask([say('ok')])).reply).not.toHaveProperty('refusal');
  });
});
