import {describe, expect, it} from 'vitest';
import type {Answer, PermissionMode, Question} from '../../src/core/contract/events.ts';
import type {ToolContext} from '../../src/core/contract/tool.ts';
import {type AskUserDeps, createAskUserQuestion, createExitPlanMode} from '../../src/tools/ask-user.ts';

const context = {callId: 'c', emit: () => undefined, signal: new AbortController().signal} as unknown as ToolContext;

/** Somebody who gives these answers. @returns what was asked */
function asked(who: AskUserDeps['who'], answers: (Answer | undefined)[], first: PermissionMode = 'plan') {
  const questions: Question[] = [];
  let mode = first;
  const deps: AskUserDeps = {
    who,
    async ask(question) {
      questions.push(question);
      return answers.shift();
    },
    getMode: () => mode,
    setMode: (next) => {
      mode = next;
    },
  };
  return {deps, questions, mode: () => mode};
}

const options = [{label: 'Red', description: 'warm'}, {label: 'Blue'}];
const input = {
  questions: [
    {question: 'Which colour?', options},
    {question: 'Which tint?', options},
  ],
};

describe('AskUserQuestion', () => {
  it('puts one question after the other to a person, who may answer in own words', async () => {
    const {deps, questions} = asked('screen', [{choice: 'option 1'}, {choice: 'other', note: 'a dark one'}]);
    const {content, isError, summary} = await createAskUserQuestion(deps).run(input, context);
    expect(isError ?? false).toBe(false);
    // The line of the call shows the answers, since the preview has no room for more than the questions.
    expect(summary).toBe('Blue · a dark one');
    expect(content).toMatch(/Which colour\?\n.*Blue\n\nWhich tint\?\n.*a dark one/s);
    expect(questions[0]!.options.map(({label}) => label)).toEqual(['Red: warm', 'Blue', 'something else: say it']);
  });

  it('gives a driver the call, and takes the answers that it adds to the input', async () => {
    const answer = {choice: 'yes', input: {...input, answers: {'Which colour?': 'Blue'}}};
    const {deps, questions} = asked('driver', [answer]);
    const {content} = await createAskUserQuestion(deps).run(input, context);
    expect(questions[0]!.call).toEqual({callId: 'c', tool: 'AskUserQuestion', input});
    expect(content).toMatch(/Blue.*did not answer/s);
  });

  it('says that nobody answered', async () => {
    const left = asked('screen', [{choice: 'escape'}, {choice: 'escape'}]);
    const result = await createAskUserQuestion(left.deps).run(input, context);
    expect(result).toMatchObject({content: expect.stringMatching(/did not answer/), summary: 'no answer · no answer'});
    const stopped = asked('screen', [undefined]);
    expect(await createAskUserQuestion(stopped.deps).run(input, context)).toMatchObject({isError: true});
  });
});

describe('ExitPlanMode', () => {
  it.each([
    ['acceptEdits', 'acceptEdits', /begin/],
    ['yes', 'default', /begin/],
    ['no', 'plan', /Stay in plan mode.*smaller/],
  ])('%s leads to the mode %s', async (choice, mode, said) => {
    const person = asked('screen', [{choice, note: 'smaller'}]);
    const {content, isError, summary} = await createExitPlanMode(person.deps).run({plan: '1. do it'}, context);
    expect(person.questions).toMatchObject([{detail: '1. do it', detailType: 'markdown'}]);
    expect(person.mode()).toBe(mode);
    expect(content).toMatch(said);
    // A refused plan is marked as a refused edit is.
    expect({isError, summary}).toEqual(choice === 'no' ? {isError: true, summary: 'refused'} : {});
  });

  it('leaves the mode that a driver chose, and asks nothing outside of plan mode', async () => {
    const {deps, questions, mode} = asked('driver', [], 'default');
    expect(await createExitPlanMode(deps).run({plan: 'x'}, context)).toMatchObject({isError: true});
    expect([questions.length, mode()]).toEqual([0, 'default']);
  });
});
