/** Twenty questions from eight agents at once: each names its agent and ends once, and no call runs without its answer. */
import {describe, expect, it} from 'vitest';
import {z} from 'zod';
import {AGENT_TYPES} from '../../../src/core/agent-types.ts';
import type {AgentEvent, Question} from '../../../src/core/contract/events.ts';
import type {Denial} from '../../../src/core/contract/permission.ts';
import type {Tool} from '../../../src/core/contract/tool.ts';
import {Questions} from '../../../src/core/permissions/questions.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import {until} from '../../support/wait.ts';
import {createPermitDeps, managerFixture} from '../manager-fixture.ts';
import {call, calls, ScriptedModel, say} from '../scripted-model.ts';

/** How many calls each agent makes in its one reply. */
const CALLS = [3, 3, 3, 3, 2, 2, 2, 2];
const TWENTY = CALLS.reduce((sum, count) => sum + count);

function eightAgents() {
  const ran: string[] = [];
  const denials: Denial[] = [];
  const questions = new Questions();
  const input = z.object({value: z.string()});
  const work: Tool<z.infer<typeof input>> = {
    name: 'work',
    description: 'asks, and may run side by side',
    input,
    title: ({value}) => value,
    access: ({value}) => [{kind: 'fetch', host: `${value}.example.com`}],
    run: async ({value}) => {
      ran.push(value);
      return textResult(`did ${value}`);
    },
  };
  const made = managerFixture({
    tools: [work as Tool],
    maxConcurrent: CALLS.length,
    runs: {permits: createPermitDeps(questions, (denial) => void denials.push(denial))},
  });
  const stops = CALLS.map(() => new AbortController());
  const models = CALLS.map((count, agent) => {
    const blocks = Array.from({length: count}, (_, index) =>
      call('work', {value: `job-${agent}-${index}`}, `toolu_${agent}_${index}`),
    );
    return new ScriptedModel([calls(...blocks), say(`agent ${agent} is done`)]);
  });
  const runs = models.map((model, index) =>
    made.spawn(model, {
      agent: {...AGENT_TYPES.code!, tools: ['work']},
      description: `task ${index}`,
      prompt: `do part ${index}`,
      signal: stops[index]!.signal,
    }),
  );
  return {...made, questions, denials, ran, stops, models, runs, asked: () => asksIn(made.events)};
}

function asksIn(events: readonly AgentEvent[]): {agentId: string; question: Question}[] {
  return events.flatMap(({agentId, ...event}) => (event.type === 'ask' ? [{agentId, question: event.question}] : []));
}

function endsIn(events: readonly AgentEvent[]): Map<string, string[]> {
  const ends = new Map<string, string[]>();
  for (const event of events) {
    if (event.type === 'ask_end') ends.set(event.askId, [...(ends.get(event.askId) ?? []), event.answer]);
  }
  return ends;
}

const getJob = ({detail}: Question) => /job-\d-\d/.exec(detail)?.[0] ?? detail;
const getAgentIndex = (question: Question) => Number(/job-(\d)/.exec(question.detail)?.[1]);

