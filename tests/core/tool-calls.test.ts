import {describe, expect, it} from 'vitest';
import {runAgent} from '../../src/core/agent-loop.ts';
import type {PermitRequest} from '../../src/core/contract/permission.ts';
import {createTokenBudget} from '../../src/core/turn/run-limits.ts';
import {textResult} from '../../src/core/util/tool-output.ts';
import {ALLOWED_CALL, fixture, resultsIn, tool} from './run-fixture.ts';
import {call, calls, ScriptedModel, say} from './scripted-model.ts';

describe('calls of tools that go wrong', () => {
  it('answers a call of an unknown tool with the tools there are', async () => {
    const model = new ScriptedModel([calls(call('fly', {})), say('walked')]);
    const {run} = fixture(model, [tool('walk')]);
    expect(await runAgent(run)).toMatchObject({outcome: 'success', text: 'walked'});
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({
      is_error: true,
      content: expect.stringContaining('walk'),
    });
  });

  it('runs nothing when the input of a call is no JSON, and quotes it', async () => {
    let ran = false;
    const model = new ScriptedModel([
      {content: [call('look', {}, 'broken')], stop: 'tool_use', garbled: {broken: '{"value": "rm -rf /home'}},
      say('again'),
    ]);
    const {run} = fixture(model, [
      tool('look', () => {
        ran = true;
        return textResult('');
      }),
    ]);
    await runAgent(run);
    expect(ran).toBe(false);
    expect(resultsIn(run.history.messages[2])[0]?.content).toContain('no valid JSON');
  });

  it('says what is wrong with an input that does not fit', async () => {
    const model = new ScriptedModel([calls(call('look', {value: 7})), say('ok')]);
    const {run} = fixture(model, [tool('look')]);
    await runAgent(run);
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({
      is_error: true,
      content: expect.stringContaining('value'),
    });
  });

  it('turns what a tool throws into its result', async () => {
    const model = new ScriptedModel([calls(call('look', {})), say('ok')]);
    const {run} = fixture(model, [
      tool('look', () => {
        throw new Error('the disk is full');
      }),
    ]);
    expect(await runAgent(run)).toMatchObject({outcome: 'success'});
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({
      is_error: true,
      content: 'look failed: the disk is full',
    });
  });

  it('gives a refused call its one result and goes on', async () => {
    const model = new ScriptedModel([calls(call('look', {})), say('ok')]);
    const {run} = fixture(model, [tool('look')], {
      permit: async () => ({verdict: 'deny', because: 'no', message: 'Permission denied: no.'}),
    });
    expect(await runAgent(run)).toMatchObject({outcome: 'success'});
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({is_error: true, content: 'Permission denied: no.'});
  });
});

describe('a call whose input a hook or an answer changed', () => {
  it('is prepared and decided anew, once, and runs with the changed input', async () => {
    const model = new ScriptedModel([calls(call('look', {value: 'first'})), say('ok')]);
    const decided: PermitRequest[] = [];
    const {run} = fixture(model, [tool('look', (_, value) => textResult(`looked at ${value}`))], {
      permit: async (request) => {
        decided.push(request);
        return request.changed
          ? ALLOWED_CALL
          : {verdict: 'changed', input: {value: 'second'}, opinion: {by: 'person', says: 'allow'}};
      },
    });
    await runAgent(run);
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({content: 'looked at second'});
    expect(decided.map(({input, changed}) => ({input, changed}))).toEqual([
      {input: {value: 'first'}, changed: undefined},
      {input: {value: 'second'}, changed: {by: 'person', says: 'allow'} as const},
    ]);
  });

  it('is an error of its input when the changed one is not valid', async () => {
    const model = new ScriptedModel([calls(call('look', {})), say('ok')]);
    const {run} = fixture(model, [tool('look')], {
      permit: async () => ({verdict: 'changed', input: {value: 7}, opinion: {by: 'person', says: 'allow'}}),
    });
    await runAgent(run);
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({
      is_error: true,
      content: expect.stringContaining('Invalid input for look'),
    });
  });
});

describe('the attempts of a call', () => {
  const attempts = [
    {launch: 'read-only', checkpoint: false},
    {launch: 'plain', checkpoint: true},
  ] as const;

  it.each([true, false])(
    'end with the first that confinement did not hinder (hindered: %s)',
    async (confinementHit) => {
      const model = new ScriptedModel([calls(call('run', {})), say('ok')]);
      const made: string[] = [];
      const runner = tool('run', ({attempt, workspace}) => {
        made.push(`${attempt.launch} in ${workspace.cwd}`);
        workspace.cwd = '/elsewhere';
        return {...textResult(attempt.launch), ...(attempt.launch === 'read-only' && {confinementHit})};
      });
      const {run} = fixture(model, [runner], {permit: async () => ({...ALLOWED_CALL, attempts})});
      await runAgent(run);
      expect(made).toEqual(confinementHit ? ['read-only in /tmp', 'plain in /tmp'] : ['read-only in /tmp']);
      expect(resultsIn(run.history.messages[2])[0]).toMatchObject({content: confinementHit ? 'plain' : 'read-only'});
    },
  );
});

describe('hooks that see each result', () => {
  it('change what the model reads', async () => {
    const model = new ScriptedModel([calls(call('look', {})), say('ok')]);
    const {run} = fixture(model, [tool('look')], {
      afterCall: [async ({tool}, result) => ({...result, content: `${result.content}, and ${tool} was seen`})],
    });
    await runAgent(run);
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({content: 'look done, and look was seen'});
  });
});

describe('what a tool asks of the model', () => {
  it('is one answer without tools and history, and counts as the use of the run', async () => {
    const model = new ScriptedModel([calls(call('read', {})), say('the answer'), say('done')]);
    const reader = tool('read', async ({ask}) => textResult(await ask({system: 'Read.', prompt: 'what is it?'})));
    const {run} = fixture(model, [reader], {tokens: createTokenBudget(1000)});
    const result = await runAgent(run);
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({content: 'the answer'});
    expect(model.requests[1]).toMatchObject({
      system: 'Read.',
      tools: [],
      mayCallTools: false,
      messages: [{role: 'user', content: 'what is it?'}],
    });
    // Three calls of ten tokens in and five out.
    expect(result.usage).toMatchObject({input_tokens: 30, output_tokens: 15});
    expect(result.usageByModel).toMatchObject({scripted: {input_tokens: 30}});
    expect(run.tokens.left).toBe(1000 - 45);
    expect(result.turns).toBe(2);
  });
});
