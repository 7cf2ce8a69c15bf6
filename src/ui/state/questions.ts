/** Reduces the questions that wait for the person: which parts are printed, and which line remains after the answer. */
import type {AgentEvent, ListItem, Question} from '../../core/contract/events.ts';
import {screenLine, screenText} from '../text/screen-text.ts';
import {cutText, wrapText} from '../text/wrap.ts';
import {addItem} from './finished-items.ts';
import type {UiState} from './ui-state.ts';

/** Rows at 40 columns. A question with a longer detail is printed in full above the live part. */
const MAX_DETAIL_ROWS = 14;
/** Rows. A title that needs more of them is cut, and its question is printed in full above. */
export const MAX_HEAD_ROWS = 3;
/** Columns of an agent's name. Models choose these names, and a long one must not push the question off the screen. */
const MAX_AGENT_COLUMNS = 50;

export function addQuestion(state: UiState, question: Question): UiState {
  return withQuestions(state, [...state.questions, safeQuestion(question)]);
}

/** Shows the first question in the live part. A long question is printed in full above it. */
function withQuestions(state: UiState, questions: readonly Question[]): UiState {
  const next = {...state, questions};
  const first = questions[0];
  if (!first || first.id === state.questions[0]?.id || !isLongQuestion(first)) return next;
  return printDetail(next, first);
}

function printDetail(state: UiState, question: Question): UiState {
  const next = addItem(state, {kind: 'detail', question});
  if (question.detailType !== 'diff' || question.callId === undefined) return next;
  return {...next, printedDiffs: [...next.printedDiffs, question.callId]};
}

/** Removes an ended question and prints one line with the question and its answer. */
export function endQuestion(state: UiState, {askId, answer, input}: AgentEvent & {type: 'ask_end'}): UiState {
  const question = state.questions.find(({id}) => id === askId);
  const left = state.questions.filter(({id}) => id !== askId);
  if (!question || question.editor || question.list) return withQuestions(state, left);
  const title = formatAsked(question);
  const what = question.detailType === 'command' ? ` ${cutText(screenLine(question.detail), MAX_ASKED_COLUMNS)}` : '';
  const answered = addItem(state, {kind: 'remark', text: `${title}${what} · ${formatAnswer(question, answer, input)}`});
  return withQuestions(answered, left);
}

/** Returns the title, preceded by the name of the agent unless the main agent asks. */
export function formatAsked({agent, title}: Pick<Question, 'agent' | 'title'>): string {
  return agent === 'main' || agent === 'mini-cc' ? title : `${agent}: ${title}`;
}

const MAX_ASKED_COLUMNS = 60;

function formatAnswer(question: Question, choice: string, input?: unknown): string {
  if (input !== undefined) return `yes, ${formatChanged(input)}`;
  if (choice === 'withdrawn') return 'not answered';
  if (choice === 'settled') return 'no answer needed any more';
  if (choice === 'text') return 'answered';
  const option = question.options.find((each) => each.choice === choice);
  // The label of a refusal asks for the reason, and there need not be one.
  return option && !(option.takesNote && choice === question.escape) ? option.label : question.escape;
}

/** Says what the person's answer made of the call. */
function formatChanged(input: unknown): string {
  const {command} = input as {readonly command?: unknown};
  if (typeof command !== 'string') return 'with a changed input';
  return `changed to: ${cutText(screenLine(command), MAX_ASKED_COLUMNS)}`;
}

export function isLongQuestion(question: Question): boolean {
  return wrapText(question.detail, 36).length > MAX_DETAIL_ROWS;
}

/** Prints a question in full because the window is too small for it. */
export function printQuestion(state: UiState, id: string): UiState {
  const question = state.questions.find((each) => each.id === id);
  // A long question was already printed when it arrived.
  return question && !isLongQuestion(question) ? printDetail(state, question) : state;
}

function safeQuestion(question: Question): Question {
  return {
    ...question,
    agent: cutText(screenLine(question.agent), MAX_AGENT_COLUMNS),
    title: screenLine(question.title),
    ...(question.because !== undefined && {because: screenLine(question.because)}),
    detail: screenText(question.detail).replace(/\n+$/, ''),
    options: question.options.map((option) => ({...option, label: screenLine(option.label)})),
    ...(question.list && {list: question.list.map(safeListItem)}),
  };
}

function safeListItem(item: ListItem): ListItem {
  return {
    ...item,
    label: screenLine(item.label),
    ...(item.info !== undefined && {info: [item.info].flat().map(screenLine)}),
    ...(item.text !== undefined && {text: screenText(item.text)}),
  };
}
