/** Results of tools, and the cutting of long output: the model reads head and tail, a file has the whole. */
import type {OutputFile, OutputStore, ToolResult} from '../contract/results.ts';
import {getErrorMessage} from './errors.ts';
import {getText} from './messages.ts';
import {toOneLine} from './text.ts';

/** What came of a call that a person refused. */
export const REFUSED = 'refused';
/** Stands before what the person said to the model with it. */
export const USER_SAYS = 'The user says: ';

/** Of a result, for a tool that names no number of its own. */
const DEFAULT_MAX_CHARS = 30_000;

export function textResult(text: string, more: Omit<ToolResult, 'content'> = {}): ToolResult {
  return {content: text, ...more};
}

/** An error that the model can correct: the text says what was wrong and what to do. */
export function errorResult(text: string, more: Omit<ToolResult, 'content' | 'isError'> = {}): ToolResult {
  return {content: text, isError: true, ...more};
}

/**
 * Cuts the middle out of a text of more than `maxChars` UTF-16 units.
 * @param savedAt where the whole text is, for the line that stands in place of the middle.
 */
export function cutMiddle(text: string, maxChars: number, savedAt: string): string {
  if (text.length <= maxChars) return text;
  const head = Math.floor(maxChars / 2);
  const tail = maxChars - head;
  // A cut may fall between the two surrogates of a character.
  return joinCut(text.slice(0, head).toWellFormed(), text.slice(-tail).toWellFormed(), text.length - maxChars, savedAt);
}

/** Joins head and tail of a text by a line that says how much is missing and where the whole text is. */
export function joinCut(head: string, tail: string, missing: number, savedAt: string): string {
  return `${head}\n\n[... ${missing.toLocaleString('en-US')} characters cut; the whole output: ${savedAt} ...]\n\n${tail}`;
}

const NAMING_KEYS = ['command', 'path', 'pattern', 'url', 'query', 'description'];

/** Names a call by its input alone, where it is not known how the tool named it. */
export function describeInput(input: unknown): string {
  if (typeof input !== 'object' || input === null) return '';
  const values = Object.entries(input);
  const [, value] = values.find(([key]) => NAMING_KEYS.includes(key)) ?? values[0] ?? [];
  return typeof value === 'string' ? toOneLine(value) : '';
}

/** A longer text is cut in the middle, and kept whole in a file. What else a result has stays as it is. */
export function cutContent(
  content: ToolResult['content'],
  maxChars: number = DEFAULT_MAX_CHARS,
  output: OutputStore,
  callId: string,
): ToolResult['content'] {
  const text = getText(content ?? '');
  if (text.length <= maxChars) return content;
  const others = typeof content === 'string' ? [] : (content ?? []).filter(({type}) => type !== 'text');
  const short = keepAndCut(text, maxChars, output, callId);
  return others.length === 0 ? short : [{type: 'text', text: short}, ...others];
}

function keepAndCut(text: string, maxChars: number, output: OutputStore, callId: string): string {
  try {
    const file = output.open(callId);
    file.write(text);
    file.close();
    return cutMiddle(text, maxChars, file.path);
  } catch (error) {
    // A full disk must not take the result with it.
    return cutMiddle(text, maxChars, `could not be kept: ${getErrorMessage(error)}`);
  }
}

/** Knows which file was opened last. */
export class WatchedOutput implements OutputStore {
  file: string | undefined;

  constructor(private readonly store: OutputStore) {}

  open(callId: string): OutputFile {
    const opened = this.store.open(callId);
    this.file = opened.path;
    return opened;
  }
}
