/** The first lines of a session, and the first frame as Ink would draw it: text alone, so that it needs no library. */
import {screenLine} from '../text/screen-text.ts';
import {columnsBelowPrompt, MIN_FRAMED, PLACEHOLDER, PROMPT_MARK, promptWidth, ruleText} from './prompt-frame.ts';

export interface HeaderInfo {
  readonly version: string;
  readonly cwd: string;
  /** The built-in model will answer. */
  readonly offline: boolean;
  /** Nothing was typed in this folder before. */
  readonly isFirst: boolean;
  readonly columns: number;
}

/** What a person reads at the first start; a line about the key follows where none is set. */
const WELCOME = [
  'A coding agent: it reads, changes and runs what is in this folder, and asks first.',
  'Say what you want, for example: what does this project do? · ? lists the keys',
];

/** The first lines on the screen. @param color false when `NO_COLOR` is set */
export function headerText({version, cwd, offline, isFirst, columns}: HeaderInfo, color: boolean): string {
  const rules = columns < 44 ? '' : ' (rule-based)';
  const model = offline ? ` · offline model${rules}` : '';
  const more = isFirst ? WELCOME.flatMap((line) => wrapWords(line, columns)) : ['/help lists the commands, ? the keys'];
  const lines = [
    `${paint('1;36', 'mini-cc', color)} ${version}${paint('2', model, color)}`,
    ...[screenLine(cwd), ...more].map((line) => paint('2', line, color)),
  ];
  return `${lines.join('\n')}\n`;
}

function paint(code: string, text: string, color: boolean): string {
  return color ? `\u001b[${code}m${text}\u001b[0m` : text;
}

/** `text/wrap.ts` would do it too, and load what the header does not need. */
export function wrapWords(text: string, columns: number): string[] {
  const rows: string[] = [];
  for (const word of text.split(' ')) {
    const last = rows.at(-1);
    if (last === undefined || last.length + 1 + word.length > columns) rows.push(word);
    else rows[rows.length - 1] = `${last} ${word}`;
  }
  return rows;
}

/** The placeholder fits in. Columns. */
const MIN_COLUMNS = 40;

/** A lower or narrower window gets its frame from Ink, which leaves parts of it out. */
export function hasRoom(columns: number, rows: number): boolean {
  return columns >= MIN_COLUMNS && rows >= MIN_FRAMED;
}

/** Letters that the prompt's row takes. */
export function promptRoom(columns: number): number {
  return promptWidth(columns) - 1;
}

/** The frame, with the cursor behind what is typed. Below it is the row that Ink keeps free. */
export function frameText(typed: string, columns: number, color: boolean): string {
  const rule = paint('2', ruleText(columnsBelowPrompt(columns)), color);
  return `\n${rule}\n\n${rule}\n\n\u001b[3A${promptText(typed, color)}`;
}

/** Shows what is typed now in place of what was typed before: of a longer text only the rest. */
export function changeText(before: string, typed: string, color: boolean): string {
  return before !== '' && typed.startsWith(before) ? typed.slice(before.length) : promptText(typed, color);
}

/** The prompt's row, written over what stands in it. */
function promptText(typed: string, color: boolean): string {
  const shown = typed === '' ? `${paint('2', PLACEHOLDER, color)}\r\u001b[${PROMPT_MARK.length}C` : typed;
  return `\r\u001b[K${paint('36', PROMPT_MARK, color)}${shown}`;
}

/**
 * Erases the frame, from its first row on.
 * @param columns that it was drawn for. @param now columns of a window that has wrapped its rows again
 */
export function eraseFrame(typed: string, columns: number, now = columns): string {
  const rule = Math.ceil(ruleText(columnsBelowPrompt(columns)).length / now);
  const cursor = Math.floor((PROMPT_MARK.length + typed.length) / now);
  return `\u001b[${1 + rule + cursor}A\r\u001b[J`;
}
