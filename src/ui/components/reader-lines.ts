/**
 * Makes the live parts of the screen into lines of words for a screen reader. A line changes only when there is news:
 * it has no times, counts or marks that move.
 */
import type {ListItem, Question} from '../../core/contract/events.ts';
import type {Todo} from '../../core/contract/results.ts';
import {formatRunTitle} from '../../core/runs/progress-line.ts';
import {toOneLine} from '../../core/util/text.ts';
import {PROMPT_MARK} from '../first-paint/prompt-frame.ts';
import {describeFileSearch} from '../input/completion.ts';
import {describeSearch, listOffered} from '../input/history-search.ts';
import {findInList} from '../input/question-keys.ts';
import type {InputLine, ReaderLines} from '../reader-screen.ts';
import {currentQuestion, isWorking, type LocalState} from '../state/local-state.ts';
import {formatState, markedIndex, panelRuns} from '../state/panel.ts';
import {tailLines} from '../state/run-tail.ts';
import {hasAwaitedWork, hasEnded, openedRun} from '../state/subagent-store.ts';
import type {UiState} from '../state/ui-state.ts';
import {firstAround} from '../text/live-rows.ts';
import {screenLine} from '../text/screen-text.ts';
import {toWords} from '../text/styled-text.tsx';
import {textWidth} from '../text/wrap.ts';
import {keyRows} from './key-list.ts';
import {promptRows} from './prompt.tsx';
import {questionRows} from './question.tsx';

/** The terminal wraps the lines itself. */
const WHOLE = Number.POSITIVE_INFINITY;

/** @param columns columns of the window */
export function readerLines(ui: UiState, local: LocalState, columns: number): ReaderLines {
  const {question, count} = currentQuestion(ui, local);
  const asked = question && describeQuestion(question, count, local);
  return {
    lines: [
      ...describeWork(ui, local),
      ...ui.todos.map(({status, content}) => `${TODO_WORDS[status]}: ${content}`),
      ...[...ui.queued, ...local.unsent.map((text) => ({text}))].map(
        ({text}) => `Queued: ${toOneLine(text)}. It is read at the next step; Up takes it back.`,
      ),
      ...describePanel(ui, local),
      ...describeStatus(ui, local),
      ...(asked?.lines ?? describeOffered(ui, local)),
    ],
    input: asked?.input ?? getTyped(ui, local, question !== undefined, columns),
  };
}

const TODO_WORDS: Readonly<Record<Todo['status'], string>> = {
  pending: 'To do',
  in_progress: 'In progress',
  completed: 'Done',
};

function describeWork(ui: UiState, local: LocalState): string[] {
  const {retry} = ui;
  const run = openedRun(ui);
  // A Task is said by the line of its run.
  const calls = ui.tools.filter(({call, callId}) => !ui.dispatched.includes(callId) && !call.startsWith('Task '));
  const runs = ui.subagents.filter((each) => !hasEnded(each) && !each.isBackground).map(formatRunTitle);
  return [
    ...(isWorking(ui, local) && !ui.questions[0]?.list ? ['Working. Esc interrupts.'] : []),
    ...(retry
      ? [
          screenLine(
            retry.pause ? `${retry.reason}. Esc stops.` : `Trying again: ${retry.reason}, attempt ${retry.attempt}`,
          ),
        ]
      : []),
    ...calls.map(({call, description}) => `Call: ${call}${description && ` · ${description}`}`),
    ...(hasAwaitedWork(ui) ? ['Ctrl+B sends this to the background.'] : []),
    ...runs.map((title) => `Working: ${title}`),
    ...(run ? [`Opened: ${formatRunTitle(run)}. Esc goes back.`, ...tailLines(run.tail).map(({text}) => text)] : []),
  ];
}

/** Says which agents work in the background, and which one is marked. */
function describePanel(ui: UiState, local: LocalState): string[] {
  const runs = panelRuns(ui, local.panel !== undefined);
  const marked = local.panel && runs[markedIndex(runs, local.panel)];
  return [
    ...runs.filter((run) => !hasEnded(run)).map((run) => `In the background: ${formatRunTitle(run)}`),
    ...(marked ? [`Marked: ${formatRunTitle(marked)}, ${formatState(marked)}. Enter opens it, Esc goes back.`] : []),
  ];
}

