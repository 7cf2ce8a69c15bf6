/** Messages in the format of the Messages API, and what the agent loop needs of a model. The SDK is not loaded here. */
import type {Anthropic} from '@anthropic-ai/sdk';

export type Message = Anthropic.MessageParam;
export type UserBlock = Anthropic.ContentBlockParam;
/** Content that a person writes: text, or text with images. */
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
  /**
   * Part of `cache_creation_input_tokens` that is cached for an hour, at a higher price. Absent when there is none or
   * the server does not say.
   */
  readonly cache_creation_1h_input_tokens?: number;
  /** Searches that the server made. Absent when there were none. */
  readonly web_search_requests?: number;
  /** Cost in US dollars, by the prices at that time. Absent when no price was known. */
  readonly cost_usd?: number;
  /** Only in a sum: some of its tokens have no known price, so `cost_usd` is too low. */
  readonly cost_unknown?: true;
  /** Some of its tokens, and so its cost, are estimated: a reply was cut, or the server's count cannot be true. */
  readonly cost_estimated?: true;
}

export interface UsageEntry {
  /** Name of the agent, or `mini-cc` for the model calls of commands. */
  readonly agent: string;
  readonly model: string;
  readonly usage: Usage;
}

export type Thinking = 'off' | 'low' | 'medium' | 'high';

export type ModelApi = 'anthropic' | 'openai' | 'bedrock' | 'vertex';

/** The server that is asked for a model, and the model's name there. */
export interface ModelSource {
  /** Key of `providers` in the settings, or `anthropic` for the server that the environment names. */
  readonly provider: string;
  /** Model name that the server gets. */
  readonly id: string;
  readonly api: ModelApi;
  readonly baseURL: string;
  /** Environment variable that has the key. Undefined when no key is needed. */
  readonly keyEnv: string | undefined;
  /** True when the server searches the web by itself. */
  readonly searchesWeb: boolean;
}

export interface ModelRequest {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly Message[];
  /**
   * False when the run must report. The tools stay in the request so that its cached bytes do not change, but the model
   * may not call them.
   */
  readonly mayCallTools: boolean;
  /** Most tokens that the reply may have. Default: the model's own setting. */
  readonly maxOutputTokens?: number;
  /** Estimated tokens of this request. They count when the server does not say how many there were. */
  readonly inputTokens?: number;
  readonly signal: AbortSignal;
  /** A JSON Schema that the answer must match. */
  readonly answerSchema?: Readonly<Record<string, unknown>>;
  /** Finds the model that wrote a thinking block, by the block's signature or data. No other model gets the block. */
  readonly thinkerOf?: (seal: string) => string | undefined;
}

export interface ModelReply {
  readonly id: string;
  readonly content: readonly AssistantBlock[];
  readonly stopReason: StopReason | null;
  readonly usage: Usage;
  /**
   * Model that answered, as its server names it. `provider/` stands before the name unless it is the default provider.
   */
  readonly model: string;
  /** Name of the model that was asked, when the server answers with another name. The price of either name is right. */
  readonly asked?: string;
  /** Invalid JSON that arrived as the input of tool calls, by the id of the call. */
  readonly garbledInputs: ReadonlyMap<string, string>;
  /** Reason why the model refused, if the server says it. Present only with the stop reason `refusal`. */
  readonly refusal?: {readonly category?: string; readonly explanation?: string};
}

/** Next attempt of a model call. */
export interface Retry {
  readonly waitMs: number;
  /** Status or message of the failure. */
  readonly reason: string;
  /** What the server said, at most 200 characters. */
  readonly words?: string;
  /** 1 when another model is asked. */
  readonly attempt: number;
  /** Present when another model is asked: `from` failed, and `to` is next. */
  readonly fallback?: {readonly from: string; readonly to: string};
  /** Present when the account is at its limit, and all its calls wait for the end of the limit. */
  readonly pause?: AccountPause;
}

export interface AccountPause {
  readonly provider: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

export type ModelProgress =
  | {readonly type: 'text'; readonly text: string}
  | {readonly type: 'thinking'; readonly text: string}
  | {readonly type: 'raw'; readonly event: StreamEvent}
  /**
   * Usage of this attempt so far, which counts if the attempt fails: for the first time when the request is sent.
   * `isCounted` says that the server counted the input.
   */
  | {readonly type: 'usage'; readonly usage: Usage; readonly model: string; readonly isCounted: boolean}
  /** Something that the user should know: a usage that cannot be true, or a call that has to wait. */
  | {readonly type: 'warning'; readonly text: string}
  /** The call is tried again with this attempt number. What it has streamed so far does not count. */
  | ({readonly type: 'retry'} & Retry);

export interface Model {
  /** Name that people see, e.g. `claude-sonnet-5-5`, `ollama/qwen3`, `offline`. */
  readonly name: string;
  /** True for the built-in rule-based model. */
  readonly offline: boolean;
  /** True when the model's server runs on this machine. */
  readonly local: boolean;
  /**
   * Absent when there is no server, as for the built-in model. A chain with fallbacks has the source of its first
   * model.
   */
  readonly source?: ModelSource | undefined;
  /** Default: the model decides how much it thinks. */
  readonly thinking?: Thinking | undefined;
  readonly maxOutputTokens: number;
  /** Most US dollars for a million input tokens, written to the cache or not. Absent when the price is not known. */
  readonly inputPrice?: number | undefined;
  /** US dollars for a million output tokens. Absent when the price is not known. */
  readonly outputPrice?: number | undefined;
  /** For a chain with fallbacks: the name of the first model whose price is not known. */
  readonly unpriced?: string | undefined;
  /**
   * Tokens that a request and its reply may have together. Never rejects.
   * @param mayAsk whether the model's server may be asked, once
   * @returns undefined when only the server could answer
   */
  contextWindow(mayAsk: boolean): Promise<number | undefined>;
  /**
   * Makes one call and retries it as the settings say.
   * @throws ModelError when the call failed and no further attempt is made; the signal's reason when aborted
   */
  reply(request: ModelRequest, onProgress: (progress: ModelProgress) => void): Promise<ModelReply>;
  /** Lets no call of the model's account begin before. @param at milliseconds since the epoch */
  pauseUntil?(at: number): void;
}
