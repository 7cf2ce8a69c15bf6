/**
 * The way to model servers, but for Bedrock and Vertex, whose packages use the global `fetch`: Node's own HTTP client, with
 * connections that are used again. The global `fetch` gives up an answer that pauses for five minutes, as local models do.
 */
import http, {type Agent, type ClientRequest, type IncomingMessage} from 'node:http';
import {pipeline, type Readable} from 'node:stream';
import {createResponse} from './http-response.ts';

const CONNECT_MS = 10_000;
/** A connection that waits longer may have been dropped on its way. */
const MAX_IDLE_MS = 60_000;
/** A connection that the server closed while it waited is reset so soon after a request, by the first packet. */
const STALE_MS = 1_000;

interface Client {
  readonly request: typeof http.request;
  readonly agent: Agent;
  /** Closes connections that waited too long. Timers stand still while the machine sleeps: their own limit is not enough. */
  dropStale(): void;
}

type Environment = Readonly<Record<string, string | undefined>>;

type Init = Omit<RequestInit, 'body'> & {readonly body?: unknown};

/**
 * Each has connections of its own; while they wait they keep no process alive. Redirects are not followed: one could take
 * a key to another server. Bodies are texts or bytes.
 * @param env names the proxy, if there is one
 * @returns a `fetch` that rejects as the global one does: `TypeError: fetch failed` with its cause, or the signal's reason
 */
export function createFetch(env: Environment = process.env): typeof fetch {
  const clients = new Map<string, Promise<Client>>();
  const getClient = (protocol: string) => {
    const known = clients.get(protocol) ?? createClient(protocol, env);
    clients.set(protocol, known);
    return known;
  };
  const send = async (input: string | URL | Request, init: Init = {}): Promise<Response> => {
    const url = new URL(typeof input === 'string' || input instanceof URL ? input : input.url);
    const signal = init.signal ?? undefined;
    const client = await getClient(url.protocol);
    for (;;) {
      signal?.throwIfAborted();
      client.dropStale();
      const startedAt = performance.now();
      const request = client.request(url, {
        method: init.method ?? 'GET',
        agent: client.agent,
        headers: Object.fromEntries(new Headers(init.headers)),
      });
      try {
        return toResponse(await exchange(request, init.body, signal), url, signal);
      } catch (error) {
        signal?.throwIfAborted();
        // The server closed the connection while it waited. Later resets may be of a request that it has begun.
        if (request.reusedSocket && isReset(error) && performance.now() - startedAt < STALE_MS) continue;
        throw new TypeError('fetch failed', {cause: error});
      }
    }
  };
  return send as typeof fetch;
}

async function createClient(protocol: string, env: Environment): Promise<Client> {
  const {Agent, request} = protocol === 'https:' ? await import('node:https') : http;
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

/** Node.js reads `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` from it, in small letters too. No proxy leads to this machine. */
function getProxyEnv(env: Environment): Record<string, string | undefined> {
  const named = ['http_proxy', 'https_proxy'].flatMap((name) => [name, name.toUpperCase()]);
  const none = [env.no_proxy || env.NO_PROXY || [], THIS_MACHINE].flat().join(',');
  return {...Object.fromEntries(named.map((name) => [name, env[name]])), no_proxy: none, NO_PROXY: none};
}

/** Sends the request. @returns the head of the answer */
function exchange(request: ClientRequest, body: unknown, signal: AbortSignal | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // The request does not tell the error: while it waits for a proxy it has no socket, and tells none before it has one;
    // and where its connection is just given back nobody listens, and Node.js throws what cannot be caught.
    const end = (error: Error) => {
      reject(error);
      request.destroy();
    };
    const abort = () => end(new Error('aborted'));
    signal?.addEventListener('abort', abort, {once: true});
    request.once('close', () => signal?.removeEventListener('abort', abort));
    // A proxy gives the socket when it has connected it.
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
    // Further ones, after the response, change nothing: the body tells them.
    request.on('error', reject);
    request.end(body);
  });
}

function toResponse(message: IncomingMessage, url: URL, signal: AbortSignal | undefined): Response {
  const headers = new Headers();
  for (let index = 0; index < message.rawHeaders.length; index += 2) {
    headers.append(message.rawHeaders[index]!, message.rawHeaders[index + 1]!);
  }
  // A reader of the body is told too; without one the error has no use.
  message.on('error', () => undefined);
  const {statusCode = 0, statusMessage = ''} = message;
  return createResponse({
    status: statusCode,
    statusText: statusMessage,
    url: url.href,
    headers,
    body: readBody(message, signal),
  });
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

/** Nothing compressed is asked for, but some gateways compress all the same. */
async function decode(message: IncomingMessage): Promise<Readable> {
  const coding = message.headers['content-encoding']?.trim().toLowerCase();
  if (!coding || !['gzip', 'x-gzip', 'deflate', 'br'].includes(coding)) return message;
  const {createBrotliDecompress, createUnzip, constants} = await import('node:zlib');
  const decoder =
    coding === 'br'
      ? createBrotliDecompress({flush: constants.BROTLI_OPERATION_FLUSH})
      : createUnzip({flush: constants.Z_SYNC_FLUSH});
  // The reader is told of errors by the decoder.
  return pipeline(message, decoder, () => undefined);
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}
