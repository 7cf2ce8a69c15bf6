/**
 * Sends requests to model servers with Node's own HTTP client and reused connections. Only the packages for Bedrock and
 * Vertex use the global `fetch`, which gives up an answer that pauses for five minutes, as local models do.
 */
import type {Agent, ClientRequest, IncomingMessage, request as sendRequest} from 'node:http';
import {pipeline, type Readable} from 'node:stream';

const CONNECT_MS = 10_000;
/** Milliseconds. A connection that waits longer may have been dropped on its way. */
const MAX_IDLE_MS = 60_000;
/** Milliseconds after a request within which a reset means that the server had closed the waiting connection. */
const STALE_MS = 1_000;

interface Client {
  readonly request: typeof sendRequest;
  readonly agent: Agent;
  /**
   * Closes connections that waited too long. Timers stop while the machine sleeps, so the connections' own limit is not
   * enough.
   */
  dropStale(): void;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Pieces are sent one after another, without a copy of the whole. */
type Body = string | Uint8Array | readonly Uint8Array[];

type Init = Omit<RequestInit, 'body'> & {
  readonly body?: Body | undefined;
  /** Takes the place of `signal`. */
  readonly ending?: AbortSignal | undefined;
};

/**
 * Creates a `fetch` with its own connections, which keep no process alive while they wait. Redirects are not followed,
 * because one could take a key to another server.
 * @param env names the proxy, if there is one
 * @returns a `fetch` that rejects like the global one: `TypeError: fetch failed` with its cause, or the signal's reason
 */
export function createFetch(env: Environment = process.env): typeof fetch {
  const clients = new Map<string, Client>();
  const getClient = (protocol: string) => {
    const known = clients.get(protocol) ?? createClient(protocol, env);
    clients.set(protocol, known);
    return known;
  };
  const send = async (input: string | URL | Request, init: Init = {}): Promise<Response> => {
    const url = new URL(typeof input === 'string' || input instanceof URL ? input : input.url);
    const signal = init.ending ?? init.signal ?? undefined;
    const client = getClient(url.protocol);
    for (;;) {
      signal?.throwIfAborted();
      client.dropStale();
      const startedAt = performance.now();
      const request = client.request(url, {
        method: init.method ?? 'GET',
        agent: client.agent,
        headers: {...toRecord(init.headers), ...getLength(init.body)},
      });
      try {
        return toResponse(await exchange(request, init.body, signal), url, signal);
      } catch (error) {
        signal?.throwIfAborted();
        // The server had closed the waiting connection. A later reset may concern a request that the server has begun.
        if (request.reusedSocket && isReset(error) && performance.now() - startedAt < STALE_MS) continue;
        throw new TypeError('fetch failed', {cause: error});
      }
    }
  };
  return send as typeof fetch;
}

/** Converts headers without `new Headers`, because Node.js would load its whole fetch for it. */
function toRecord(headers: HeadersInit = {}): Record<string, string> {
  return Symbol.iterator in headers ? Object.fromEntries(headers as Iterable<[string, string]>) : {...headers};
}

function getLength(body: Body | undefined): Record<string, number> {
  if (!Array.isArray(body)) return {};
  return {'content-length': body.reduce((sum, piece: Uint8Array) => sum + piece.byteLength, 0)};
}

function createClient(protocol: string, env: Environment): Client {
  // An import would read all exports of these modules, also WebSocket, for which Node.js loads its whole fetch: 50 ms.
  const {Agent, request} = process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http');
  const agent = new Agent({keepAlive: true, timeout: MAX_IDLE_MS, proxyEnv: getProxyEnv(env)});
  const idleSince = new WeakMap<object, number>();
  agent.on('free', (socket: object) => idleSince.set(socket, Date.now()));
  const dropStale = () => {
    for (const socket of Object.values(agent.freeSockets).flatMap((each) => each ?? [])) {
      if (Date.now() - (idleSince.get(socket) ?? 0) > MAX_IDLE_MS) socket.destroy();
    }
  };
  return {request, agent, dropStale};
}

const THIS_MACHINE = ['localhost', '.localhost', '127.0.0.1-127.255.255.255', '0.0.0.0', '::1', '[::1]'];

/**
 * Returns the variables for Node.js, which reads `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, in small letters, too.
 * Requests to this machine use no proxy.
 */
function getProxyEnv(env: Environment): Record<string, string | undefined> {
  const named = ['http_proxy', 'https_proxy'].flatMap((name) => [name, name.toUpperCase()]);
  const none = [env.no_proxy || env.NO_PROXY || [], THIS_MACHINE].flat().join(',');
  return {...Object.fromEntries(named.map((name) => [name, env[name]])), no_proxy: none, NO_PROXY: none};
}

/** @returns the head of the answer */
function exchange(
  request: ClientRequest,
  body: Body | undefined,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // The error is not passed to `destroy`. A request that waits for a proxy has no socket, and emits no error before
    // it has one. A request whose connection was just returned has no listener for errors, and Node.js throws an error
    // that cannot be caught.
    const end = (error: Error) => {
      reject(error);
      request.destroy();
    };
    const abort = () => end(new Error('aborted'));
    signal?.addEventListener('abort', abort, {once: true});
    request.once('close', () => signal?.removeEventListener('abort', abort));
    // A proxied request gets its socket when the proxy is connected.
    const timer = setTimeout(() => {
      end(Object.assign(new Error(`no connection within ${CONNECT_MS / 1000} s`), {code: 'ETIMEDOUT'}));
    }, CONNECT_MS);
    request.once('close', () => clearTimeout(timer));
    request.once('socket', (socket) => {
      if (!socket.connecting) return clearTimeout(timer);
      for (const event of ['encrypted' in socket ? 'secureConnect' : 'connect', 'close']) {
        socket.once(event, () => clearTimeout(timer));
      }
    });
    request.once('response', resolve);
    // Errors after the response change nothing here, because the body reports them.
    request.on('error', reject);
    if (Array.isArray(body)) for (const piece of body) request.write(piece);
    request.end(Array.isArray(body) ? undefined : body);
  });
}

