/** Builds the first lines of a session and the first frame as text for the terminal, without any library. */
import {screenLine} from '../text/screen-text.ts';
import {type FrameSpan, MIN_FRAMED, PLACEHOLDER, PROMPT_MARK, promptFrame, promptWidth} from './prompt-frame.ts';

export interface HeaderInfo {
  readonly version: string;
  readonly cwd: string;
  /** The user's home, which is written `~`. */
  readonly userHome?: string | undefined;
  /** True when the offline model will answer. */
  readonly offline: boolean;
  /** True when nothing was typed in this folder before. */
  readonly isFirst: boolean;
  readonly columns: number;
}

/** Lines that greet a person at the first start. When no key is set, another line about it follows. */
const WELCOME = [
  'A coding agent: it reads, changes and runs what is in this folder, and asks first.',
  'Say what you want, for example: what does this project do? · ? lists the keys',
];

/** Returns the first lines on the screen. @param color false when `NO_COLOR` is set */
export function headerText({version, cwd, userHome, offline, isFirst, columns}: HeaderInfo, color: boolean): string {
  const folder = userHome && `${cwd}/`.startsWith(`${userHome}/`) ? `~${cwd.slice(userHome.length)}` : cwd;
  const rules = columns < 44 ? '' : ' (rule-based)';
  const model = offline ? ` · offline model${rules}` : '';
  const more = isFirst ? WELCOME.flatMap((line) => wrapWords(line, columns)) : ['/help lists the commands, ? the keys'];
  const lines = [
    `${paint('1;36', 'mini-cc', color)} ${version}${paint('2', model, color)}`,
    ...[screenLine(folder), ...more].map((line) => paint('2', line, color)),
  ];
  return `${lines.join('\n')}\n`;
}

function paint(code: string, text: string, color: boolean): string {
  return color ? `\u001b[${code}m${text}\u001b[0m` : text;
}

/** Wraps a text at its blanks. `text/wrap.ts` can do it too, but it loads libraries that the header does not need. */
export function wrapWords(text: string, columns: number): string[] {
  const rows: string[] = [];
  for (const word of text.split(' ')) {
    const last = rows.at(-1);
    if (last === undefined || last.length + 1 + word.length > columns) rows.push(word);
    else rows[rows.length - 1] = `${last} ${word}`;
  }
  return rows;
}

/** Columns that the placeholder needs. */
const MIN_COLUMNS = 40;

/** Tells whether the window is large enough for this frame. In a smaller window Ink draws it and leaves parts out. */
export function hasRoom(columns: number, rows: number): boolean {
  return columns >= MIN_COLUMNS && rows >= MIN_FRAMED;
}

/** Returns how many letters fit into the prompt's row. */
export function promptRoom(columns: number): number {
  return promptWidth(columns) - 1;
}

/** The text in the prompt: what is before the cursor, and what is behind it. */
export interface TypedText {
  readonly typed: string;
  readonly behind: string;
}

/** Returns the frame, with the cursor in the typed text. The row below it is the one that Ink leaves free. */
export function frameText(text: TypedText, columns: number, color: boolean): string {
  const rows = frameRows(text.typed + text.behind, columns).map((row) => paintRow(row, color));
  return `\n${rows.join('\n')}\n\n\u001b[3A${promptText(text, columns, color)}`;
}

/** Replaces the typed text on the screen. When text was only appended, it writes only the new part. */
export function changeText(before: TypedText, now: TypedText, columns: number, color: boolean): string {
  if (before.typed === now.typed && before.behind === now.behind) return '';
  const isAppended = before.typed !== '' && now.typed.startsWith(before.typed) && before.behind + now.behind === '';
  return isAppended ? now.typed.slice(before.typed.length) : promptText(now, columns, color);
}

function frameRows(typed: string, columns: number): FrameSpan[][] {
  return promptFrame({rows: [typed], placeholder: typed === '' ? PLACEHOLDER : '', columns, isFramed: true});
}

/** Codes of the terminal's own colours. The settings, which name the theme, are not read yet. */
const CODES = {accent: '36', muted: '2'};

function paintRow(row: readonly FrameSpan[], color: boolean): string {
  return row.map(({text, style: {tone}}) => (tone ? paint(CODES[tone], text, color) : text)).join('');
}

/**
 * Returns the prompt's row. It overwrites the row on the screen. To place the cursor it writes the text before the cursor
 * once more, so that the terminal counts the columns.
 */
function promptText({typed, behind}: TypedText, columns: number, color: boolean): string {
  const paintPrompt = (text: string) => paintRow(frameRows(text, columns)[1]!, color);
  const toStart = `\r\u001b[${PROMPT_MARK.length}C`;
  const toCursor = typed === '' ? toStart : behind === '' ? '' : `${toStart}${typed}`;
  return `\r\u001b[K${paintPrompt(typed + behind)}${toCursor}`;
}

/** Returns how many columns a text takes at most. Scripts from Hangul on may have letters of two columns. */
export function countColumns(text: string): number {
  return [...text].reduce((sum, character) => sum + (character < '\u1100' ? 1 : 2), 0);
}

/**
 * Erases the frame, from its first row on.
 * @param columns width for which the frame was drawn
 * @param now width of a window that has wrapped the rows again
 * @param isShifted true for xterm.js, where the rows that the lower rule got have moved the cursor down
 */
export function eraseFrame({typed}: TypedText, columns: number, now = columns, isShifted = false): string {
  const rule = Math.ceil(columns / now);
  const cursor = Math.floor((PROMPT_MARK.length + countColumns(typed)) / now);
  return `\u001b[${1 + rule + (isShifted ? rule - 1 : cursor)}A\r\u001b[J`;
}
