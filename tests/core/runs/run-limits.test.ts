import {describe, expect, it} from 'vitest';
import {AGENT_TYPES} from '../../../src/core/agent-types.ts';
import {getLimits} from '../../../src/core/runs/limit-profiles.ts';
import {getTools} from '../../../src/core/subagent.ts';
import {ModelError} from '../../../src/core/util/errors.ts';
import {managerFixture} from '../manager-fixture.ts';
import {tool} from '../run-fixture.ts';
import {call, calls, ScriptedModel, type ScriptedReply, say} from '../scripted-model.ts';

const looking: ScriptedReply = calls(call('look', {}));
/** Each reply of the scripted model counts 15 tokens. */
const endless = () => new ScriptedModel((request) => (request.mayCallTools ? looking : say('what I have')));

describe('the limits of a run', () => {
  const task = {prompt: 'implement login'};
  const settings = {profile: 'graded' as const, agents: {}};

  it('are 30 s for explore, 90 s for coder and 60 s for others in the graded profile', () => {
    const seconds = ['explore', 'code-review', 'coder', 'writer'].map(
      (name) => getLimits(settings, {name}, task).timeoutSeconds,
    );
    expect(seconds).toEqual([30, 60, 90, 60]);
  });

  it('come from the Task call, else the definition, else the settings, else the profile', () => {
    const named = {...settings, agents: {writer: {maxTurns: 7, timeoutSeconds: 70}}};
    expect(getLimits(named, {name: 'writer'}, task)).toEqual({maxTurns: 7, timeoutSeconds: 70});
    expect(getLimits(named, {name: 'writer', maxTurns: 8}, task)).toEqual({maxTurns: 8, timeoutSeconds: 70});
    const asked = {...task, timeoutSeconds: 1, maxTokens: 5000};
    expect(getLimits(named, {name: 'writer', maxTurns: 8}, asked)).toEqual({
      ...{maxTurns: 8, timeoutSeconds: 1, maxTokens: 5000},
    });
  });

  it('of tokens, money and context come in the same order, the context also from the settings of all agents', () => {
    const agents = {writer: {maxTokens: 1, maxBudgetUsd: 2, contextTokens: 3}};
    const all = {...settings, agents, contextTokens: 9_000};
    expect(getLimits(all, {name: 'writer'}, task)).toMatchObject({maxTokens: 1, maxBudgetUsd: 2, contextTokens: 3});
    expect(getLimits(all, {name: 'writer', maxBudgetUsd: 5}, task)).toMatchObject({maxTokens: 1, maxBudgetUsd: 5});
    expect(getLimits(all, {name: 'explore'}, task)).toEqual({maxTurns: 7, timeoutSeconds: 30, contextTokens: 9_000});
  });

  it.each(['in the same process', 'after a restart'])('apply also when the run continues, %s', async (when) => {
    const first = managerFixture({tools: [tool('look')], model: endless()});
    const {runId} = await first.spawn(endless(), {limits: {maxTurns: 2, maxTokens: 1000, timeoutSeconds: 60}});
    const model = endless();
    const later = when === 'after a restart' ? managerFixture({home: first.home, tools: [tool('look')], model}) : first;
    if (later !== first) later.manager.restore(new Set());
    later.manager.send(runId, 'and now?');
    await later.manager.waitAll();
    expect(later.manager.get(runId)).toMatchObject({round: 2, outcome: 'limit', result: {turns: 2}});
    expect(later.manager.get(runId)?.limits).toEqual({maxTurns: 2, maxTokens: 1000, timeoutSeconds: 60});
  });

  it('have no wall time when the Task call says 0', () => {
    expect(getLimits(settings, {name: 'explore'}, {...task, timeoutSeconds: 0}).timeoutSeconds).toBe(0);
  });

  it('are 1800 s for a background run of the standard profile', () => {
    const standard = {...settings, profile: 'standard' as const};
    expect(getLimits(standard, {name: 'explore'}, {...task, background: true}).timeoutSeconds).toBe(1800);
    expect(getLimits(standard, {name: 'explore'}, task).timeoutSeconds).toBe(300);
  });

  it('are the default ones for an agent named constructor', () => {
    expect(getLimits(settings, {name: 'constructor'}, task)).toEqual({maxTurns: 8, timeoutSeconds: 60});
  });
});