function toResponse(message: IncomingMessage, url: URL, signal: AbortSignal | undefined): Response {
  const headers = new Headers();
  for (let index = 0; index < message.rawHeaders.length; index += 2) {
    headers.append(message.rawHeaders[index]!, message.rawHeaders[index + 1]!);
  }
  // The reader of the body gets this error as well. When no one reads the body, the error can be ignored.
  message.on('error', () => undefined);
  const {statusCode = 0, statusMessage = ''} = message;
  const body = readBody(message, signal);
  return createResponse({status: statusCode, statusText: statusMessage, url: url.href, headers, body});
}

async function* readBody(
  message: IncomingMessage,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* await decode(message);
  } catch (error) {
    signal?.throwIfAborted();
    throw new TypeError('terminated', {cause: error});
  }
}

/** Decodes the body. Requests ask for no compression, but some gateways compress nevertheless. */
async function decode(message: IncomingMessage): Promise<Readable> {
  const coding = message.headers['content-encoding']?.trim().toLowerCase();
  if (!coding || !['gzip', 'x-gzip', 'deflate', 'br'].includes(coding)) return message;
  const {createBrotliDecompress, createUnzip, constants} = await import('node:zlib');
  const decoder =
    coding === 'br'
      ? createBrotliDecompress({flush: constants.BROTLI_OPERATION_FLUSH})
      : createUnzip({flush: constants.Z_SYNC_FLUSH});
  // The decoder reports errors to the reader.
  return pipeline(message, decoder, () => undefined);
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}

type Chunks = AsyncIterator<Uint8Array, void, undefined>;

type ResponseParts = Pick<Response, 'status' | 'statusText' | 'url'> & {
  readonly headers: HeadersInit;
  readonly body: Chunks;
};

/**
 * Creates a response with the parts that the packages and mini-cc use. It replaces `new Response`, whose body would be a
 * web stream and not one of Node.js.
 */
function createResponse({status, headers, body: chunks, statusText = '', url = ''}: ResponseParts): Response {
  const body = forgetAtEnd(chunks);
  const text = async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  };
  const response = {
    status,
    statusText,
    url,
    body,
    text,
    ok: status >= 200 && status < 300,
    headers: new Headers(headers),
    json: async (): Promise<unknown> => JSON.parse(await text()),
  };
  return response as unknown as Response;
}

/**
 * Iterates over chunks and forgets them at the end. Anthropic's SDK registers what it reads for finalization, so that V8
 * would keep the chunks, and with them the request and its connection, until a full collection.
 */
function forgetAtEnd(iterated: Chunks): AsyncIterableIterator<Uint8Array, void, undefined> {
  let chunks: Chunks | undefined = iterated;
  return {
    async next() {
      let isEnd = true;
      try {
        const next = await chunks?.next();
        isEnd = next?.done ?? true;
        return next ?? {done: true, value: undefined};
      } finally {
        if (isEnd) chunks = undefined;
      }
    },
    async return() {
      const ended = chunks;
      chunks = undefined;
      await ended?.return?.();
      return {done: true, value: undefined};
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** @returns a response with the same body, each chunk of which is passed to `onChunk` when it is read */
export function watchChunks(response: Response, onChunk: (chunk: Uint8Array) => void): Response {
  const {status, statusText, headers, url, body} = response;
  if (!body) return response;
  return createResponse({status, statusText, headers, url, body: tap(body, onChunk)});
}

async function* tap(
  body: AsyncIterable<Uint8Array>,
  onChunk: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of body) {
    onChunk(chunk);
    yield chunk;
  }
}

const OPENING_BRACE = 0x7b;
/** White space, and the bytes of a byte order mark. */
const BEFORE_JSON: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf]);

/**
 * Tells one JSON object from a stream of events by the first character of the body, because some servers name no type of
 * content, or a wrong one.
 * @returns the text of the object, or a response with the same body
 */
export async function readIfJson(response: Response): Promise<string | Response> {
  const chunks = (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  const read: Uint8Array[] = [];
  let first: number | undefined;
  while (first === undefined) {
    const {done, value} = await chunks.next();
    if (done) break;
    read.push(value);
    first = value.find((byte) => !BEFORE_JSON.has(byte));
  }
  const {status, statusText, headers, url} = response;
  const whole = createResponse({status, statusText, headers, url, body: joinChunks(read, chunks)});
  // The decoder of JSON refuses a byte order mark.
  return first === OPENING_BRACE ? (await whole.text()).replace(/^\uFEFF/, '') : whole;
}

async function* joinChunks(read: Uint8Array[], chunks: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  yield* read.splice(0);
  yield* {[Symbol.asyncIterator]: () => chunks};
}
