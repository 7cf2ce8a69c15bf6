/**
 * The conversation as the Messages API writes it. Types only: the SDK is not loaded here.
 */
import type {Anthropic} from '@anthropic-ai/sdk';

export type Message = Anthropic.MessageParam;
export type UserBlock = Anthropic.ContentBlockParam;
export type AssistantBlock = Anthropic.ContentBlock;
export type ToolUse = Anthropic.ToolUseBlock;
export type ToolResultBlock = Anthropic.ToolResultBlockParam;
export type ToolSpec = Anthropic.Tool;
export type StopReason = Anthropic.StopReason;
/** One raw event of the model's stream, as `--include-partial-messages` prints it. */
export type StreamEvent = Anthropic.RawMessageStreamEvent;

/** Tokens of one model call or the sum over several. All counts are tokens. */
export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
}

export const NO_USAGE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
    cache_creation_input_tokens: a.cache_creation_input_tokens + b.cache_creation_input_tokens,
  };
}

/** The text blocks of a message, joined by blank lines; other blocks are left out. */
export function textOf(content: string | readonly {type: string}[]): string {
  if (typeof content === 'string') return content;
  return content
    .filter((block): block is {type: 'text'; text: string} => block.type === 'text')
    .map((block) => block.text)
    .join('\n\n')
    .trim();
}