describe('the limit of turns', () => {
  it('makes the last turn a report without tools, and the outcome a limit with the answer', async () => {
    const model = endless();
    const {spawn} = managerFixture({tools: [tool('look')]});
    const agent = {...AGENT_TYPES.explore!, tools: ['look']};
    const {result, report} = await spawn(model, {agent, limits: {maxTurns: 4}});
    expect(result).toMatchObject({outcome: 'limit', limit: '4 turns', text: 'what I have', turns: 4});
    expect(model.requests.map((request) => request.mayCallTools)).toEqual([true, true, true, false]);
    expect(report).toMatch(/^The run did not finish: limit reached: 4 turns\.\nWhat it had by then:\nwhat I have/);
  });
});

describe('the limit of tokens', () => {
  const agent = {...AGENT_TYPES.explore!, tools: ['look']};

  it('asks for a report at 90 % and is named in the outcome', async () => {
    const model = endless();
    const {spawn} = managerFixture({tools: [tool('look')]});
    const {result} = await spawn(model, {agent, limits: {maxTokens: 100}});
    // Five calls are 75 tokens: the sixth is the report, since a seventh would not fit.
    expect(result).toMatchObject({outcome: 'limit', limit: '100 tokens', turns: 6, text: 'what I have'});
    expect(model.requests.at(-1)).toMatchObject({mayCallTools: false, maxOutputTokens: expect.any(Number)});
  });

  it('runs no tool when a reply has used it up', async () => {
    const {spawn} = managerFixture({tools: [tool('look')]});
    const {result} = await spawn(new ScriptedModel([looking]), {agent, limits: {maxTokens: 12}});
    expect(result).toMatchObject({outcome: 'limit', limit: '12 tokens', turns: 1});
    expect(result.tools.map((record) => record.isError)).toEqual([true]);
  });
});

describe('the idle time', () => {
  it('is named in the outcome, and the partial text is returned', async () => {
    const idle = new ModelError('idle', 'no byte from the model for 120 s', {retryable: true});
    const {report, result} = await managerFixture().spawn(new ScriptedModel([{fail: idle, partial: 'half of it'}]));
    expect(result).toMatchObject({outcome: 'timeout', timeout: 'timed out: no byte from the model for 120 s'});
    expect(report).toContain('timed out: no byte from the model for 120 s (EXECUTION_TIMEOUT)');
    expect(report).toContain('half of it');
  });
});

describe('a run whose model server fails', () => {
  it('by 429 or a broken stream returns its partial work and the reason as an error', async () => {
    for (const [kind, reason] of [
      ['rate_limit', 'too many requests (429)'] as const,
      ['stream', 'it broke off'] as const,
    ]) {
      const fail = new ModelError(kind, reason, {retryable: true});
      const model = new ScriptedModel([looking, {fail, partial: 'found a.ts:1 and'}]);
      const agent = {...AGENT_TYPES.explore!, tools: ['look']};
      const {result, report} = await managerFixture({tools: [tool('look')]}).spawn(model, {agent});
      expect(result).toMatchObject({outcome: 'error', error: reason, text: 'found a.ts:1 and', turns: 1});
      expect(report).toContain(`The run did not finish: ${reason}`);
    }
  });
});

describe('two runs in one process with different limits', () => {
  it('do not affect each other', async () => {
    const {spawn} = managerFixture({tools: [tool('look')]});
    const agent = {...AGENT_TYPES.explore!, tools: ['look']};
    const [two, five] = await Promise.all([2, 5].map((maxTurns) => spawn(endless(), {agent, limits: {maxTurns}})));
    expect([two!.result.turns, five!.result.turns]).toEqual([2, 5]);
  });
});

describe('the tools of subagents', () => {
  const base = ['bash', 'read_file', 'write_file', 'grep'].map((name) => tool(name));
  const names = (rules: {allow?: string[]; deny: string[]}) =>
    getTools({...AGENT_TYPES.code!, tools: '*'}, base, rules).map(({name}) => name);

  it('are limited by the settings: deny wins, allow is allow-only', () => {
    expect(names({deny: []})).toEqual(['bash', 'read_file', 'write_file', 'grep']);
    expect(names({deny: ['bash']})).toEqual(['read_file', 'write_file', 'grep']);
    expect(names({allow: ['bash', 'grep'], deny: ['bash']})).toEqual(['grep']);
  });
});
