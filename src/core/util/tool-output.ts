/** The two results that a tool makes itself. */
import type {ToolResult} from '../contract/tool-result.ts';

export function textResult(text: string, more: Omit<ToolResult, 'content'> = {}): ToolResult {
  return {content: text, ...more};
}

/** For what the model did wrong and can mend: the text tells it how. */
export function errorResult(text: string, more: Omit<ToolResult, 'content' | 'isError'> = {}): ToolResult {
  return {content: text, isError: true, ...more};
}

/** Head and tail of `text` with a line between them that says how much is missing and where the whole is. */
export function cutMiddle(text: string, maxChars: number, keptAt: string): string {
  if (text.length <= maxChars) return text;
  const head = Math.floor(maxChars / 2);
  const tail = maxChars - head;
  // A cut may fall between the two halves of a character.
  return joinCut(text.slice(0, head).toWellFormed(), text.slice(-tail).toWellFormed(), text.length - maxChars, keptAt);
}

export function joinCut(head: string, tail: string, missing: number, keptAt: string): string {
  return `${head}\n\n[... ${missing.toLocaleString('en-US')} characters cut; the whole output: ${keptAt} ...]\n\n${tail}`;
}
