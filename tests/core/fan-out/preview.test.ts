/** The preview of a fan-out, and how a person changes it before the yes. */
import {describe, expect, test} from 'vitest';
import {AGENT_TYPES} from '../../../src/core/agent-types.ts';
import type {Answer, Question} from '../../../src/core/contract/events.ts';
import type {FanOutPlan} from '../../../src/core/fan-out/plan.ts';
import {askForPlan, changeParts, createFileTest, leaveOut} from '../../../src/core/fan-out/preview.ts';
import {Questions} from '../../../src/core/permissions/questions.ts';
import {ScriptedModel} from '../scripted-model.ts';

const FILES = ['src/a.ts', 'src/b.ts', 'lib/c.ts', 'README.md'];
const plan = (files: readonly string[] = FILES, parts: FanOutPlan['parts'] = [files]): FanOutPlan => ({
  ...{instruction: 'fix all', files, parts, tools: ['bash'], agent: AGENT_TYPES.code!, model: new ScriptedModel([])},
});

describe('a person who is asked about a fan-out', () => {
  async function ask(answers: readonly (Answer | 'abort')[]) {
    const questions = new Questions();
    const asked: Question[] = [];
    const abort = new AbortController();
    const emit = (event: {readonly type: string; readonly question?: Question}) => {
      if (event.type !== 'ask') return;
      asked.push(event.question!);
      const answer = answers[asked.length - 1] ?? expect.fail('one question too many');
      queueMicrotask(() => (answer === 'abort' ? abort.abort() : questions.answer(event.question!.id, answer)));
    };
    const deps = {questions, emit, split: 'ceil', no: 'no, one agent'} as const;
    const end = await askForPlan(plan(), deps, abort.signal);
    return {end: typeof end === 'string' ? end : end.parts, asked};
  }
  const text = (note: string): Answer => ({choice: 'text', note});

  test.each<[string, readonly (Answer | 'abort')[], unknown]>([
    ['says yes', [{choice: 'yes'}], [FILES]],
    ['says no', [{choice: 'no'}], 'no'],
    ['presses Esc', [{choice: 'escape'}], 'no'],
    ['interrupts the turn', ['abort'], 'withdrawn'],
    [
      'chooses another number of parts',
      [{choice: 'parts'}, text('2'), {choice: 'yes'}],
      [FILES.slice(0, 2), FILES.slice(2)],
    ],
    ['leaves out files', [{choice: 'files'}, text('src'), {choice: 'yes'}], [FILES.slice(2)]],
    ['thinks better of a change', [{choice: 'parts'}, {choice: 'escape'}, {choice: 'yes'}], [FILES]],
    ['interrupts the turn at a change', [{choice: 'files'}, 'abort'], 'withdrawn'],
  ])('and %s', async (_, answers, end) => {
    expect((await ask(answers)).end).toEqual(end);
  });

  test('reads what will happen, and what was wrong with a change, once', async () => {
    const {asked} = await ask([
      ...[
        {choice: 'parts'},
        text('9'),
        {choice: 'files'},
        text('nothing'),
        {choice: 'parts'},
        text('1'),
        {choice: 'yes'},
      ],
    ]);
    expect(asked[0]).toMatchObject({
      title: expect.stringContaining('1 agent (code) for 4 files'),
      detail: expect.stringMatching(/^1 {2}4 files: (?:.*\n)+worst case: .*$/),
      options: [
        {digit: 1, choice: 'yes'},
        {digit: 2, choice: 'parts'},
        {digit: 3, choice: 'files'},
        {digit: 4, choice: 'no', label: 'no, one agent'},
      ],
    });
    expect(asked[1]).toMatchObject({title: 'How many parts? 1 to 4', detail: 'now 1'});
    expect(asked[2]?.detail).toMatch(/\n"9" is no number from 1 to 4\.$/);
    expect(asked[3]?.detail).toBe(FILES.join('\n'));
    expect(asked[4]?.detail).toMatch(/\nNo file is meant by "nothing"\.$/);
    expect(asked[6]?.detail).toBe(asked[0]?.detail);
  });
});

describe('a number of parts', () => {
  const many = Array.from({length: 70}, (_, index) => `${index}.ts`);
  test.each<[string, readonly string[], number | undefined]>([
    ['1', FILES, 1],
    [' 4 ', FILES, 4],
    ['5', FILES, undefined],
    ['0', FILES, undefined],
    ['1.5', FILES, undefined],
    ['two', FILES, undefined],
    ['64', many, 64],
    ['65', many, undefined],
  ])('typed as %j', (typed, files, parts) => {
    const changed = changeParts(plan(files), typed, 'balanced');
    expect(typeof changed === 'string' ? undefined : changed.parts.length).toBe(parts);
  });
});

test.each<[string, readonly string[] | string]>([
  ['src/a.ts', FILES.slice(1)],
  ['./src/, README.md', ['lib/c.ts']],
  ['@src *.md', ['lib/c.ts']],
  ['', FILES],
  ['src nothing', 'No file is meant by "nothing".'],
  ['*', 'No file would be left.'],
])('leaving out %j leaves %j', (typed, left) => {
  const changed = leaveOut(plan(FILES, [FILES.slice(0, 2), FILES.slice(2)]), typed, 'ceil');
  expect(typeof changed === 'string' ? changed : changed.files).toEqual(left);
  if (typeof changed !== 'string') expect(changed.parts.flat()).toEqual(left);
});

test.each<[string, readonly string[]]>([
  ['src', ['src/a.ts', 'src/sub/b.ts']],
  ['src/a.ts', ['src/a.ts']],
  ['a.ts', ['src/a.ts']],
  ['*.{ts,md}', ['src/a.ts', 'src/sub/b.ts', 'x.md']],
  ['src/*.ts', ['src/a.ts']],
  ['sr', []],
])('the name %j means %j', (name, meant) => {
  expect(['src/a.ts', 'src/sub/b.ts', 'x.md', 'srcs/c.js'].filter(createFileTest(name))).toEqual(meant);
});
