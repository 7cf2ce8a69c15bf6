import {describe, expect, it} from 'vitest';
import {runAgent} from '../../src/core/agent-loop.ts';
import type {PermitRequest} from '../../src/core/contract/permission.ts';
import {createBudget} from '../../src/core/turn/limits/budget.ts';
import {textResult} from '../../src/core/util/tool-output.ts';
import {ALLOWED_CALL, resultsIn, runFixture, tool} from './run-fixture.ts';
import {call, calls, ScriptedModel, say} from './scripted-model.ts';

describe('a failed tool call', () => {
  it('gets the list of tools when its tool is unknown', async () => {
    const model = new ScriptedModel([calls(call('fly', {})), say('walked')]);
    const {run} = runFixture(model, [tool('walk')]);
    expect(await runAgent(run)).toMatchObject({outcome: 'success', text: 'walked'});
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({
      is_error: true,
      content: expect.stringContaining('walk'),
    });
  });

  it('does not run when its input is not valid JSON, and quotes the input', async () => {
    let ran = false;
    const model = new ScriptedModel([
      {content: [call('look', {}, 'broken')], stop: 'tool_use', garbled: {broken: '{"value": "rm -rf /home'}},
      say('again'),
    ]);
    const {run} = runFixture(model, [
      tool('look', () => {
        ran = true;
        return textResult('');
      }),
    ]);
    await runAgent(run);
    expect(ran).toBe(false);
    expect(resultsIn(run.history.messages[2])[0]?.content).toContain('no valid JSON');
  });

  it('names the parameter that is not valid', async () => {
    const model = new ScriptedModel([calls(call('look', {value: 7})), say('ok')]);
    const {run} = runFixture(model, [tool('look')]);
    await runAgent(run);
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({
      is_error: true,
      content: expect.stringContaining('value'),
    });
  });

  it('returns the message of an error that the tool throws', async () => {
    const model = new ScriptedModel([calls(call('look', {})), say('ok')]);
    const {run} = runFixture(model, [
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

  it('returns the reason when it is denied, and the run continues', async () => {
    const model = new ScriptedModel([calls(call('look', {})), say('ok')]);
    const {run} = runFixture(model, [tool('look')], {
      permit: async () => ({verdict: 'deny', because: 'no', message: 'Permission denied: no.'}),
    });
    expect(await runAgent(run)).toMatchObject({outcome: 'success'});
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({is_error: true, content: 'Permission denied: no.'});
  });
});

describe('a call whose input a hook or an answer changed', () => {
  it('is prepared and decided once more, and runs with the changed input', async () => {
    const model = new ScriptedModel([calls(call('look', {value: 'first'})), say('ok')]);
    const decided: PermitRequest[] = [];
    const {run} = runFixture(model, [tool('look', (_, value) => textResult(`looked at ${value}`))], {
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

  it('returns an error when the changed input is not valid', async () => {
    const model = new ScriptedModel([calls(call('look', {})), say('ok')]);
    const {run} = runFixture(model, [tool('look')], {
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
    'end with the first one that confinement did not hinder (first one hindered: %s)',
    async (confinementHit) => {
      const model = new ScriptedModel([calls(call('run', {})), say('ok')]);
      const made: string[] = [];
      const runner = tool('run', ({attempt, workspace}) => {
        made.push(`${attempt.launch} in ${workspace.cwd}`);
        workspace.cwd = '/elsewhere';
        return {...textResult(attempt.launch), ...(attempt.launch === 'read-only' && {confinementHit})};
      });
      const {run} = runFixture(model, [runner], {permit: async () => ({...ALLOWED_CALL, attempts})});
      await runAgent(run);
      expect(made).toEqual(confinementHit ? ['read-only in /tmp', 'plain in /tmp'] : ['read-only in /tmp']);
      expect(resultsIn(run.history.messages[2])[0]).toMatchObject({content: confinementHit ? 'plain' : 'read-only'});
    },
  );
});

describe('hooks after a call', () => {
  it('can change the result that the model reads', async () => {
    const model = new ScriptedModel([calls(call('look', {})), say('ok')]);
    const {run} = runFixture(model, [tool('look')], {
      afterCall: [async ({tool}, result) => ({...result, content: `${result.content}, and ${tool} was seen`})],
    });
    await runAgent(run);
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({content: 'look done, and look was seen'});
  });
});

describe('a question that a tool asks the model', () => {
  it('is sent without tools and history, and its tokens count for the run', async () => {
    const model = new ScriptedModel([calls(call('read', {})), say('the answer'), say('done')]);
    const reader = tool('read', async ({ask}) => textResult(await ask({system: 'Read.', prompt: 'what is it?'})));
    const {run} = runFixture(model, [reader], {budget: createBudget({maxTokens: 1000})});
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
    expect(run.budget.maxOutputTokens(undefined)).toBe(1000 - 45);
    expect(result.turns).toBe(2);
  });
});