describe('twenty questions from eight agents at once', () => {
  it('are all asked, each with the agent whose call it is', async () => {
    const {asked, runs, manager, events} = eightAgents();
    await until(() => asked().length === TWENTY);
    for (const {agentId, question} of asked()) {
      expect(question.agent).toBe(`[code] task ${getAgentIndex(question)}`);
      expect(manager.get(agentId)?.description).toBe(`task ${getAgentIndex(question)}`);
    }
    expect(new Set(asked().map(({question}) => question.id)).size).toBe(TWENTY);
    await manager.stopAll();
    await Promise.all(runs);
    expect([...endsIn(events).values()]).toEqual(Array.from({length: TWENTY}, () => ['withdrawn']));
  });

  it('end once each, by the first answer, and only allowed calls run', async () => {
    const {asked, questions, ran, denials, runs, models, events} = eightAgents();
    await until(() => asked().length === TWENTY);
    const answers = ['yes', 'session', 'no'];
    const given = new Map<string, string>();
    // From the last to the first, and each twice: a second answer has no effect.
    for (const [index, {question}] of asked().toReversed().entries()) {
      const choice = answers[index % answers.length]!;
      given.set(getJob(question), choice);
      questions.answer(question.id, choice === 'no' ? {choice, note: `not ${getJob(question)}`} : {choice});
      questions.answer(question.id, {choice: 'yes'});
    }
    await Promise.all(runs);
    const permitted = [...given].filter(([, choice]) => choice !== 'no').map(([job]) => job);
    expect(ran.toSorted()).toEqual(permitted.toSorted());
    expect(denials.map(({agent, callId}) => `${agent} ${callId}`).toSorted()).toEqual(
      [...given]
        .filter(([, choice]) => choice === 'no')
        .map(([job]) => `[code] task ${job[4]} toolu_${job[4]}_${job[6]}`)
        .toSorted(),
    );
    for (const {question} of asked()) expect(endsIn(events).get(question.id)).toEqual([given.get(getJob(question))]);
    // Each call has its own result, and the note that came with a no is in the result of that call.
    for (const [agent, model] of models.entries()) {
      const results = JSON.stringify(model.requests[1]?.messages.at(-1));
      for (let index = 0; index < CALLS[agent]!; index++) {
        const job = `job-${agent}-${index}`;
        expect(results).toContain(given.get(job) === 'no' ? `not ${job}` : `did ${job}`);
      }
    }
  });

  it('of one agent end when it is stopped, and the others stay open', async () => {
    const {asked, questions, ran, runs, manager, events} = eightAgents();
    await until(() => asked().length === TWENTY);
    const first = asked().filter(({question}) => getAgentIndex(question) === 0);
    questions.answer(first[0]!.question.id, {choice: 'yes'});
    await until(() => ran.length === 1);
    await manager.stop(first[0]!.agentId);
    for (const {question} of asked()) questions.answer(question.id, {choice: 'yes'});
    await Promise.all(runs);
    expect(ran).toHaveLength(TWENTY - 2);
    const ends = endsIn(events);
    expect(first.map(({question}) => ends.get(question.id))).toEqual([['yes'], ['withdrawn'], ['withdrawn']]);
    expect([...ends.values()].every((answers) => answers.length === 1)).toBe(true);
  });

  it('end when all agents are stopped: later answers have no effect, and no call hangs', async () => {
    const {asked, questions, ran, runs, manager, events} = eightAgents();
    await until(() => asked().length === TWENTY);
    const ofFive = asked().filter(({question}) => /job-[0-4]-0/.test(question.detail));
    for (const {question} of ofFive) questions.answer(question.id, {choice: 'yes'});
    await until(() => ran.length === 5);
    const stopped = manager.stopAll();
    for (const {question} of asked()) questions.answer(question.id, {choice: 'session'});
    await stopped;
    const results = await Promise.all(runs);
    expect(results.map(({result}) => result.outcome)).toEqual(CALLS.map(() => 'stopped'));
    expect(ran).toHaveLength(5);
    const ends = [...endsIn(events).values()];
    expect(ends).toHaveLength(TWENTY);
    expect(ends.filter(([answer]) => answer === 'yes')).toHaveLength(5);
    expect(ends.filter(([answer]) => answer === 'withdrawn')).toHaveLength(TWENTY - 5);
    expect(ends.every((answers) => answers.length === 1)).toBe(true);
  });

  it('end when the turn that dispatched their agents is interrupted', async () => {
    const {asked, ran, runs, events, stops} = eightAgents();
    await until(() => asked().length === TWENTY);
    for (const stop of stops) stop.abort();
    await Promise.all(runs);
    expect(ran).toEqual([]);
    expect([...endsIn(events).values()]).toEqual(Array.from({length: TWENTY}, () => ['withdrawn']));
  });
});
