/** What `ServerModel` needs of a protocol: one implementation for each kind of server, loaded when it is named. */
import type {ModelApi, ModelRequest, StreamEvent, Thinking} from '../core/contract/model.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import type {ModelError} from '../core/util/errors.ts';
import type {ReplyWatch} from './reply-watch.ts';

/** Where a server is, and how a client shows who it is. */
export interface ModelServer {
  readonly baseURL: string;
  readonly apiKey?: string;
  /** In place of `apiKey`. */
  readonly authToken?: string;
  /** The header of the key. Default: `Authorization: Bearer`, as the SDK sends it. */
  readonly sendsKeyAs?: 'x-api-key' | 'bearer' | undefined;
  readonly api?: ModelApi;
  /** Of the clouds. */
  readonly region?: string;
  readonly project?: string;
  /** Headers of `ANTHROPIC_CUSTOM_HEADERS` go to this server: it is the one that the environment names. */
  readonly takesCustomHeaders?: boolean;
}

/** For the texts of errors. */
export interface ServerWords {
  /** For example `api.anthropic.com`. */
  readonly host: string;
  /** Where its key comes from: `ANTHROPIC_API_KEY`. */
  readonly key: string;
  /** Where its address comes from: `ANTHROPIC_BASE_URL`. */
  readonly address: string;
  /** Removes keys from error texts: a server may repeat the key, and another model may read the error. */
  readonly redactor: Redactor;
}

/** How one call is made, beside what is asked. */
export interface CallOptions {
  readonly id: string;
  /** `thinkingTokens`, where it is set, in place of the level. */
  readonly thinking: Thinking | undefined;
  readonly thinkingTokens: number | undefined;
  readonly maxTokens: number;
  /** The server searches the web by itself. */
  readonly searchesWeb: boolean;
}

export interface OpenReply {
  /** Events of the Messages API, without pings; up to the end of the connection. */
  readonly events: AsyncGenerator<StreamEvent, void, undefined>;
  /** To be called once the reply has come whole. */
  release(): void;
}

export interface Protocol {
  /** Makes one call, without retries. @throws what `toModelError` understands */
  open(request: ModelRequest, options: CallOptions, watch: ReplyWatch): Promise<OpenReply>;
  toModelError(error: unknown): ModelError;
  /** What the server says of the model's context window in tokens. Never rejects: many servers do not say it. */
  askContextWindow(id: string): Promise<number | undefined>;
  /** The names of the server's models. @throws ModelError */
  listModels(): Promise<readonly string[]>;
}

/** The clients add headers of a variable to each request. These are for the server that the environment names alone. */
export function withoutCustomHeaders(variable = ''): Record<string, null> {
  const names = variable
    .split('\n')
    .flatMap((line) => (line.includes(':') ? [line.slice(0, line.indexOf(':')).trim()] : []));
  return Object.fromEntries(names.map((name) => [name, null]));
}

/** @param found the answer of a server to a request for its models */
export function readModelNames(found: unknown): readonly string[] {
  const data = (found as {data?: unknown} | null)?.data;
  if (!Array.isArray(data)) return [];
  return data.flatMap((each: {id?: unknown} | null) => (typeof each?.id === 'string' ? [each.id] : []));
}
