/**
 * Edits the text of the prompt, as a pure reducer. Positions are UTF-16 offsets at grapheme boundaries. A big paste is
 * one private-use character in the text, so that the cursor moves over it and deletes it as a whole.
 */

import {screenText} from '../text/screen-text.ts';
import {splitGraphemes, textWidth} from '../text/wrap.ts';
import type {SentPrompt} from './prompt-history.ts';

export interface EditorState {
  readonly text: string;
  readonly cursor: number;
  /** The pasted text of each private-use character. */
  readonly pastes: ReadonlyMap<string, string>;
  /** Text that the last kill removed (e.g. Ctrl+K, Ctrl+U, Ctrl+W or Alt+D), for Ctrl+Y. */
  readonly killed: string;
  /** True when the last action was a kill. The next kill then adds its text to `killed`. */
  readonly isKilling: boolean;
  /** The column that Up and Down return to after a shorter row. */
  readonly goal: number | undefined;
  /** Earlier prompts, oldest first. */
  readonly history: readonly SentPrompt[];
  /** Index of the shown prompt; `history.length` means the text that the person writes at the moment. */
  readonly historyAt: number;
  /** The text that was being written when Up went to the history. */
  readonly draft: string;
  /** States that Ctrl+_ restores, oldest first. */
  readonly undo: readonly {readonly text: string; readonly cursor: number}[];
  /** True when the last action typed a part of a word. The next part is undone together with it. */
  readonly isTyping: boolean;
}

export type EditorAction =
  | {readonly type: 'insert'; readonly text: string}
  | {readonly type: 'paste'; readonly text: string}
  | {readonly type: 'set'; readonly text: string}
  /** Shows a prompt that was sent before. Its pastes are pastes again. */
  | {readonly type: 'recall'; readonly sent: SentPrompt}
  | {readonly type: 'replace'; readonly start: number; readonly end: number; readonly text: string}
  | {readonly type: 'up' | 'down'; readonly width: number}
  | {readonly type: keyof typeof STEPS | 'yank' | 'undo'};

/** The actions on the text between the cursor and another place. */
const STEPS = {
  left: [moveTo, before],
  right: [moveTo, after],
  'word-left': [moveTo, wordBefore],
  'word-right': [moveTo, wordAfter],
  'line-start': [moveTo, lineStart],
  'line-end': [moveTo, lineEnd],
  backspace: [remove, before],
  delete: [remove, after],
  'kill-word-left': [kill, wordBefore],
  'kill-blank-left': [kill, blankBefore],
  'kill-word-right': [kill, wordAfter],
  'kill-to-start': [kill, lineStart],
  'kill-to-end': [kill, lineRest],
} as const;

const BIG_PASTE_LINES = 10;
const BIG_PASTE_CHARS = 1000;
/** First private-use character of the last plane, which has 65,534 of them. */
const FIRST_PASTE = 0x10_0000;
const MAX_UNDO = 200;
const PASTE_MARKS = /[\u{100000}-\u{10fffd}]/gu;

const graphemes = new Intl.Segmenter(undefined, {granularity: 'grapheme'});

export function createEditor(history: readonly SentPrompt[] = []): EditorState {
  return {
    text: '',
    cursor: 0,
    pastes: new Map(),
    killed: '',
    isKilling: false,
    goal: undefined,
    history,
    historyAt: history.length,
    draft: '',
    undo: [],
    isTyping: false,
  };
}

export function edit(state: EditorState, action: EditorAction): EditorState {
  const next = apply(state, action);
  if (action.type === 'undo') return next;
  const isTyping = action.type === 'insert' && /^\S+$/.test(action.text);
  if (next.text === state.text) return next.isTyping ? {...next, isTyping: false} : next;
  const before = {text: state.text, cursor: state.cursor};
  const isOneStep = isTyping && state.isTyping;
  return {...next, isTyping, undo: isOneStep ? state.undo : [...state.undo, before].slice(-MAX_UNDO)};
}

function undo(state: EditorState): EditorState {
  const last = state.undo.at(-1);
  if (!last) return state;
  return {...reset(state), ...last, undo: state.undo.slice(0, -1), isTyping: false};
}

function apply(state: EditorState, action: EditorAction): EditorState {
  const {text, cursor} = state;
  switch (action.type) {
    case 'insert':
      return insert(state, clean(action.text));
    case 'paste':
      return paste(state, clean(action.text));
    case 'set':
      return {...reset(state), text: action.text, cursor: action.text.length};
    case 'recall':
      return put(state, action.sent);
    case 'replace': {
      const {start, end} = action;
      return insert({...state, text: text.slice(0, start) + text.slice(end), cursor: start}, clean(action.text));
    }
    case 'up':
    case 'down':
      return moveRow(state, action.type === 'up' ? -1 : 1, action.width);
    case 'yank':
      return insert(state, state.killed);
    case 'undo':
      return undo(state);
    default: {
      const [step, to] = STEPS[action.type];
      return step(state, to(text, cursor));
    }
  }
}

