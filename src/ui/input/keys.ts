/** Turns Ink's input into key presses, and key presses into actions of the editor. */
import type {Key} from 'ink';
import type {EditorAction} from './editor.ts';

/** Keys that have the same name in Ink. */
const SAME_NAMES = ['return', 'escape', 'tab', 'home', 'end', 'backspace', 'delete'] as const;

type KeyName = (typeof SAME_NAMES)[number] | 'up' | 'down' | 'left' | 'right' | 'text' | 'other';

export interface KeyPress {
  readonly name: KeyName;
  /** The typed text; with `ctrl` or `meta` the letter of the key. */
  readonly text: string;
  readonly ctrl: boolean;
  readonly meta: boolean;
  readonly shift: boolean;
}

const ESCAPE: KeyPress = {name: 'escape', text: '', ctrl: false, meta: false, shift: false};

/**
 * Splits one chunk of input into keys. It has several when the person types faster than the program reads. Then each
 * line end is the Enter key. `terminal-input.ts` marks many lines at once as a paste, which does not come here.
 */
export function parseKeys(input: string, key: Key): KeyPress[] {
  if (key.eventType === 'release') return [];
  const name = getName(key);
  const {ctrl, meta, shift} = key;
  // Two quick presses of Esc arrive as one chunk.
  if (name === 'escape' && meta) return [ESCAPE, ESCAPE];
  if (name !== undefined) return [{name, text: '', ctrl, meta, shift}];
  if (key.super || key.hyper || input === '') return [];
  if (ctrl || meta) return [{name: 'text', text: input, ctrl, meta, shift}];
  return (input.match(/\r\n?|[^\0-\x1f]+|[\0-\x1f]/g) ?? []).map(parsePart);
}

function parsePart(part: string): KeyPress {
  const plain = {ctrl: false, meta: false, shift: false};
  if (part.startsWith('\r')) return {name: 'return', text: '', ...plain};
  if (part === '\t') return {name: 'tab', text: '', ...plain};
  const code = part.charCodeAt(0);
  if (code < 0x20 && part !== '\n') {
    // Ctrl+_ is 0x1f. Control codes above those of the letters stand for capital ASCII characters.
    return {name: 'text', text: String.fromCharCode(code + (code > 0x1a ? 0x40 : 0x60)), ...plain, ctrl: true};
  }
  return {name: 'text', text: part, ...plain};
}

function getName(key: Key): KeyName | undefined {
  if (key.upArrow) return 'up';
  if (key.downArrow) return 'down';
  if (key.leftArrow) return 'left';
  if (key.rightArrow) return 'right';
  if (key.pageUp || key.pageDown) return 'other';
  return SAME_NAMES.find((name) => key[name]);
}

const CTRL_LETTERS: Readonly<Record<string, EditorAction>> = {
  a: {type: 'line-start'},
  e: {type: 'line-end'},
  b: {type: 'left'},
  f: {type: 'right'},
  k: {type: 'kill-to-end'},
  u: {type: 'kill-to-start'},
  w: {type: 'kill-blank-left'},
  y: {type: 'yank'},
  d: {type: 'delete'},
  h: {type: 'backspace'},
  j: {type: 'insert', text: '\n'},
  _: {type: 'undo'},
  '-': {type: 'undo'},
};

const ALT_LETTERS: Readonly<Record<string, EditorAction>> = {
  b: {type: 'word-left'},
  f: {type: 'word-right'},
  d: {type: 'kill-word-right'},
};

/**
 * Returns the editor's action for a key; undefined when the key does not edit, e.g. Enter without a modifier.
 * @param width columns of the editor's rows, for Up and Down
 */
export function editorAction(press: KeyPress, width: number): EditorAction | undefined {
  const isModified = press.ctrl || press.meta;
  switch (press.name) {
    case 'text':
      if (press.ctrl) return CTRL_LETTERS[press.text];
      if (press.meta) return ALT_LETTERS[press.text];
      return {type: 'insert', text: press.text};
    case 'return':
      return press.shift || press.meta ? {type: 'insert', text: '\n'} : undefined;
    case 'up':
    case 'down':
      return {type: press.name, width};
    case 'left':
      return {type: isModified ? 'word-left' : 'left'};
    case 'right':
      return {type: isModified ? 'word-right' : 'right'};
    case 'home':
      return {type: 'line-start'};
    case 'end':
      return {type: 'line-end'};
    case 'backspace':
      return {type: isModified ? 'kill-word-left' : 'backspace'};
    case 'delete':
      return {type: isModified ? 'kill-word-right' : 'delete'};
    default:
      return undefined;
  }
}
