/**
 * Defines what a model behind a server needs from a protocol. Each kind of server has its own implementation, which is loaded
 * when it is used.
 */
import type {ModelApi, ModelRequest, StreamEvent, Thinking} from '../core/contract/model.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import type {ModelError} from '../core/util/errors.ts';
import type {ReplyWatch} from './reply-watch.ts';

/** The address of a server and the credentials for it. */
export interface ModelServer {
  readonly baseURL: string;
  readonly apiKey?: string;
  /** Replaces `apiKey`. */
  readonly authToken?: string;
  /** Header of the key. By default it is `Authorization: Bearer`, as the SDK sends it. */
  readonly sendsKeyAs?: 'x-api-key' | 'bearer' | undefined;
  readonly api?: ModelApi;
  /** Region and project of a cloud. */
  readonly region?: string;
  readonly project?: string;
  /** True when the headers of `ANTHROPIC_CUSTOM_HEADERS` go to this server, because the environment names it. */
  readonly takesCustomHeaders?: boolean;
}

/** Names and the redactor for texts of errors. */
export interface ServerWords {
  /** Host, e.g. `api.anthropic.com`. */
  readonly host: string;
  /** Where the key comes from, e.g. `ANTHROPIC_API_KEY`. */
  readonly key: string;
  /** Where the address comes from, e.g. `ANTHROPIC_BASE_URL`. */
  readonly address: string;
  /** Removes keys from error texts, because a server may repeat the key and another model may read the error. */
  readonly redactor: Redactor;
}

/** Options of one call besides the request. */
export interface CallOptions {
  readonly id: string;
  /** The level of thinking. When `thinkingTokens` is set, it replaces the level. */
  readonly thinking: Thinking | undefined;
  readonly thinkingTokens: number | undefined;
  readonly maxTokens: number;
  /** True when the server searches the web by itself. */
  readonly searchesWeb: boolean;
}

/** Events of the Messages API without pings, up to the end of the connection. */
export type ReplyEvents = AsyncGenerator<StreamEvent, void, undefined>;

export interface Protocol {
  /** Makes one call without retries. @throws errors that `toModelError` converts */
  open(request: ModelRequest, options: CallOptions, watch: ReplyWatch): Promise<ReplyEvents>;
  toModelError(error: unknown): ModelError;
  /**
   * Asks the server for the context window of a model in tokens. It never rejects, because many servers do not know it.
   */
  askContextWindow(id: string): Promise<number | undefined>;
  /** Lists the server's models. @throws ModelError */
  listModels(): Promise<readonly string[]>;
}

/** Options of the clients of all packages. */
export const CLIENT_OPTIONS = {
  maxRetries: 0,
  // A whole reply may take long, and the watch ends a dead call.
  timeout: 3_600_000,
  logLevel: 'off',
  // A redirect must not take the key to another server.
  fetchOptions: {redirect: 'manual'},
} as const;

/**
 * Returns headers that cancel those of a variable. The clients add these to each request, but they are meant only for
 * the server that the environment names.
 */
export function withoutCustomHeaders(variable = ''): Record<string, null> {
  const names = variable
    .split('\n')
    .flatMap((line) => (line.includes(':') ? [line.slice(0, line.indexOf(':')).trim()] : []));
  return Object.fromEntries(names.map((name) => [name, null]));
}

/** @param found the server's answer to a request for its models */
export function readModelNames(found: unknown): readonly string[] {
  const data = (found as {data?: unknown} | null)?.data;
  if (!Array.isArray(data)) return [];
  return data.flatMap((each: {id?: unknown} | null) => (typeof each?.id === 'string' ? [each.id] : []));
}
