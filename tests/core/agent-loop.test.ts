import {once} from 'node:events';
import {describe, expect, it, vi} from 'vitest';
import {type AgentRun, runAgent} from '../../src/core/agent-loop.ts';
import type {Message, ToolUse} from '../../src/core/contract/model.ts';
import type {Permit} from '../../src/core/contract/permission.ts';
import type {Tool} from '../../src/core/contract/tool.ts';
import {RunAborted} from '../../src/core/turn/run-ending.ts';
import {ModelError} from '../../src/core/util/errors.ts';
import {NO_USAGE} from '../../src/core/util/messages.ts';
import {textResult} from '../../src/core/util/tool-output.ts';
import {stopTimers} from '../support/fake-time.ts';
import {settle} from '../support/wait.ts';
import {FakeClock} from './fake-clock.ts';
import {ALLOWED_CALL, resultsIn, runFixture, tool} from './run-fixture.ts';
import {call, calls, ScriptedModel, say, text} from './scripted-model.ts';

/** Each call has one result in the next message, in order. Model servers reject a history without that. */
function expectValidHistory(messages: readonly Message[]): void {
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant' || typeof message.content === 'string') continue;
    const ids = message.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    expect(resultsIn(messages[index + 1]).map((block) => block.tool_use_id)).toEqual(ids);
  }
}

