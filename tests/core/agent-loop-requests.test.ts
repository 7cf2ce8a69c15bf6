/** Runs whose model is behind a real server: what each request contains, and what the run makes of each reply. */

import {getEventListeners} from 'node:events';
import {describe, expect, it} from 'vitest';
import {type AgentRun, runAgent} from '../../src/core/agent-loop.ts';
import type {AgentEventBody} from '../../src/core/contract/events.ts';
import type {Tool} from '../../src/core/contract/tool.ts';
import {createBudget} from '../../src/core/turn/budget.ts';
import {History} from '../../src/core/turn/history.ts';
import {RunAborted} from '../../src/core/turn/run-ending.ts';
import {countTokens, NO_USAGE} from '../../src/core/util/messages.ts';
import {textResult} from '../../src/core/util/tool-output.ts';
import {type ModelSettings, modelAt, serve} from '../models/fixture.ts';
import type {Script} from '../support/messages-server.ts';
import {signThought} from '../support/request-rules.ts';
import {
  callTool,
  errorEvent,
  maxTokens,
  pauseTurn,
  type Reply,
  refuse,
  say,
  stall,
  status,
  thinkingThen,
  withUsage,
} from '../support/scripted-replies.ts';
import {until} from '../support/wait.ts';
import {FakeClock} from './fake-clock.ts';
import {ALLOWED_CALL, runFixture, tool} from './run-fixture.ts';

async function runAt(
  script: Script,
  tools: readonly Tool[] = [],
  change: Partial<AgentRun> = {},
  settings: Partial<ModelSettings> = {},
) {
  const server = await serve(script);
  const setup = runFixture(modelAt({baseURL: server.url, apiKey: 'key'}, settings), tools, change);
  return {...setup, server, bodies: () => server.requests.map(({body}) => body)};
}

const usage = (input: number, output: number) => ({
  ...{input_tokens: input, output_tokens: output},
  ...{cache_read_input_tokens: 0, cache_creation_input_tokens: 0},
});
const spent = (limit: number, tokens: number) => {
  const budget = createBudget({maxTokens: limit});
  budget.spend({...NO_USAGE, input_tokens: tokens}, 'm');
  return budget;
};
const ofType = <T extends AgentEventBody['type']>(events: readonly AgentEventBody[], type: T) =>
  events.filter((event): event is Extract<AgentEventBody, {type: T}> => event.type === type);

