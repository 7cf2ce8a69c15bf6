/** Appends finished items to the list that Ink's `<Static>` prints, each item once. */
import type {Announcement} from '../../core/contract/transcript.ts';
import {formatEnding, formatProgressLine} from '../../core/runs/progress-line.ts';
import {isEmpty} from '../text/answer-stream.ts';
import {screenLine, screenText} from '../text/screen-text.ts';
import {wrapText} from '../text/wrap.ts';
import type {AnnouncementItem, FinishedBody, FinishedItem, NoticeLevel, SubagentRun, UiState} from './ui-state.ts';

/** Prints one item. While an answer grows, the item waits until it can stand between two blocks of it. */
export function addItem(state: UiState, body: FinishedBody): UiState {
  return isEmpty(state.stream) ? addItems(state, [body]) : {...state, waiting: [...state.waiting, body]};
}

export function addNotice(state: UiState, level: NoticeLevel, text: string): UiState {
  return addItem(state, {kind: 'notice', level, text});
}

/** Prints items in order, with a blank line between items that do not belong together. */
export function addItems(state: UiState, bodies: readonly (FinishedBody & {readonly continued?: boolean})[]): UiState {
  if (bodies.length === 0) return state;
  const finished = [...state.finished];
  for (const {continued, ...body} of bodies) {
    const before = finished.at(-1);
    const isPair = before?.kind === body.kind && PAIRED.has(body.kind) && !isList(before) && !isList(body);
    finished.push({...body, id: finished.length, gap: !isPair && !continued} as FinishedItem);
  }
  return {...state, finished};
}

/** Kinds of items that have no blank line between neighbours. */
const PAIRED: ReadonlySet<FinishedBody['kind']> = new Set(['tool', 'notice', 'subagents', 'announcement']);

/** Tells whether the item is a notice of several lines, which stands alone. */
function isList(item: FinishedBody): boolean {
  return item.kind === 'notice' && item.text.includes('\n');
}

/** Frees the text of the first `count` items, which Ink has printed. */
export function forgetPrinted(state: UiState, count: number): UiState {
  return {
    ...state,
    finished: state.finished.map((item, index) =>
      index < count && item.kind !== 'printed' ? {id: item.id, gap: false, kind: 'printed'} : item,
    ),
  };
}

const MAX_ROWS = 4;
/** Columns of a row for counting the rows of a result. A narrower window has more rows. */
const ROW_COLUMNS = 76;

/**
 * Formats the end of a background run for the person, with only the beginning of its result, or the end of a command's.
 * @param run last state of the run on the screen; undefined when the run ended before this program started
 */
export function announcementItem(event: Announcement, run: SubagentRun | undefined): AnnouncementItem {
  const state = event.outcome;
  const agent = screenLine(event.agent);
  const header = run
    ? formatProgressLine({...run, state}).trim()
    : `${`[${agent}] ${screenLine(event.description ?? '')}`.trim()} - ${formatEnding(state, screenLine(event.reason))}`;
  return {
    runId: screenLine(event.runId),
    agent,
    color: run?.color ?? 0,
    state,
    header,
    receipt: [...getCause(event), ...(run?.receipt ?? [])],
    ...(run?.output ? lastLines(run.output) : firstLines(screenText(event.text).trim())),
  };
}

/** Returns the last lines, because the end of an output shows the result of the command. */
function lastLines(text: string): Pick<AnnouncementItem, 'text' | 'more' | 'isEnd'> {
  const lines = text.trimEnd().split('\n');
  return {text: lines.slice(-MAX_ROWS).join('\n'), more: Math.max(0, lines.length - MAX_ROWS), isEnd: true};
}

/** Returns the cause of an unsuccessful end where the header does not name it. */
function getCause({outcome, reason}: Announcement): string[] {
  if (outcome === 'unknown') return ['mini-cc ended before this run did'];
  return outcome === 'timeout' && reason !== '' ? [screenLine(reason)] : [];
}

/**
 * Returns about `MAX_ROWS` rows from the beginning, and the number of the other rows. A code block that is cut gets its
 * end.
 */
function firstLines(text: string): {text: string; more: number} {
  const lines = text.split('\n').map((line) => ({line, rows: wrapText(line, ROW_COLUMNS)}));
  const shown: string[] = [];
  let left = MAX_ROWS;
  for (const {line, rows} of lines) {
    if (rows.length > left) {
      // Models write a paragraph as one line, so a long line is cut inside.
      if (left > 2) {
        shown.push(`${rows.slice(0, left).join(' ')}…`);
        left = 0;
      }
      break;
    }
    shown.push(line);
    left -= rows.length;
  }
  const more = lines.reduce((sum, {rows}) => sum + rows.length, 0) - (MAX_ROWS - left);
  const fences = shown.filter((line) => /^\s*```/.test(line)).length;
  if (more > 0 && fences % 2 === 1) shown.push('```');
  return {text: shown.join('\n').trimEnd(), more};
}
