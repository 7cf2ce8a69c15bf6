/** The two results that a tool makes itself. */
import type {ToolResult} from '../contract/tool-result.ts';

export function textResult(text: string, more: Omit<ToolResult, 'content'> = {}): ToolResult {
  return {content: text, ...more};
}

/** For what the model did wrong and can mend: the text tells it how. */
export function errorResult(text: string, more: Omit<ToolResult, 'content' | 'isError'> = {}): ToolResult {
  return {content: text, isError: true, ...more};
}
