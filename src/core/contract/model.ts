/** Messages in the format of the Messages API, and what the agent loop needs of a model. The SDK is not loaded here. */
import type {Anthropic} from '@anthropic-ai/sdk';

export type Message = Anthropic.MessageParam;
export type UserBlock = Anthropic.ContentBlockParam;
/** What a person writes: text, or text with images. */
export type PromptContent = string | readonly Extract<UserBlock, {type: 'text' | 'image'}>[];
export type AssistantBlock = Anthropic.ContentBlock;
export type ToolUse = Anthropic.ToolUseBlock;
export type ToolResultBlock = Anthropic.ToolResultBlockParam;
export type ToolSpec = Anthropic.Tool;
/** `unable`: the offline model says that it could not do what was asked. Servers never send it. */
export type StopReason = Anthropic.StopReason | 'unable';
/** One raw event of the model's stream, as `--include-partial-messages` prints it. */
export type StreamEvent = Anthropic.RawMessageStreamEvent;

/** Tokens of one model call, or of several together. */
export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  /** Those of `cache_creation_input_tokens` that are kept for an hour: they cost more. Absent: none, or not told. */
  readonly cache_creation_1h_input_tokens?: number;
  /** Searches that the server made. Absent: none. */
  readonly web_search_requests?: number;
  /** What it cost in US dollars, by the prices of that time. Absent: no price was known. */
  readonly cost_usd?: number;
  /** Of a sum: some of its tokens have no known price, so `cost_usd` is too low. */
  readonly cost_unknown?: true;
}

/** Tokens that an agent used at a model. */
export interface UsageEntry {
  /** The name of the agent; `mini-cc` for the model calls of commands. */
  readonly agent: string;
  readonly model: string;
  readonly usage: Usage;
}

/** How much a model thinks before it answers. */
export type Thinking = 'off' | 'low' | 'medium' | 'high';

/** The protocol of a model server. */
export type ModelApi = 'anthropic' | 'openai' | 'bedrock' | 'vertex';

/** At which server a model is asked, and by which name. */
export interface ModelSource {
  /** A key of `providers` in the settings; `anthropic` for the server that the environment names. */
  readonly provider: string;
  /** The name that the server gets. */
  readonly id: string;
  readonly api: ModelApi;
  readonly baseURL: string;
  /** The variable that has the key; undefined where none is needed. */
  readonly keyEnv: string | undefined;
  /** The server searches the web by itself. */
  readonly searchesWeb: boolean;
}

export interface ModelRequest {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly Message[];
  /**
   * False when the run must report: the tools stay in the request, which keeps its cached bytes, but may not be called.
   */
  readonly mayCallTools: boolean;
  /** The most tokens that the reply may have; absent: the model's own setting. */
  readonly maxOutputTokens?: number;
  readonly signal: AbortSignal;
  /** A JSON Schema that the answer must match. */
  readonly answerSchema?: Readonly<Record<string, unknown>>;
  /** The model that wrote a thinking block, by its signature or data. No other model gets the block. */
  readonly thinkerOf?: (seal: string) => string | undefined;
}

export interface ModelReply {
  readonly id: string;
  readonly content: readonly AssistantBlock[];
  readonly stopReason: StopReason | null;
  readonly usage: Usage;
  /** The model that really answered, as its server names it; with `provider/` before it unless it is the default one. */
  readonly model: string;
  /** The name of the model that was asked, where the server names itself otherwise: a price of either is right. */
  readonly asked?: string;
  /** Ids of tool calls whose input was no valid JSON, with what arrived instead. */
  readonly garbledInputs: ReadonlyMap<string, string>;
  /** Why the model refused, as far as the server told; present with the stop reason `refusal` alone. */
  readonly refusal?: {readonly category?: string; readonly explanation?: string};
}

/** A further attempt of a model call. */
export interface Retry {
  readonly waitMs: number;
  /** The status or the words of the failure. */
  readonly reason: string;
  /** 1 where another model is asked. */
  readonly attempt: number;
  /** Another model is asked: `from` failed, `to` comes next. */
  readonly fallback?: {readonly from: string; readonly to: string};
}

/** What a model call reports while it runs. */
export type ModelProgress =
  | {readonly type: 'text'; readonly text: string}
  | {readonly type: 'thinking'; readonly text: string}
  | {readonly type: 'raw'; readonly event: StreamEvent}
  /** What this attempt has used so far: counted if it fails. */
  | {readonly type: 'usage'; readonly usage: Usage; readonly model: string}
  /** The call is tried again as the attempt of this number: what was streamed so far no longer counts. */
  | ({readonly type: 'retry'} & Retry);

export interface Model {
  /** The name as it is shown, e.g. `claude-sonnet-5-5`, `ollama/qwen3`, `offline`. */
  readonly name: string;
  /** It is the built-in rule-based model. */
  readonly offline: boolean;
  /** The model's server runs on this machine. */
  readonly local: boolean;
  /** Absent: no server, as for the built-in model. Of a chain with fallbacks: the first model's. */
  readonly source?: ModelSource | undefined;
  /** Absent: as much as the model does by itself. */
  readonly thinking?: Thinking | undefined;
  /** The most tokens that a reply may have. */
  readonly maxOutputTokens: number;
  /** US dollars for a million tokens out. Absent: what its replies cost is not known. */
  readonly outputPrice?: number | undefined;
  /** Of a chain with fallbacks: the name of the first one whose price is not known. */
  readonly unpriced?: string | undefined;
  /**
   * Tokens that a request and its reply may have together. Never rejects.
   * @param mayAsk the model's server may be asked, once. @returns undefined when only the server could say it
   */
  contextWindow(mayAsk: boolean): Promise<number | undefined>;
  /**
   * Makes one call and retries it as the settings say.
   * @throws ModelError when the call failed for good; the signal's reason when aborted.
   */
  reply(request: ModelRequest, onProgress: (progress: ModelProgress) => void): Promise<ModelReply>;
}
