/** What the loop needs of a model. `models/` implements it over the SDK. */
import type {AssistantBlock, Message, StopReason, StreamEvent, ToolSpec, Usage} from './messages.ts';

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
