/** The list of finished things: append-only, each printed once by Ink's `<Static>`. */
import type {AgentEventBody} from '../../core/contract/events.ts';
import {announcementFields} from '../../core/runs/announcement.ts';
import {type ProgressState, progressLine} from '../../core/runs/progress-line.ts';
import {screenLine, screenText} from '../text/screen-text.ts';
import {EMPTY_STREAM, feedStream, finishStream} from '../text/stream-blocks.ts';
import {wrapText} from '../text/wrap.ts';
import type {Announcement, FinishedBody, FinishedItem, UiState} from './ui-state.ts';

/** Adds one finished thing. */
export function addItem(state: UiState, body: FinishedBody): UiState {
  return addItems(state, [body]);
}

/** Adds finished things in order; a blank line stands between those that don't belong together. */
export function addItems(state: UiState, bodies: readonly (FinishedBody & {readonly continued?: boolean})[]): UiState {
  if (bodies.length === 0) return state;
  const finished = [...state.finished];
  for (const {continued, ...body} of bodies) {
    const before = finished.at(-1);
    const isPair = before?.kind === body.kind && (body.kind === 'tool' || body.kind === 'notice');
    finished.push({...body, id: finished.length, gap: !isPair && !continued} as FinishedItem);
  }
  return {...state, finished};
}

/** Text of the main agent: the blocks that it finished, and the stream's new state. */
export function feedText(state: UiState, text: string) {
  const {state: stream, blocks} = feedStream(state.stream, text);
  return {stream, items: blocks.map(markdownItem)};
}

/** A whole text at once. */
export function addText(state: UiState, text: string): UiState {
  const before = finishText(state);
  const {stream, items} = feedText(before, text);
  return finishText(addItems({...before, stream}, items));
}

/** What the model wrote so far is all there will be: the tail is printed. */
export function finishText(state: UiState): UiState {
  if (state.stream === EMPTY_STREAM) return state;
  return addItems({...state, stream: EMPTY_STREAM}, finishStream(state.stream).map(markdownItem));
}

function markdownItem(block: {text: string; indent: number; continued: boolean}) {
  return {
    kind: 'markdown',
    text: screenText(block.text),
    indent: block.indent,
    continued: block.continued,
  } as const;
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

const MAX_ROWS = 20;
/** What a row of the screen is taken to hold; a narrow window makes more rows of it. */
const ROW_COLUMNS = 76;

/** One that was restored knows no description when its run is gone. */
type Announced = Omit<Extract<AgentEventBody, {type: 'announcement'}>, 'type' | 'description'> & {
  readonly description?: string;
};

/** @param run what the screen knows of it; nothing when it ended before this program was started */
export function announcementItem(event: Announced, run: ProgressState | undefined): Announcement {
  const {result, notes} = announcementFields(event.text);
  const state = event.outcome;
  const agent = screenLine(event.agent);
  const header = run
    ? progressLine({...run, state}).trim()
    : `${`[${agent}] ${screenLine(event.description ?? '')}`.trim()} - ${state === 'success' ? 'done' : state}`;
  return {
    runId: screenLine(event.runId),
    agent,
    state,
    header,
    ...firstLines(screenText(result).trim()),
    notes: notesOf(notes),
  };
}

function notesOf(written: string): string {
  const notes = screenText(written).trim();
  return notes === '- (none)' ? '' : notes;
}

/** About `MAX_ROWS` rows from the beginning, and how many are left. A block of code that was cut is closed. */
function firstLines(text: string): {text: string; more: number} {
  const lines = text.split('\n').map((line) => ({line, rows: wrapText(line, ROW_COLUMNS)}));
  const shown: string[] = [];
  let room = MAX_ROWS;
  for (const {line, rows} of lines) {
    if (rows.length > room) {
      // A paragraph in one line, as models write it, is cut within.
      if (room > 2) {
        shown.push(`${rows.slice(0, room).join(' ')}…`);
        room = 0;
      }
      break;
    }
    shown.push(line);
    room -= rows.length;
  }
  const more = lines.reduce((sum, {rows}) => sum + rows.length, 0) - (MAX_ROWS - room);
  const fences = shown.filter((line) => /^\s*```/.test(line)).length;
  if (more > 0 && fences % 2 === 1) shown.push('```');
  return {text: shown.join('\n').trimEnd(), more};
}