function describeStatus({session}: UiState, {areKeysShown, historySearch, hint, vi}: LocalState): string[] {
  return [
    ...(session ? [`Mode: ${session.permissionMode}. Shift+Tab changes it.`] : []),
    ...(session?.vim && vi.isNormal ? ['Normal mode of vi. i inserts.'] : []),
    ...(historySearch ? [describeSearch(historySearch)] : []),
    ...(areKeysShown ? keyRows(0).map((row) => row.trim().replace(/ {2,}/, ': ')) : []),
    ...(hint === '' ? [] : [hint]),
  ];
}

/** Names the marked row of the list under the prompt. */
function describeOffered(ui: UiState, local: LocalState): string[] {
  const list = listOffered(ui, local);
  const marked = list.rows[list.marked];
  const search = local.historySearch || marked ? '' : describeFileSearch(ui, local);
  if (!marked) return search === '' ? [] : [search];
  return [`Marked: ${screenLine(marked.label)}${marked.description && `, ${marked.description}`}`];
}

function describeQuestion({list, ...question}: Question, count: number, local: LocalState) {
  const {formatter, focus} = local;
  const isPromptEmpty = local.editor.text === '';
  // The mark is said in a line of its own, so that the answers are said once.
  const unmarked = list ? undefined : focus && {...focus, marked: undefined};
  const {rows, cursor} = questionRows({question, count, focus: unmarked, isPromptEmpty, columns: WHOLE, formatter});
  const lines = rows
    .filter(({text, row}, at) => at !== cursor?.row && (row || text !== ''))
    .map(({text, row}) => (row ? toWords(row) : text).trim());
  if (list) return describeList(list, question.escape, lines.slice(0, -1), focus);
  const marked = focus?.note ? undefined : question.options[focus?.marked ?? -1];
  return {
    lines: marked ? [...lines, `Marked: ${marked.label}`] : lines,
    input: cursor && {text: rows[cursor.row]!.text, column: cursor.column, row: 0, isEmpty: focus?.note?.text === ''},
  };
}

/** Rows of a list that are said. */
const LIST_ROWS = 9;
const FIND = 'Find: ';

function describeList(list: readonly ListItem[], refusal: string, head: readonly string[], focus: LocalState['focus']) {
  const {text = '', cursor = 0} = focus?.note ?? {};
  const found = findInList(list, text);
  const at = Math.min(focus?.marked ?? 0, found.length - 1);
  const first = firstAround(at, found.length, LIST_ROWS);
  const say = ({label, info = []}: ListItem) => [label, ...[info].flat().filter((part) => part !== '')].join(', ');
  const listed = found.slice(first, first + LIST_ROWS).map((item, index) => `${first + index + 1}. ${say(item)}`);
  return {
    lines: [
      ...head,
      `Type to find, choose with Up and Down, take with Enter. Esc means ${refusal}.`,
      ...listed,
      ...(found.length > listed.length ? [`${found.length} in all`] : []),
      found[at] ? `Marked: ${found[at].label}` : 'Nothing matches what is typed.',
    ],
    input: {text: FIND + text, column: textWidth(FIND + text.slice(0, cursor)), row: 0, isEmpty: text === ''},
  };
}

/** While something is at work, the line appears with the first letter. */
function getTyped(ui: UiState, local: LocalState, isAsked: boolean, columns: number): InputLine | undefined {
  const {editor} = local;
  if (local.isLeaving || (editor.text === '' && (isAsked || isWorking(ui, local)))) return undefined;
  const {rows, cursor, above} = promptRows(editor, columns - MARK.length, 1);
  const mark = above === 0 ? MARK : '';
  const text = `${mark}${rows[0]}`;
  return {text, column: cursor.column - PROMPT_MARK.length + mark.length, row: above, isEmpty: editor.text === ''};
}

const MARK = 'You: ';