/** Returns the text with its pastes in full. */
export function expandedText(state: EditorState): string {
  return state.text.replace(PASTE_MARKS, (mark) => state.pastes.get(mark) ?? '');
}

/** Returns the text as it is sent, without blanks around it, with the places of its pastes. */
export function getSent(state: EditorState): SentPrompt {
  const whole = expandedText(state);
  const text = whole.trim();
  const cut = whole.length - whole.trimStart().length;
  const pastes: [number, number][] = [];
  let grown = -cut;
  for (const {0: mark, index} of state.text.matchAll(PASTE_MARKS)) {
    const {length} = state.pastes.get(mark) ?? '';
    const start = Math.max(0, index + grown);
    pastes.push([start, Math.min(text.length, index + grown + length)]);
    grown += length - mark.length;
  }
  return {text, ...(pastes.length > 0 && {pastes})};
}

/** Empties the editor and adds the sent prompt to the history. */
export function submitted(state: EditorState): EditorState {
  const sent = getSent(state);
  const isNew = sent.text !== '' && state.history.at(-1)?.text !== sent.text;
  return {...createEditor(isNew ? [...state.history, sent] : state.history), killed: state.killed};
}

function put(state: EditorState, {text, pastes: places = []}: SentPrompt): EditorState {
  let pastes = state.pastes;
  let shown = '';
  let at = 0;
  for (const [start, end] of places) {
    const mark = String.fromCodePoint(FIRST_PASTE + pastes.size);
    pastes = new Map(pastes).set(mark, clean(text.slice(start, end)));
    shown += clean(text.slice(at, start)) + mark;
    at = end;
  }
  shown += clean(text.slice(at));
  return {...reset(state), text: shown, cursor: shown.length, pastes};
}

/** Finds the places of the pastes in a text that was edited elsewhere. */
export function findPastes(text: string, pastes: EditorState['pastes']): NonNullable<SentPrompt['pastes']> {
  const found: [number, number][] = [];
  for (const content of pastes.values()) {
    const start = text.indexOf(content, found.at(-1)?.[1] ?? 0);
    if (start >= 0) found.push([start, start + content.length]);
  }
  return found;
}

/** Joins prompts into one, with the pastes of each. */
export function joinSent(prompts: readonly SentPrompt[]): SentPrompt {
  return prompts.reduce((joined, {text, pastes = []}) => {
    const start = joined.text.length + 2;
    const moved = pastes.map(([from, to]) => [from + start, to + start] as const);
    return {text: `${joined.text}\n\n${text}`, pastes: [...(joined.pastes ?? []), ...moved]};
  });
}

/** Returns the text for the screen, with a label for each paste. */
export function labelPastes({text, pastes = []}: SentPrompt): string {
  let shown = '';
  let at = 0;
  for (const [start, end] of pastes) {
    shown += text.slice(at, start) + pasteLabel(text.slice(start, end));
    at = end;
  }
  return shown + text.slice(at);
}

function insert(state: EditorState, added: string): EditorState {
  const text = state.text.slice(0, state.cursor) + added + state.text.slice(state.cursor);
  return {...reset(state), text, cursor: state.cursor + added.length};
}

function paste(state: EditorState, content: string): EditorState {
  if (content.split('\n').length <= BIG_PASTE_LINES && content.length <= BIG_PASTE_CHARS) return insert(state, content);
  const mark = String.fromCodePoint(FIRST_PASTE + state.pastes.size);
  return insert({...state, pastes: new Map(state.pastes).set(mark, content)}, mark);
}

/** Removes private-use characters, which would be read as pastes, and turns line ends into newlines. */
function clean(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(PASTE_MARKS, '');
}

function moveTo(state: EditorState, cursor: number): EditorState {
  return {...reset(state), cursor};
}

function remove(state: EditorState, to: number): EditorState {
  const [start, end] = [Math.min(to, state.cursor), Math.max(to, state.cursor)];
  return {...reset(state), text: state.text.slice(0, start) + state.text.slice(end), cursor: start};
}

function kill(state: EditorState, to: number): EditorState {
  const taken = state.text.slice(Math.min(to, state.cursor), Math.max(to, state.cursor));
  const joined = to < state.cursor ? taken + state.killed : state.killed + taken;
  return {...remove(state, to), killed: state.isKilling ? joined : taken, isKilling: true};
}

/** Ends a sequence of kills and of moves between rows. */
function reset(state: EditorState): EditorState {
  return {...state, isKilling: false, goal: undefined};
}

/** Moves over wrapped rows. From the first and the last row it goes through the history. */
function moveRow(state: EditorState, step: 1 | -1, width: number): EditorState {
  const layout = layoutText(state, width);
  const target: Cursor = {row: layout.cursor.row + step, column: state.goal ?? layout.cursor.column};
  if (target.row < 0 || target.row >= layout.rows.length) return showHistory(state, state.historyAt + step);
  return {...reset(state), cursor: offsetAt(layout, target), goal: target.column};
}

