/** The keys of vi in the prompt (`vim: true`): a pure function over the editor. Insert mode leaves its keys to the editor. */
import {type EditorState, edit, lineEnd, lineStart} from './editor.ts';
import type {KeyPress} from './keys.ts';

export interface ViState {
  readonly isNormal: boolean;
  /** The operator that waits for a motion. */
  readonly pending: '' | 'd' | 'c' | 'y';
}

export const INSERT: ViState = {isNormal: false, pending: ''};
const NORMAL: ViState = {isNormal: true, pending: ''};

interface Edited {
  readonly vi: ViState;
  readonly editor: EditorState;
}

const WORD = String.raw`[\p{L}\p{N}\p{M}_]+|[^\p{L}\p{N}\p{M}_\s]+`;
const TO_NEXT = new RegExp(`^(?:${WORD})?\\s*`, 'u');
const TO_END = new RegExp(`^.?\\s*(?:${WORD})`, 'su');
const TO_BEFORE = new RegExp(`(?:${WORD})\\s*$`, 'u');
const WHOLE = new RegExp(`^(?:${WORD}|\\s+)`, 'u');

/** Where motions lead from a place. `isInclusive`: an operator takes the character there, too. */
const MOTIONS: Readonly<
  Record<string, {readonly to: (text: string, at: number) => number; readonly isInclusive?: true}>
> = {
  h: {to: (text, at) => Math.max(lineStart(text, at), at - 1)},
  l: {to: (text, at) => Math.min(lineEnd(text, at), at + 1)},
  w: {to: (text, at) => at + TO_NEXT.exec(text.slice(at))![0].length},
  e: {to: (text, at) => at + Math.max(0, (TO_END.exec(text.slice(at))?.[0].length ?? 1) - 1), isInclusive: true},
  b: {to: (text, at) => at - (TO_BEFORE.exec(text.slice(0, at))?.[0].length ?? at)},
  '0': {to: lineStart},
  $: {to: lineEnd},
};

/** @returns undefined for a key that is no key of vi in this mode */
export function pressVi(vi: ViState, editor: EditorState, press: KeyPress, width: number): Edited | undefined {
  if (press.ctrl || press.meta) return undefined;
  const {text, cursor} = editor;
  if (!vi.isNormal) {
    if (press.name !== 'escape' || text === '') return undefined;
    return {vi: NORMAL, editor: moveTo(editor, Math.max(lineStart(text, cursor), cursor - 1))};
  }
  if (press.name === 'escape') return vi.pending === '' ? undefined : {vi: NORMAL, editor};
  if (press.name !== 'text') return undefined;
  // Several keys may come at once.
  let state: Edited = {vi, editor};
  for (const [index, key] of [...press.text].entries()) {
    if (!state.vi.isNormal) {
      const rest = [...press.text].slice(index).join('');
      return {vi: state.vi, editor: edit(state.editor, {type: 'insert', text: rest})};
    }
    state = pressNormal(state, key, width);
  }
  return state;
}

function pressNormal({vi: {pending}, editor}: Edited, key: string, width: number): Edited {
  const {text, cursor} = editor;
  const normal = (next: EditorState): Edited => ({vi: NORMAL, editor: clamp(next)});
  const insert = (next: EditorState): Edited => ({vi: INSERT, editor: next});
  if (pending !== '') {
    const range = key === pending ? getLine(text, cursor, pending === 'c') : getRange(text, cursor, pending, key);
    if (!range) return normal(editor);
    const isLine = key === pending;
    const killed = isLine ? `${text.slice(...getLine(text, cursor, true))}\n` : text.slice(...range);
    if (pending === 'y') return normal({...moveTo(editor, isLine ? cursor : range[0]), killed});
    const next = {...edit(editor, {type: 'replace', start: range[0], end: range[1], text: ''}), killed};
    return pending === 'c' ? insert(next) : normal(next);
  }
  const motion = MOTIONS[key];
  if (motion) return normal(moveTo(editor, motion.to(text, cursor)));
  switch (key) {
    case 'd':
    case 'c':
    case 'y':
      return {vi: {isNormal: true, pending: key}, editor};
    case 'j':
    case 'k':
      return normal(edit(editor, {type: key === 'j' ? 'down' : 'up', width}));
    case 'x': {
      const end = Math.min(lineEnd(text, cursor), cursor + 1);
      const next = edit(editor, {type: 'replace', start: cursor, end, text: ''});
      return normal({...next, killed: text.slice(cursor, end)});
    }
    case 'i':
      return insert(editor);
    case 'a':
      return insert(moveTo(editor, Math.min(lineEnd(text, cursor), cursor + 1)));
    case 'I':
      return insert(moveTo(editor, lineStart(text, cursor)));
    case 'A':
      return insert(moveTo(editor, lineEnd(text, cursor)));
    case 'o':
      return insert(edit(moveTo(editor, lineEnd(text, cursor)), {type: 'insert', text: '\n'}));
    case 'u':
      return normal(edit(editor, {type: 'undo'}));
    case 'p': {
      const isLine = editor.killed.endsWith('\n');
      const at = isLine ? lineEnd(text, cursor) : Math.min(lineEnd(text, cursor), cursor + 1);
      const put = isLine ? `\n${editor.killed.slice(0, -1)}` : editor.killed;
      return normal(edit(moveTo(editor, at), {type: 'insert', text: put}));
    }
    default:
      return normal(editor);
  }
}

/** Returns what an operator and a motion take; undefined for a key that is no motion. */
function getRange(text: string, cursor: number, operator: string, key: string): [number, number] | undefined {
  // As in vi, `cw` leaves the blanks after the word.
  if (operator === 'c' && key === 'w') return [cursor, cursor + (WHOLE.exec(text.slice(cursor))?.[0].length ?? 0)];
  const motion = MOTIONS[key];
  if (!motion) return undefined;
  const to = motion.to(text, cursor);
  const end = to + (motion.isInclusive && to < text.length ? 1 : 0);
  return to < cursor ? [to, cursor] : [cursor, end];
}

/** Returns the line with its line end; with `isContent`, its text alone. The last line takes the line end before it. */
function getLine(text: string, cursor: number, isContent: boolean): [number, number] {
  const [start, end] = [lineStart(text, cursor), lineEnd(text, cursor)];
  if (isContent) return [start, end];
  return end < text.length ? [start, end + 1] : [Math.max(0, start - 1), end];
}

function moveTo(editor: EditorState, cursor: number): EditorState {
  return {...editor, cursor, isKilling: false, isTyping: false, goal: undefined};
}

/** In normal mode the cursor stands on a character, not behind the line. */
function clamp(editor: EditorState): EditorState {
  const {text, cursor} = editor;
  const last = Math.max(lineStart(text, cursor), lineEnd(text, cursor) - 1);
  return cursor > last ? {...editor, cursor: last} : editor;
}