describe('the requests of a run', () => {
  it('contain earlier thinking with its signature, before the call that it led to', async () => {
    const thinking = 'I should look at it before I say anything about it.';
    const {run, bodies, events} = await runAt(
      [thinkingThen(thinking, callTool('look', {}, 'a')), say('ok')],
      [tool('look')],
    );
    expect(await runAgent(run)).toMatchObject({outcome: 'success', text: 'ok'});
    const thought = {type: 'thinking', thinking, signature: signThought(thinking)};
    expect(bodies()[1]?.messages[1]?.content).toMatchObject([thought, {type: 'tool_use', id: 'a'}]);
    const shown = ofType(events, 'thinking_delta').map((event) => event.text);
    expect(shown.join('')).toBe(thinking);
  });

  it('limit the output to the tokens that the budget has left', async () => {
    const budget = createBudget({maxTokens: 900});
    const script = [withUsage(callTool('look', {}), usage(50, 200)), withUsage(say('ok'), usage(1, 1))];
    const {run, bodies} = await runAt(script, [tool('look')], {budget}, {maxOutputTokens: 1000});
    await runAgent(run);
    const [first = 0, second = 0] = bodies().map((body) => body.max_tokens);
    // Without their inputs: the first one as estimated, the second one as the server counted the first.
    expect([first, second]).toEqual([900 - 44, expect.any(Number)]);
    expect(second).toBeGreaterThan(500);
    expect(second).toBeLessThan(650);
    const free = await runAt([say('ok')], [], {}, {maxOutputTokens: 1000});
    await runAgent(free.run);
    expect(free.bodies()[0]?.max_tokens).toBe(1000);
  });

  it('limit the output to what is set aside in the context window', async () => {
    const {run, bodies} = await runAt([say('ok')], [], {}, {maxOutputTokens: 9_000, contextWindow: 8_000});
    await runAgent(run);
    expect(bodies()[0]?.max_tokens).toBe(2_000);
  });

  it('contain the files that a person names in a queued prompt, where they typed it', async () => {
    const {run, bodies} = await runAt([say('ok')], [tool('read_file', (_, value) => textResult(`of ${value}`))]);
    run.inbox.put({id: '1', content: 'see @/etc/hostname', kind: 'prompt', startsTurn: true});
    run.inbox.put({id: '2', content: 'and @/etc/hosts', kind: 'prompt', typed: true, startsTurn: true});
    await runAgent(run);
    const sent = JSON.stringify(bodies()[0]?.messages);
    expect(sent).toContain("The user's prompt names @/etc/hosts.");
    expect(sent).not.toContain("The user's prompt names @/etc/hostname.");
  });

  it('are not made when the budget is used up', async () => {
    const {run, server} = await runAt([], [], {budget: spent(100, 100)});
    expect(await runAgent(run)).toMatchObject({outcome: 'limit', limit: '100 tokens', turns: 0});
    expect(server.requests).toHaveLength(0);
  });

  it('do not ask for a report in the first turn, even near the limit', async () => {
    const {run, bodies} = await runAt([say('ok')], [tool('look')], {budget: spent(1000, 950)});
    expect(await runAgent(run)).toMatchObject({outcome: 'success'});
    expect(bodies()[0]?.messages).toHaveLength(1);
    expect(bodies()[0]).not.toHaveProperty('tool_choice');
  });

  it('ask for a report, without tools, when 90 % of the time is used up', async () => {
    const clock = new FakeClock();
    const wait = tool('wait', () => {
      clock.advance(91_000);
      return textResult('waited');
    });
    const {run, bodies} = await runAt([callTool('wait', {}), say('a report')], [wait], {
      clock,
      limits: {maxTurns: 9, timeoutSeconds: 100},
    });
    expect(await runAgent(run)).toMatchObject({
      ...{outcome: 'timeout', timeout: 'timed out after 100 s', text: 'a report'},
    });
    expect(bodies()[1]).toMatchObject({tool_choice: {type: 'none'}});
    expect(JSON.stringify(bodies()[1]?.messages.at(-1))).toContain('You have reached the limit of this run');
  });

  it('ask at most three times to continue an answer that was cut at the output limit', async () => {
    const {run, bodies} = await runAt(() => maxTokens('more'));
    expect(await runAgent(run)).toMatchObject({
      ...{outcome: 'limit', limit: 'output tokens', text: 'moremoremoremore', turns: 4},
    });
    expect(bodies()).toHaveLength(4);
    expect(JSON.stringify(bodies()[3]?.messages.at(-1))).toContain('Go on exactly where it stopped');
  });

  it('contain the unchanged reply of a paused turn', async () => {
    const {run, bodies} = await runAt([thinkingThen('hm', pauseTurn('Still at it.')), say('done')]);
    expect(await runAgent(run)).toMatchObject({outcome: 'success', text: 'done'});
    expect(bodies()[1]?.messages.at(-1)).toMatchObject({
      ...{
        role: 'assistant',
        content: [
          {type: 'thinking', thinking: 'hm'},
          {type: 'text', text: 'Still at it.'},
        ],
      },
    });
  });
});

describe('the events and lines of a run', () => {
  it('include the raw events of the stream only when the run asks for them', async () => {
    const plain = await runAt([say('ok')]);
    await runAgent(plain.run);
    expect(ofType(plain.events, 'stream')).toEqual([]);
    const raw = await runAt([say('ok')], [], {rawStream: true});
    await runAgent(raw.run);
    expect(ofType(raw.events, 'stream')[0]?.event.type).toBe('message_start');
    expect(ofType(raw.events, 'stream').at(-1)?.event.type).toBe('message_stop');
  });

  it('include each retry, with its wait and reason', async () => {
    const {run, events} = await runAt([status(529), say('ok')]);
    await runAgent(run);
    expect(ofType(events, 'retry')).toMatchObject([{attempt: 2, reason: '529', waitMs: expect.any(Number)}]);
  });

  it('include the model, usage and stop reason of each reply', async () => {
    const {run, lines, events} = await runAt([withUsage(refuse('no'), usage(7, 3))]);
    expect(await runAgent(run)).toMatchObject({outcome: 'error', code: 'REFUSAL'});
    const facts = {model: 'm', usage: usage(7, 3), stopReason: 'refusal'};
    expect(lines.at(-2)).toMatchObject({type: 'message', ...facts});
    expect(ofType(events, 'message').at(-1)).toMatchObject({role: 'assistant', ...facts});
  });
});

