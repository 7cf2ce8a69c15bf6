/**
 * A real HTTP server on loopback that speaks the Messages API. A script gives its replies: an array in order, or a
 * function of the request. The server records every request, answers 400 to those that break a rule of the API, and can
 * fail in all the ways of `scripted-replies.ts`.
 */
import {createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {PromptCache} from './prompt-cache.ts';
import {countUsage, createEvents, createMessage} from './reply-stream.ts';
import {estimateTokens, findBrokenRule, identifyThought, isThought} from './request-rules.ts';
import {
  type MessageReply,
  type Reply,
  type ScriptedUsage,
  type ServerEvent,
  type StatusReply,
  type StreamFault,
  status,
} from './scripted-replies.ts';
import {PATIENCE_MS, pause, within} from './wait.ts';

export * from './scripted-replies.ts';

export interface RequestBlock {
  readonly type: string;
  readonly text?: string;
  readonly tool_use_id?: string;
  readonly content?: string | readonly RequestBlock[];
  readonly is_error?: boolean;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly thinking?: string;
  readonly signature?: string;
  readonly source?: {readonly type: string; readonly media_type?: string; readonly data?: string};
  readonly cache_control?: unknown;
}

export interface RequestMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly RequestBlock[];
}

/** The fields of the body of `POST /v1/messages` that tests use. */
export interface MessagesBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly stream?: boolean;
  readonly system?: string | readonly RequestBlock[];
  readonly messages: readonly RequestMessage[];
  readonly tools?: readonly {readonly name: string; readonly description?: string; readonly input_schema?: unknown}[];
  readonly tool_choice?: unknown;
  readonly thinking?: unknown;
}

export interface RecordedRequest {
  readonly body: MessagesBody;
  readonly headers: IncomingHttpHeaders;
  /** Bytes of the body. */
  readonly bytes: number;
  /** Milliseconds since the server started. */
  readonly at: number;
  /** Milliseconds until the response was written or the connection was closed; undefined until then. */
  durationMs: number | undefined;
  /** The client closed the connection before the response was complete. */
  abandoned: boolean;
}

export type Script = readonly Reply[] | ((body: MessagesBody, index: number) => Reply | Promise<Reply>);

export interface MessagesServer {
  /** For `ANTHROPIC_BASE_URL`. */
  readonly url: string;
  /** Every `POST /v1/messages` so far, in order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** Of all replies that it sent whole. Tokens. */
  readonly usage: ScriptedUsage;
  /** Requests in progress now, and the highest number so far. */
  readonly active: number;
  readonly maxActive: number;
  /** Resolves when this many requests have arrived. Rejects after `PATIENCE_MS`. */
  waitForRequests(count: number): Promise<void>;
  readonly close: () => Promise<void>;
  /** Listens again after `close`, at the same address. */
  reopen(): Promise<void>;
}

export interface ServerOptions {
  /** Tokens of the largest prompt, by estimate; default 200,000. */
  readonly contextWindow?: number;
  /** Each request comes on a connection of its own. A reset of one that was used before is answered without a word. */
  readonly closesConnections?: boolean;
}

/** Starts a server on a free port of loopback. */
export async function startMessagesServer(script: Script, options: ServerOptions = {}): Promise<MessagesServer> {
  const scripted = new ScriptedServer(script, options);
  await scripted.listen();
  return scripted;
}

