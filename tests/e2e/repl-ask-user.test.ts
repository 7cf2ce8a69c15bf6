/** The model asks the person by AskUserQuestion, and shows its plan by ExitPlanMode, in the REPL. */
import {expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {type AnswerKey, answer} from '../support/questions.ts';
import {getToolResults} from '../support/request-facts.ts';
import {callTool} from '../support/scripted-replies.ts';
import type {Condition, Terminal} from '../support/terminal.ts';
import {project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const ask = (...questions: readonly object[]) => callTool('AskUserQuestion', {questions});
const colour = {
  question: 'Which colour?',
  header: 'Colour',
  options: [{label: 'red', description: 'as roses'}, {label: 'green'}],
};
const shade = {question: 'Which shade?', options: [{label: 'dark'}, {label: 'light'}]};
const tone = {question: 'Which tone?', options: [{label: 'mauve'}, {label: 'lilac'}]};
const sizes = {question: 'Which sizes?', options: [{label: 'small'}, {label: 'large'}], multiSelect: true};

/** Answers by a digit whose answer takes words. */
async function answerInWords(terminal: Terminal, question: Condition, key: AnswerKey, words: string): Promise<void> {
  await answer(terminal, question, key);
  await terminal.waitFor('Enter sends it.');
  terminal.type(words);
  await terminal.waitFor(words);
  terminal.press('enter');
}

it('AskUserQuestion: a choice, several choices and words reach the model, and after Esc the model reads that there was no answer', async () => {
  const server = await serve([ask(colour, sizes), ask(shade), ask(tone), say('Thank you.')]);
  const terminal = await repl({server, cwd: (await project()).path});
  const result = (at: number) => JSON.stringify(getToolResults(server.requests[at]!.body).at(-1));
  await send(terminal, 'paint it');
  await answer(terminal, '1 red: as roses', '2');
  await answerInWords(terminal, '3 several of them, or something else: say it', '3', 'small and large');
  await terminal.waitFor(() => server.requests.length === 2);
  expect(result(1)).toContain('Which colour?\\nThe user says: green');
  expect(result(1)).toContain('Which sizes?\\nThe user says: small and large');

  await answerInWords(terminal, '1 dark', '3', 'blue, please');
  await terminal.waitFor(() => server.requests.length === 3);
  expect(result(2)).toContain('The user says: blue, please');

  await answer(terminal, '1 mauve', 'escape');
  await terminal.waitFor('Thank you.');
  expect(result(3)).toContain('The user did not answer. Go on as you think best, or ask in words.');
});

it('ExitPlanMode: a refusal with words keeps plan mode, and the approval ends it as it was chosen', async () => {
  const plan = (text: string) => callTool('ExitPlanMode', {plan: text});
  const made = (file: string) => callTool('write_file', {path: file, content: 'x'});
  const server = await serve([
    ...[plan('1. Write a.txt'), plan('1. Write b.txt'), made('b.txt'), say('Made b.')],
    ...[plan('1. Write c.txt'), made('c.txt'), say('Made c.')],
  ]);
  const where = await project();
  const terminal = await repl({server, cwd: where.path, args: ['--permission-mode', 'plan']});
  const result = (at: number) => JSON.stringify(getToolResults(server.requests[at]!.body).at(-1));
  await send(terminal, 'plan it');
  await answerInWords(terminal, /1\. Write a\.txt[\s\S]*3 no, and say what to change/, '3', 'call it b.txt');
  await terminal.waitFor('1. Write b.txt');
  expect(result(1)).toContain('Stay in plan mode. The user says: call it b.txt');
  await terminal.waitFor(/^plan · /m);

  // "2" asks before each change.
  await answer(terminal, /1\. Write b\.txt[\s\S]*2 yes, and ask before each change/, '2');
  await answer(terminal, '4 no, and say why', '1');
  await terminal.waitFor('Made b.');
  expect(result(2)).toContain('The user agrees. Plan mode is over');
  await terminal.waitFor(/^default · /m);
  await idle(terminal);

  terminal.press('shift-tab', 'shift-tab');
  await terminal.waitFor(/^plan · /m);
  await send(terminal, 'plan more');
  await answer(terminal, /1\. Write c\.txt[\s\S]*1 yes, and accept edits/, '1');
  await terminal.waitFor('Made c.');
  await terminal.waitFor(/^acceptEdits · /m);
  expect(await where.read('c.txt')).toBe('x');
});