function showHistory(state: EditorState, at: number): EditorState {
  if (at < 0 || at > state.history.length) return state;
  const isDraft = state.historyAt === state.history.length;
  const draft = isDraft ? state.text : state.draft;
  const shown =
    at === state.history.length ? {...reset(state), text: draft, cursor: draft.length} : put(state, state.history[at]!);
  return {...shown, historyAt: at, draft};
}

function before(text: string, cursor: number): number {
  return graphemes.segment(text).containing(cursor - 1)?.index ?? 0;
}

function after(text: string, cursor: number): number {
  const next = graphemes.segment(text).containing(cursor);
  return next ? next.index + next.segment.length : text.length;
}

function wordBefore(text: string, cursor: number): number {
  return cursor - /[\p{L}\p{N}\p{M}_]*[^\p{L}\p{N}\p{M}_]*$/u.exec(text.slice(0, cursor))![0].length;
}

function wordAfter(text: string, cursor: number): number {
  return cursor + /^[^\p{L}\p{N}\p{M}_]*[\p{L}\p{N}\p{M}_]*/u.exec(text.slice(cursor))![0].length;
}

function blankBefore(text: string, cursor: number): number {
  return cursor - /\S*\s*$/.exec(text.slice(0, cursor))![0].length;
}

export function lineStart(text: string, cursor: number): number {
  return text.lastIndexOf('\n', cursor - 1) + 1;
}

export function lineEnd(text: string, cursor: number): number {
  const end = text.indexOf('\n', cursor);
  return end < 0 ? text.length : end;
}

/** At the end of a line, the line end is the rest. */
function lineRest(text: string, cursor: number): number {
  const end = lineEnd(text, cursor);
  return end === cursor ? after(text, cursor) : end;
}

interface Cursor {
  readonly row: number;
  /** Column of the terminal. */
  readonly column: number;
}

interface EditorLayout {
  readonly rows: readonly string[];
  readonly cursor: Cursor;
  /** All positions that the cursor can have, in the order of the text. */
  readonly stops: readonly (Cursor & {readonly offset: number})[];
}

/** Wraps the text at words; a word that is wider than a row is broken. @param width columns of a row */
export function layoutText({text, cursor, pastes}: EditorState, width: number): EditorLayout {
  const rows = [''];
  const stops: (Cursor & {offset: number})[] = [];
  let column = 0;
  let offset = 0;
  /** Where the last word of the row begins: its column, its place in the row's text, and its first stop. */
  let word = {column: 0, at: 0, stop: 0};
  const newRow = () => {
    rows.push('');
    column = 0;
    word = {column: 0, at: 0, stop: stops.length};
  };
  const wrapWord = () => {
    const row = rows.at(-1)!;
    const moved = {...word, text: row.slice(word.at)};
    rows[rows.length - 1] = row.slice(0, word.at);
    column -= moved.column;
    rows.push(moved.text);
    for (const stop of stops.slice(moved.stop))
      Object.assign(stop, {row: rows.length - 1, column: stop.column - moved.column});
    word = {column: 0, at: 0, stop: moved.stop};
  };
  for (const grapheme of splitGraphemes(text)) {
    const pasted = pastes.get(grapheme);
    const shown = pasted === undefined ? (grapheme === '\t' ? '  ' : screenText(grapheme)) : pasteLabel(pasted);
    const columns = textWidth(shown);
    if (grapheme !== '\n' && column > 0 && column + columns > width) {
      if (word.at > 0 && !/\s/.test(grapheme)) wrapWord();
      else newRow();
    }
    stops.push({row: rows.length - 1, column, offset});
    offset += grapheme.length;
    if (grapheme === '\n') {
      newRow();
    } else {
      rows[rows.length - 1] += shown;
      column += columns;
      if (/\s/.test(grapheme)) word = {column, at: rows.at(-1)!.length, stop: stops.length};
    }
  }
  // When a row is full, the cursor is on the next row.
  if (column >= width) newRow();
  stops.push({row: rows.length - 1, column, offset});
  const at = stops.find((stop) => stop.offset >= cursor) ?? stops.at(-1)!;
  return {rows, cursor: {row: at.row, column: at.column}, stops};
}

/** Returns the offset of a position on the screen: in its row, at its column or before it. */
function offsetAt(layout: EditorLayout, target: Cursor): number {
  const inRow = layout.stops.filter((stop) => stop.row === target.row);
  const nearest = inRow.findLast((stop) => stop.column <= target.column) ?? inRow[0];
  return nearest?.offset ?? 0;
}

/** Returns the label of a big paste, e.g. `[Pasted 42 lines]`. */
function pasteLabel(content: string): string {
  const lines = content.replace(/\n$/, '').split('\n').length;
  return lines > 1 ? `[Pasted ${lines} lines]` : `[Pasted ${content.length} characters]`;
}