describe('the result of a run', () => {
  it('counts the tokens of attempts that failed, also against the budget', async () => {
    const budget = createBudget({maxTokens: 10_000});
    const script = [withUsage(errorEvent('overloaded_error', 3), usage(100, 50)), withUsage(say('ok'), usage(110, 20))];
    const {run} = await runAt(script, [], {budget});
    // The failed attempt had streamed five tokens before it failed, although it had reported one.
    const used = {...usage(210, 25), cost_estimated: true};
    expect(await runAgent(run)).toMatchObject({usage: used, usageByModel: {m: used}});
    expect(countTokens(budget.usage)).toBe(235);
  });

  it('counts the tokens of a model call that timed out, also against the budget', async () => {
    const [budget, clock] = [createBudget({maxTokens: 10_000}), new FakeClock()];
    const replyLimits = {idleSeconds: 30, thinkingSeconds: 600};
    const {run, events} = await runAt([withUsage(stall(4), usage(100, 50))], [], {budget}, {clock, replyLimits});
    const ended = runAgent(run);
    await until(() => ofType(events, 'text_delta').length > 0, 'the text');
    expect(await clock.advanceUntil(ended, 10_000)).toMatchObject({
      ...{
        outcome: 'timeout',
        timeout: 'timed out: no byte from the model for 30 s',
        usage: {...usage(100, 10), cost_estimated: true},
      },
    });
    expect(countTokens(budget.usage)).toBe(110);
  });

  it('says how long the model took, without the time of the calls', async () => {
    const clock = new FakeClock();
    const look = tool('look', () => {
      clock.advance(1_000);
      return textResult('seen');
    });
    const script = (_: unknown, index: number) => {
      clock.advance(20);
      return index === 0 ? callTool('look', {}) : say('ok');
    };
    const {run} = await runAt(script, [look], {clock});
    expect(await runAgent(run)).toMatchObject({modelMs: 40, durationMs: 1_040});
  });

  it('goes on after a reply that filled the context window, and names the window when the replies fill it again', async () => {
    const full = {...say('half'), stopReason: 'model_context_window_exceeded' as const};
    const {run} = await runAt([full, say(', and the rest')]);
    expect(await runAgent(run)).toMatchObject({outcome: 'success', text: 'half, and the rest'});
    const {run: stuck} = await runAt([full, full, full, full]);
    expect(await runAgent(stuck)).toMatchObject({outcome: 'limit', limit: "the model's context window"});
  });

  it('has the code of the error of the model', async () => {
    const {run} = await runAt([status(401)]);
    expect(await runAgent(run)).toMatchObject({outcome: 'error', code: 'MODEL_AUTHENTICATION'});
  });

  it('is a timeout also after a question: the time counts again when the question is answered', async () => {
    const clock = new FakeClock();
    const hang = tool('hang', ({signal}) => {
      clock.advance(29_999);
      expect(signal.aborted).toBe(false);
      clock.advance(1);
      return new Promise(() => undefined);
    });
    const {run} = await runAt([callTool('hang', {})], [hang], {
      permit: async () => {
        clock.advance(3_600_000);
        return ALLOWED_CALL;
      },
      ...{clock, limits: {maxTurns: 9, timeoutSeconds: 30}},
    });
    expect(await runAgent(run)).toMatchObject({outcome: 'timeout', timeout: 'timed out after 30 s'});
  });

  it.each([
    ['Half an answer. \n', [{type: 'text', text: 'Half an answer.'}]],
    [' \n', undefined],
  ])('is followed by a valid history when the run was cut off after %j', async (partial, content) => {
    const stalled: Reply = stall(3, say(partial));
    const {run, abort, events} = await runAt([stalled]);
    const ended = runAgent(run);
    await expect.poll(() => ofType(events, 'text_delta').length).toBe(1);
    abort.abort(new RunAborted('stop'));
    expect(await ended).toMatchObject({outcome: 'stopped', text: partial.trim()});
    expect(run.history.messages[1]?.content).toEqual(content);
  });

  it('leaves no listener on the signal of the run or its budget, and no timer', async () => {
    const clock = new FakeClock();
    const budget = createBudget();
    const listen = budget.onUsedUp.bind(budget);
    let listeners = 0;
    budget.onUsedUp = (listener) => {
      const stop = listen(listener);
      listeners += 1;
      return () => {
        listeners -= 1;
        stop();
      };
    };
    const {run, abort} = await runAt([say('ok')], [], {budget, clock, limits: {maxTurns: 9, timeoutSeconds: 100}});
    await runAgent(run);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    expect([listeners, clock.timers]).toEqual([0, 0]);
  });

  it('is stopped, without a request, when the run was aborted before it began', async () => {
    const {run, abort, server} = await runAt([say('ok')]);
    abort.abort(new RunAborted('stop'));
    expect(await runAgent(run)).toMatchObject({outcome: 'stopped', turns: 0});
    expect(server.requests).toHaveLength(0);
  });

  it('leaves a history that a server takes back when the results of calls could not be written', async () => {
    let failures = 1;
    const history = new History({
      append: (line) => {
        if (
          line.type === 'message' &&
          Array.isArray(line.message.content) &&
          line.message.role === 'user' &&
          failures-- > 0
        )
          throw new Error('no space left on device');
      },
    });
    history.append({role: 'user', content: 'the task'});
    const {run} = await runAt([callTool('look', {}, 'a')], [tool('look')], {history});
    expect(await runAgent(run)).toMatchObject({outcome: 'error', error: 'no space left on device'});
    expect(history.messages.at(-1)).toMatchObject({
      ...{role: 'user', content: [{tool_use_id: 'a', content: 'Cut off before it ended.', is_error: true}]},
    });
  });
});
