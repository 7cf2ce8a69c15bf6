/**
 * A scripted server that all compared programs talk to: the Messages API of Anthropic and the Responses API of OpenAI, from
 * one script. It keeps no bodies and checks nothing, so that its own work is small: `tests/support` has the strict servers.
 */
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import type {MessagesBody} from '../../tests/support/messages-server.ts';
import {createEvents} from '../../tests/support/reply-stream.ts';
import {createResponsesEvents} from '../../tests/support/responses-stream.ts';
import type {MessageReply} from '../../tests/support/scripted-replies.ts';

/** A request as scripts see it. */
export interface ModelRequest {
  readonly body: Buffer;
  /** Its prompt and history contain this text. */
  has(text: string): boolean;
  /** Whether it offers tools: some programs ask for a title beside their turns. */
  readonly hasTools: boolean;
  /** Milliseconds of `performance.now()`: the head of the request arrived; its reply was written. */
  readonly arrivedAt: number;
  endedAt: number;
}

export type ModelScript = (request: ModelRequest) => MessageReply | Promise<MessageReply>;

export interface ModelServer {
  /** Without a path. The Responses API is below `/v1`. */
  readonly url: string;
  /** Replaces the script, and forgets the requests so far. */
  play(script: ModelScript): void;
  /** Requests with tools since the last `play`, without their bodies. */
  readonly turns: readonly Turn[];
  readonly close: () => Promise<void>;
}

export interface Turn {
  readonly bytes: number;
  readonly arrivedAt: number;
  endedAt: number;
}

const USAGE = {input_tokens: 1000, output_tokens: 10, cache_read_input_tokens: 0, cache_creation_input_tokens: 0};

export async function startModelServer(): Promise<ModelServer> {
  let script: ModelScript = () => {
    throw new Error('no script is played');
  };
  let turns: Turn[] = [];
  let count = 0;
  const server = createServer((request, response) => {
    const arrivedAt = performance.now();
    answer(request, response, arrivedAt).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, {'content-type': 'application/json'});
      response.end(JSON.stringify({type: 'error', error: {type: 'api_error', message: String(error)}}));
    });
  });
  server.keepAliveTimeout = 0;

  async function answer(request: IncomingMessage, response: ServerResponse, arrivedAt: number): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const route = request.url?.replace(/\?.*/, '') ?? '';
    const isMessages = route.endsWith('/messages');
    if (request.method !== 'POST' || !(isMessages || route.endsWith('/responses'))) return sendOther(response, route);
    const hasTools = /"tools":\s*\[\s*\{/.test(body.toString('latin1'));
    const seen: ModelRequest = {body, has: (text) => body.includes(text), hasTools, arrivedAt, endedAt: 0};
    const turn: Turn = {bytes: body.length, arrivedAt, endedAt: 0};
    if (hasTools) turns.push(turn);
    const reply = await script(seen);
    const index = count++;
    const events = isMessages
      ? createEvents(reply, FACELESS, index, {...USAGE, ...reply.usage})
      : createResponsesEvents(reply, 'bench', index);
    await writeEvents(response, events, reply.msPerEvent);
    turn.endedAt = performance.now();
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    play: (next) => {
      script = next;
      turns = [];
    },
    get turns() {
      return turns;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const FACELESS: MessagesBody = {model: 'claude-sonnet-4-5', max_tokens: 1, messages: []};

function sendOther(response: ServerResponse, route: string): void {
  const found = route.endsWith('/count_tokens') ? {input_tokens: 1000} : route.endsWith('/models') ? {data: []} : {};
  response.writeHead(Object.keys(found).length > 0 ? 200 : 404, {'content-type': 'application/json'});
  response.end(JSON.stringify(found));
}

async function writeEvents(
  response: ServerResponse,
  events: readonly {readonly type: string}[],
  msPerEvent?: number,
): Promise<void> {
  response.writeHead(200, {'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache'});
  const words = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  if (msPerEvent === undefined) response.write(words.join(''));
  else {
    const began = performance.now();
    for (const [index, word] of words.entries()) {
      // By the clock, so that each program gets the same stream however busy the machine is.
      const wait = began + index * msPerEvent - performance.now();
      if (wait > 0) await sleep(wait);
      if (response.destroyed) return;
      response.write(word);
    }
  }
  await new Promise<void>((resolve) => response.end(() => resolve()));
}
