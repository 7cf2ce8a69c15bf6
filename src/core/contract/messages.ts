/**
 * The conversation as the Messages API writes it. Types only: the SDK is not loaded here.
 */
import type {Anthropic} from '@anthropic-ai/sdk';

export type Message = Anthropic.MessageParam;
export type UserBlock = Anthropic.ContentBlockParam;
/** What a person writes: text, or text with images. */
export type PromptContent = string | readonly Extract<UserBlock, {type: 'text' | 'image'}>[];
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
