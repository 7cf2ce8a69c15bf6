/** Creates results of tools, and cuts long output: the model reads its start and end, and a file has all of it. */
import type {AgentEventBody} from '../contract/events.ts';
import type {ToolResultBlock} from '../contract/model.ts';
import type {OutputFile, OutputStore, ToolResult} from '../contract/results.ts';
import type {CallShown} from '../contract/transcript.ts';
import {getErrorMessage} from './errors.ts';
import {getText} from './messages.ts';
import {dropOverwritten, toOneLine} from './text.ts';

/** Summary of a call that a person refused. */
export const REFUSED = 'refused';
/** Precedes the person's words in a message for the model. */
export const USER_SAYS = 'The user says: ';

/** Number of characters of a result, for a tool that sets no limit. */
const DEFAULT_MAX_CHARS = 30_000;

export function textResult(text: string, more: Omit<ToolResult, 'content'> = {}): ToolResult {
  return {content: text, ...more};
}

/** Creates an error that the model can correct: the text says what was wrong and what to do. */
export function errorResult(text: string, more: Omit<ToolResult, 'content' | 'isError'> = {}): ToolResult {
  return {content: text, isError: true, ...more};
}

/**
 * Cuts the middle out of a text of more than `maxChars` UTF-16 units.
 * @param savedAt place of the whole text, for the line that replaces the middle
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

/** Describes a call by its input alone, when the tool's own description is not available. */
export function describeInput(input: unknown): string {
  if (typeof input !== 'object' || input === null) return '';
  const values = Object.entries(input);
  const [, value] = values.find(([key]) => NAMING_KEYS.includes(key)) ?? values[0] ?? [];
  return typeof value === 'string' ? toOneLine(value) : '';
}

/** Number of characters of a result that front ends show. */
const PREVIEW_CHARS = 2_000;

export function cutPreview(text: string, isEnd = false): string {
  const shown = dropOverwritten(text);
  return isEnd ? shown.slice(-PREVIEW_CHARS) : shown.slice(0, PREVIEW_CHARS);
}

/** Returns the events that showed a call, from its result in a restored conversation. */
export function replayCall(
  tool: string,
  input: unknown,
  {tool_use_id: callId, content = '', is_error: isError = false}: ToolResultBlock,
  {title, description, ...seen}: CallShown = {title: describeInput(input)},
): [start: AgentEventBody, end: AgentEventBody] {
  const preview = cutPreview(getText(content), seen.previewIsEnd);
  return [
    {type: 'tool_start', callId, tool, title, ...(description !== undefined && {description})},
    {type: 'tool_end', callId, tool, isError, durationMs: 0, preview, ...seen},
  ];
}

/** Cuts a longer text in the middle, and writes the whole text to a file. Other content of the result is unchanged. */
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
    // A full disk must not lose the result too.
    return cutMiddle(text, maxChars, `could not be kept: ${getErrorMessage(error)}`);
  }
}

/** Remembers the file that was opened last. */
export class WatchedOutput implements OutputStore {
  file: string | undefined;

  constructor(private readonly store: OutputStore) {}

  open(callId: string): OutputFile {
    const opened = this.store.open(callId);
    this.file = opened.path;
    return opened;
  }
}
