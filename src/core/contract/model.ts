/** The conversation as the Messages API writes it, and what the loop needs of a model. Types only: the SDK is not loaded. */
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

/** The offline model begins a line of its answer so when it cannot do what was asked: print mode then exits 1. */
export const OFFLINE_CANNOT = 'I cannot do this offline:';

export interface ModelRequest {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly Message[];
  /** False in the reporting turn: the tools stay in the request (its bytes stay cached) but may not be called. */
  readonly mayCallTools: boolean;
  /** At most so many tokens in the reply; absent: as the model is set. */
  readonly maxOutputTokens?: number;
  readonly signal: AbortSignal;
  /** JSON Schema that the answer must match. */
  readonly answerSchema?: Readonly<Record<string, unknown>>;
}

export interface ModelReply {
  readonly id: string;
  readonly content: readonly AssistantBlock[];
  readonly stopReason: StopReason | null;
  readonly usage: Usage;
  /** The model that really answered. */
  readonly model: string;
  /** Ids of tool calls whose input was no valid JSON, with what arrived instead. */
  readonly garbledInputs: ReadonlyMap<string, string>;
}

/** What a call says while it is under way. */
export type ModelProgress =
  | {readonly type: 'text'; readonly text: string}
  | {readonly type: 'thinking'; readonly text: string}
  | {readonly type: 'raw'; readonly event: StreamEvent}
  /** What this attempt has used so far, should it not come to its end. */
  | {readonly type: 'usage'; readonly usage: Usage; readonly model: string}
  /** The call is asked again: what was streamed so far no longer counts. */
  | {readonly type: 'retry'; readonly waitMs: number; readonly reason: string; readonly attempt: number};

export interface Model {
  /** As shown and as sent, e.g. `claude-sonnet-5-5`, `ollama/qwen3`, `offline`. */
  readonly name: string;
  /** The built-in rule-based model. */
  readonly offline: boolean;
  /** The model's server runs on this machine. */
  readonly local: boolean;
  /**
   * One reply, retried as the settings say.
   * @throws ModelError when the call failed for good; the signal's reason when aborted.
   */
  reply(request: ModelRequest, onProgress: (progress: ModelProgress) => void): Promise<ModelReply>;
}