class ScriptedServer implements MessagesServer {
  url = '';
  readonly requests: RecordedRequest[] = [];
  readonly usage = {
    ...{input_tokens: 0, output_tokens: 0},
    ...{cache_read_input_tokens: 0, cache_creation_input_tokens: 0},
  };
  active = 0;
  maxActive = 0;
  readonly #startedAt = performance.now();
  readonly #waiters = new Set<() => void>();
  readonly #cache = new PromptCache();
  readonly #sentThoughts: string[][] = [];
  readonly #server = createServer((request, response) => {
    this.#handle(request, response).catch((error: unknown) => {
      // The script of a test has a mistake: the client shows the error and does not retry.
      sendStatus(response, status(400, {message: `the script of the model failed: ${String(error)}`}));
    });
  });

  constructor(
    private readonly script: Script,
    private readonly options: ServerOptions,
  ) {
    // The client ends idle connections: in a test of a minute the server must not close one.
    this.#server.keepAliveTimeout = 0;
    if (options.closesConnections) this.#server.maxRequestsPerSocket = 1;
  }

  reopen(): Promise<void> {
    return this.listen(Number(new URL(this.url).port));
  }

  async listen(port = 0): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  waitForRequests(count: number): Promise<void> {
    const arrived = Promise.withResolvers<void>();
    const check = () => {
      if (this.requests.length >= count) arrived.resolve();
    };
    this.#waiters.add(check);
    check();
    const late = () => `${this.requests.length} of ${count} requests came within ${PATIENCE_MS} ms`;
    return within(arrived.promise, PATIENCE_MS, late).finally(() => this.#waiters.delete(check));
  }

  /** Bound: for `onTestFinished(server.close)`. */
  readonly close = async (): Promise<void> => {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  };

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readAll(request);
    const route = `${request.method} ${request.url?.replace(/\?.*/, '')}`;
    if (route === 'POST /v1/messages') await this.#handleMessages(request, response, text);
    else if (route === 'POST /v1/messages/count_tokens')
      sendJson(response, 200, {input_tokens: estimateTokens(JSON.parse(text) as MessagesBody)});
    else if (route === 'GET /v1/models') sendJson(response, 200, MODELS);
    else sendStatus(response, status(404, {message: `no such route: ${route}`}));
  }

  async #handleMessages(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
    const body = JSON.parse(text) as MessagesBody;
    const index = this.requests.length;
    this.#record(request, response, body, text);
    const problem = findBrokenRule(body, {...this.options, sentThoughts: this.#sentThoughts});
    const reply = problem === undefined ? await getReply(this.script, body, index) : status(400, {message: problem});
    if (reply.type === 'message') this.#sentThoughts.push(reply.blocks.filter(isThought).map(identifyThought));
    if (reply.type !== 'message') return send(response, reply);
    const usage = countUsage(reply, body, this.#cache);
    await sendMessage(response, reply, body, index, usage);
    if (reply.fault || !response.writableEnded) return;
    for (const name of Object.keys(usage) as (keyof ScriptedUsage)[]) this.usage[name] += usage[name];
  }

  #record({headers}: IncomingMessage, response: ServerResponse, body: MessagesBody, text: string): void {
    const at = performance.now() - this.#startedAt;
    const record: RecordedRequest = {
      ...{body, headers, bytes: Buffer.byteLength(text), at},
      ...{durationMs: undefined, abandoned: false},
    };
    this.requests.push(record);
    this.active += 1;
    this.maxActive = Math.max(this.maxActive, this.active);
    for (const check of this.#waiters) check();
    response.once('close', () => {
      this.active -= 1;
      record.durationMs = performance.now() - this.#startedAt - at;
      record.abandoned = !response.writableFinished;
    });
  }
}

async function getReply(script: Script, body: MessagesBody, index: number): Promise<Reply> {
  if (typeof script === 'function') return script(body, index);
  return script[index] ?? status(400, {message: `the script of the model has no reply ${index + 1}`});
}

const MODELS = {
  data: [{type: 'model', id: 'claude-sonnet-5-5', display_name: 'Sonnet', created_at: '2026-01-01T00:00:00Z'}],
  has_more: false,
  first_id: 'claude-sonnet-5-5',
  last_id: 'claude-sonnet-5-5',
};

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

async function send(response: ServerResponse, reply: Exclude<Reply, MessageReply>): Promise<void> {
  if (reply.type === 'hang') return;
  if (reply.type === 'reset') response.destroy();
  else if (reply.type === 'status') sendStatus(response, reply);
  else if (reply.type === 'empty') response.writeHead(200, STREAM_HEADERS).end();
  else await sendEvents(response, reply.events);
}

async function sendMessage(
  response: ServerResponse,
  reply: MessageReply,
  body: MessagesBody,
  index: number,
  usage: ScriptedUsage,
): Promise<void> {
  if (body.stream === true && reply.format !== 'json') await sendStream(response, reply, body, index, usage);
  else if (reply.fault?.type === 'cut') response.destroy();
  else if (reply.fault === undefined) sendJson(response, 200, createMessage(reply, body, index, usage));
}

const STREAM_HEADERS = {'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache'};

async function sendStream(
  response: ServerResponse,
  reply: MessageReply,
  body: MessagesBody,
  index: number,
  usage: ScriptedUsage,
): Promise<void> {
  response.writeHead(200, {...STREAM_HEADERS, 'request-id': `req_scripted_${index + 1}`});
  response.flushHeaders();
  const {fault, msPerEvent} = reply;
  const events = createEvents(reply, body, index, usage);
  for (const event of fault === undefined ? events : events.slice(0, fault.afterEvents)) {
    if (msPerEvent !== undefined) await pause(msPerEvent, 'the script wants a slow model');
    if (response.destroyed) return;
    await writeEvent(response, event, reply.format);
  }
  if (fault === undefined) response.end();
  else await sendFault(response, fault);
}

async function sendEvents(response: ServerResponse, events: readonly ServerEvent[]): Promise<void> {
  response.writeHead(200, STREAM_HEADERS);
  for (const event of events) await writeEvent(response, event);
  response.end();
}

async function sendFault(response: ServerResponse, fault: StreamFault): Promise<void> {
  if (fault.type === 'stall') return;
  if (fault.type === 'end') {
    response.end();
    return;
  }
  if (fault.type === 'garbled') {
    response.end('event: content_block_delta\ndata: {"type": "content_blo\n\n');
    return;
  }
  if (fault.type === 'pings') {
    while (!response.destroyed) {
      await pause(fault.msPerPing, 'the script wants a ping at this interval');
      await writeEvent(response, {type: 'ping'});
    }
    return;
  }
  if (fault.type === 'error') {
    await writeEvent(response, {type: 'error', error: {type: fault.errorType, message: fault.message}});
    response.end();
    return;
  }
  await pause(CUT_MS, 'what is written must be read before the connection breaks, and no sign of that comes back');
  response.destroy();
}

/** How long a client may take to read what has arrived. */
const CUT_MS = 20;

function writeEvent(response: ServerResponse, event: ServerEvent, format?: MessageReply['format']): Promise<void> {
  const name = format === 'data lines' ? '' : `event: ${event.type}\n`;
  return new Promise((resolve) => {
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`, () => resolve());
  });
}

function sendStatus(response: ServerResponse, reply: StatusReply): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (reply.retryAfterMs !== undefined) response.setHeader('retry-after-ms', String(reply.retryAfterMs));
  if (reply.retryAfter !== undefined) response.setHeader('retry-after', String(reply.retryAfter));
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
  sendJson(response, reply.status, {type: 'error', error: {type: reply.errorType, message: reply.message}});
}

function sendJson(response: ServerResponse, code: number, value: unknown): void {
  response.writeHead(code, {'content-type': 'application/json'}).end(JSON.stringify(value));
}