describe('the agent loop', () => {
  it('ends with the answer when the model calls no tool', async () => {
    const {run} = runFixture(new ScriptedModel([say('forty-two')]));
    expect(await runAgent(run)).toMatchObject({outcome: 'success', text: 'forty-two', turns: 1});
  });

  it('sends the result of a call to the model and continues', async () => {
    const model = new ScriptedModel([calls(call('look', {value: 'x'})), say('seen')]);
    const {run, lines} = runFixture(model, [tool('look', (_, value) => textResult(`saw ${value}`))]);
    const result = await runAgent(run);
    expect(result).toMatchObject({outcome: 'success', text: 'seen', turns: 2});
    expect(resultsIn(model.requests[1]?.messages.at(-1))).toMatchObject([{content: 'saw x'}]);
    expect(result.usage.input_tokens).toBe(20);
    expect(lines.filter((line) => line.type === 'message')).toHaveLength(4);
  });

  it.each([
    ['plain', ['ready in /tmp, plain', 'reply', 'reply']],
    [undefined, ['ready in /tmp, undefined', 'reply', 'reply']],
  ] as const)(
    'lets a tool get ready when the model begins to write a call of it, before the reply has ended (%s)',
    async (launch, expected) => {
      const log: string[] = [];
      const look: Tool = {
        ...tool('look', () => textResult('seen')),
        kind: 'execute',
        prepare: ({cwd}, unasked) => void log.push(`ready in ${cwd}, ${unasked}`),
      };
      const model = new ScriptedModel([calls(call('look', {value: 'x'})), say('done')]);
      const reply = model.reply.bind(model);
      vi.spyOn(model, 'reply').mockImplementation(async (request, onProgress) => {
        const content_block = {...(call('look', {}) as object), type: 'tool_use'} as ToolUse;
        const started = {type: 'content_block_start', index: 0, content_block} as const;
        if (model.requests.length === 0) onProgress({type: 'raw', event: started});
        log.push('reply');
        return reply(request, onProgress);
      });
      const {run} = runFixture(model, [look]);
      const permit = Object.assign(run.permit, {launchUnasked: () => launch});
      await runAgent({...run, permit});
      expect(log).toEqual(expected);
    },
  );

  it('gets nothing ready after a reply that failed', async () => {
    stopTimers();
    const prepare = vi.fn();
    const model = new ScriptedModel([]);
    vi.spyOn(model, 'reply').mockImplementation(async (_, onProgress) => {
      onProgress({type: 'usage', usage: NO_USAGE, model: 'm', isCounted: false});
      await vi.advanceTimersByTimeAsync(10);
      throw new Error('no connection');
    });
    const {run} = runFixture(model, [{...tool('look', () => textResult('seen')), prepare}]);
    await runAgent(run);
    vi.advanceTimersByTime(1_000);
    expect(prepare).not.toHaveBeenCalled();
    expect(model.reply).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['the calls of a reply have ended', [calls(call('look', {value: 'x'})), say('done')], 1],
    ['a reply fails', [], 1],
  ] as const)('ends what a tool got ready when %s', async (_, replies, times) => {
    const expectNothing = vi.fn(async () => undefined);
    const look: Tool = {...tool('look', () => textResult('seen')), expectNothing};
    const {run} = runFixture(new ScriptedModel([...replies]), [look]);
    await runAgent(run).catch(() => undefined);
    expect(expectNothing).toHaveBeenCalledTimes(times);
  });

  it('runs calls that only read at the same time, and returns the results in the order of the calls', async () => {
    const log: string[] = [];
    const reader = tool('reader', async (_, value) => {
      log.push(`${value} begins`);
      if (value === 'slow') await settle();
      log.push(`${value} ends`);
      return textResult(value);
    });
    const model = new ScriptedModel([
      calls(call('reader', {value: 'slow'}, 'a'), call('reader', {value: 'quick'}, 'b')),
      say('ok'),
    ]);
    const {run} = runFixture(model, [reader]);
    await runAgent(run);
    expect(log).toEqual(['slow begins', 'quick begins', 'quick ends', 'slow ends']);
    expect(resultsIn(run.history.messages[2]).map((block) => block.content)).toEqual(['slow', 'quick']);
  });

  it('runs calls that write one after the other, and calls after them only when they ended', async () => {
    const log: string[] = [];
    const step = async (name: string) => {
      log.push(`${name} begins`);
      await settle();
      log.push(`${name} ends`);
      return textResult(name);
    };
    const writer = tool('writer', (_, value) => step(value), [{kind: 'write', path: '/tmp/x'}]);
    const reader = tool('reader', (_, value) => step(value), [{kind: 'read', path: '/tmp/x'}]);
    const model = new ScriptedModel([
      calls(call('writer', {value: 'w1'}, '1'), call('writer', {value: 'w2'}, '2'), call('reader', {value: 'r'}, '3')),
      say('ok'),
    ]);
    await runAgent(runFixture(model, [writer, reader]).run);
    expect(log).toEqual(['w1 begins', 'w1 ends', 'w2 begins', 'w2 ends', 'r begins', 'r ends']);
  });

  it('resolves the paths of a call when it is decided, since an earlier call may have moved the working directory', async () => {
    const decided: string[] = [];
    const move = tool(
      'move',
      ({workspace}) => {
        workspace.cwd = '/elsewhere';
        return textResult('moved');
      },
      [{kind: 'run', command: 'cd'}],
    );
    const look: Tool = {
      ...tool('look'),
      access: (_, workspace) => [{kind: 'read', path: `${workspace.cwd}/key`}],
    };
    const model = new ScriptedModel([calls(call('move', {}, 'a'), call('look', {}, 'b')), say('ok')]);
    const {run} = runFixture(model, [move, look], {
      permit: async ({accesses}) => {
        for (const access of accesses) if (access.kind === 'read') decided.push(access.path);
        return ALLOWED_CALL;
      },
    });
    await runAgent(run);
    expect(decided).toEqual(['/elsewhere/key']);
  });

  it('cuts a long result in the middle and saves the whole', async () => {
    const model = new ScriptedModel([calls(call('look', {}, 'long')), say('ok')]);
    const whole = `begin${'x'.repeat(60_000)}end`;
    const {run, savedOutputs} = runFixture(model, [tool('look', () => textResult(whole))]);
    await runAgent(run);
    const content = String(resultsIn(run.history.messages[2])[0]?.content);
    expect(content.length).toBeLessThan(31_000);
    expect(content).toMatch(/^begin[\s\S]*30,008 characters cut; the whole output: \/outputs\/long[\s\S]*end$/);
    expect(savedOutputs.get('long')).toBe(whole);
  });

  it('makes N model calls in a run of N turns, and forbids tools in the last one, the report', async () => {
    const model = new ScriptedModel((request, index) =>
      request.mayCallTools ? calls(call('look', {}, `c${index}`)) : say('what I have'),
    );
    const {run} = runFixture(model, [tool('look')], {limits: {maxTurns: 4, timeoutSeconds: 0}});
    expect(await runAgent(run)).toMatchObject({outcome: 'limit', limit: '4 turns', text: 'what I have', turns: 4});
    expect(model.requests.map((request) => request.mayCallTools)).toEqual([true, true, true, false]);
    expectValidHistory(run.history.messages);
  });

  it('ends at the turn limit even if the model calls tools in its report', async () => {
    const model = new ScriptedModel((_, index) => ({
      content: [text(`step ${index}`), call('look', {}, `c${index}`)],
      stop: 'tool_use',
    }));
    const {run} = runFixture(model, [tool('look')], {limits: {maxTurns: 3, timeoutSeconds: 0}});
    expect(await runAgent(run)).toMatchObject({outcome: 'limit', text: 'step 0\n\nstep 1\n\nstep 2', turns: 3});
    expectValidHistory(run.history.messages);
  });

  it('lets a run of one turn answer without a report, and ends it when it calls a tool', async () => {
    const limits = {maxTurns: 1, timeoutSeconds: 0};
    expect(await runAgent(runFixture(new ScriptedModel([say('yes')]), [], {limits}).run)).toMatchObject({
      outcome: 'success',
    });
    const {run} = runFixture(new ScriptedModel([calls(call('look', {}))]), [tool('look')], {limits});
    expect(await runAgent(run)).toMatchObject({outcome: 'limit', limit: '1 turn'});
    expectValidHistory(run.history.messages);
  });

  it('asks the model to continue an answer that was cut at the output limit, and joins the parts', async () => {
    const model = new ScriptedModel([{content: [text('one, ')], stop: 'max_tokens'}, say('two')]);
    expect(await runAgent(runFixture(model).run)).toMatchObject({
      outcome: 'success',
      text: expect.stringMatching(/^one,\s?two$/),
    });
  });

  it('continues after pause_turn, and ends with an error after a refusal', async () => {
    const paused = new ScriptedModel([{content: [text('hm')], stop: 'pause_turn'}, say('done')]);
    expect(await runAgent(runFixture(paused).run)).toMatchObject({outcome: 'success', text: 'done'});
    const refused = new ScriptedModel([{content: [text('I will not')], stop: 'refusal'}]);
    expect(await runAgent(runFixture(refused).run)).toMatchObject({
      outcome: 'error',
      code: 'REFUSAL',
      text: 'I will not',
    });
  });

  it('returns the partial text and the reason when the model fails', async () => {
    const fail = new ModelError('stream', 'the stream broke off', {retryable: true});
    const {run} = runFixture(new ScriptedModel([{fail, partial: 'half an ans'}]));
    expect(await runAgent(run)).toMatchObject({outcome: 'error', error: 'the stream broke off', text: 'half an ans'});
    expect(run.history.messages.at(-1)).toMatchObject({role: 'assistant', content: [{text: 'half an ans'}]});
  });

  it('counts the tokens of a model call that was aborted', async () => {
    const model = new ScriptedModel([{hang: true, partial: 'half', used: 70}]);
    const {run, abort} = runFixture(model);
    const ended = runAgent(run);
    await model.asked();
    abort.abort(new RunAborted('stop'));
    expect(await ended).toMatchObject({outcome: 'stopped', usage: {input_tokens: 70}});
  });

  it('keeps the partial text and marks the interruption when the user interrupts', async () => {
    const model = new ScriptedModel([{hang: true, partial: 'so far'}]);
    const {run, abort} = runFixture(model);
    const ended = runAgent(run);
    await model.asked();
    abort.abort(new RunAborted('user'));
    expect(await ended).toMatchObject({outcome: 'stopped', text: 'so far'});
    expect(run.history.messages.at(-1)).toEqual({role: 'user', content: '[Interrupted by the user]'});
  });

  it('gives every call a result when a tool is interrupted, also calls that had not begun', async () => {
    const begun = Promise.withResolvers<void>();
    const wait = tool(
      'wait',
      async ({signal}) => {
        begun.resolve();
        await once(signal, 'abort');
        return textResult('partial output');
      },
      [{kind: 'run', command: 'sleep'}],
    );
    const {run, abort} = runFixture(new ScriptedModel([calls(call('wait', {}, 'a'), call('wait', {}, 'b'))]), [wait], {
      permit: async () => ALLOWED_CALL,
    });
    const ended = runAgent(run);
    await begun.promise;
    abort.abort(new RunAborted('user'));
    expect(await ended).toMatchObject({outcome: 'stopped'});
    expectValidHistory(run.history.messages);
    expect(resultsIn(run.history.messages[2]).map((block) => block.content)).toEqual([
      'partial output',
      'Not run: interrupted by the user.',
    ]);
  });

  it('waits for a second for a tool that ignores the abort, and not longer', async () => {
    stopTimers();
    const begun = Promise.withResolvers<void>();
    const endless = tool('endless', () => {
      begun.resolve();
      return new Promise(() => undefined);
    });
    const {run, abort} = runFixture(new ScriptedModel([calls(call('endless', {}))]), [endless]);
    let hasEnded = false;
    const ended = runAgent(run).finally(() => {
      hasEnded = true;
    });
    await begun.promise;
    abort.abort(new RunAborted('user'));
    await vi.advanceTimersByTimeAsync(999);
    expect(hasEnded).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await ended).toMatchObject({outcome: 'stopped'});
    expectValidHistory(run.history.messages);
  });

  it('returns the partial text and names the time limit when the time is used up', async () => {
    const [clock, model] = [new FakeClock(), new ScriptedModel([{hang: true, partial: 'found a.ts:1'}])];
    const ended = runAgent(runFixture(model, [], {clock, limits: {maxTurns: 9, timeoutSeconds: 30}}).run);
    await model.asked();
    clock.advance(29_999);
    expect(model.requests[0]!.signal.aborted).toBe(false);
    clock.advance(1);
    expect(await ended).toMatchObject({outcome: 'timeout', timeout: 'timed out after 30 s', text: 'found a.ts:1'});
  });

  it('goes on without what a server refuses with no word of its cause', async () => {
    const fail = new ModelError('bad_request', 'the model server refused the request (400): Bad Request', {
      ...{retryable: false, status: 400},
    });
    const model = new ScriptedModel([calls(call('look', {})), {fail}, say('done')]);
    const {run} = runFixture(model, [tool('look')]);
    expect(await runAgent(run)).toMatchObject({outcome: 'success', text: 'done'});
    expect(JSON.stringify(model.requests[2]?.messages)).toContain('left out a part of the conversation');
  });

  it.each([
    ['does not count the time in which a person is asked', true, 'success'],
    ['counts the time in which hooks look at a call', false, 'timeout'],
  ])('%s', async (_, isPerson, outcome) => {
    const model = new ScriptedModel([calls(call('look', {})), say('ok')]);
    const clock = new FakeClock();
    const permit: Permit = async ({deadline}) => {
      if (isPerson) deadline?.pause();
      clock.advance(3_600_000);
      if (isPerson) deadline?.resume();
      return ALLOWED_CALL;
    };
    const {run} = runFixture(model, [tool('look')], {permit, clock, limits: {maxTurns: 9, timeoutSeconds: 30}});
    expect(await runAgent(run)).toMatchObject({outcome});
  });

  it('delivers queued messages at the start of a turn, and starts one more turn for a message that comes in the last one', async () => {
    const model = new ScriptedModel((_, index) => {
      if (index === 0) setup.run.inbox.put({id: '1', content: 'and also this', kind: 'prompt', startsTurn: true});
      return say(`answer ${index}`);
    });
    const setup: ReturnType<typeof runFixture> = runFixture(model);
    expect(await runAgent(setup.run)).toMatchObject({outcome: 'success', text: 'answer 1'});
    expect(setup.run.history.messages[2]).toEqual({role: 'user', content: 'and also this'});
  });

  it('delivers what waits before the prompts, each as what it is, and emits it', async () => {
    const model = new ScriptedModel([say('ok')]);
    const {run, lines, events} = runFixture(model);
    const announcement = {
      runId: 'r',
      round: 1,
      agent: 'explore',
      outcome: 'success',
      reason: '',
      text: 'found',
    } as const;
    const put = (kind: 'prompt' | 'announcement' | 'companion', content: string, more = {}) =>
      run.inbox.put({id: content, kind, content, startsTurn: true, ...more});
    put('prompt', 'and this?');
    put('announcement', 'a run has ended', {announcement});
    put('announcement', 'a word of the runtime');
    put('companion', 'the output', {label: '!npm test'});
    await runAgent(run);
    const delivered = ['a run has ended', 'a word of the runtime', 'the output', 'and this?'];
    expect(lines.slice(1, 5)).toMatchObject([
      {announcement, message: {content: delivered[0]}},
      {message: {role: 'user', content: delivered[1]}},
      {companion: '!npm test', message: {content: delivered[2]}},
      {prompt: true, message: {content: delivered[3]}},
    ]);
    expect(['announcement', 'companion', 'prompt'].filter((key) => key in lines[2]!)).toEqual([]);
    expect(events.filter(({type}) => type === 'message').slice(0, 4)).toMatchObject(
      delivered.map((content) => ({role: 'user', content})),
    );
  });

  it('waits for the tools that servers bring before its first request', async () => {
    const model = new ScriptedModel([say('ok')]);
    const gate = Promise.withResolvers<void>();
    let isReady = false;
    const moreTools: AgentRun['moreTools'] = {
      ready: () => gate.promise,
      list: () => (isReady ? [tool('brought')] : []),
      find: () => undefined,
      readMention: () => undefined,
    };
    const ended = runAgent(runFixture(model, [], {moreTools}).run);
    await settle();
    isReady = true;
    gate.resolve();
    await ended;
    expect(model.requests[0]?.tools.map(({name}) => name)).toEqual(['brought']);
  });

  it('says which model was asked where another one answered, in the transcript and the event', async () => {
    const facts = async (asked?: string) => {
      const model = new ScriptedModel([say('ok')]);
      const reply = model.reply.bind(model);
      model.reply = async (...given) => ({...(await reply(...given)), ...(asked !== undefined && {asked})});
      const {run, lines, events} = runFixture(model);
      await runAgent(run);
      const ofReply = (each: object) => ('asked' in each ? each.asked : 'not said');
      return [lines.findLast(({type}) => type === 'message'), events.findLast(({type}) => type === 'message')].map(
        (each) => ofReply(each!),
      );
    };
    expect(await facts('the other')).toEqual(['the other', 'the other']);
    expect(await facts('scripted')).toEqual(['not said', 'not said']);
    expect(await facts()).toEqual(['not said', 'not said']);
  });

  it('writes each line to the transcript before it is emitted', async () => {
    const seen: number[] = [];
    const setup = runFixture(new ScriptedModel([calls(call('look', {})), say('ok')]), [tool('look')]);
    const run = {
      ...setup.run,
      emit: (event: {type: string}) => {
        if (event.type === 'message') seen.push(setup.lines.length);
      },
    };
    await runAgent(run);
    expect(seen).toEqual([2, 3, 4]);
  });
});
