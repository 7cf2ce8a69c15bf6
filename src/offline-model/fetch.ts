/**
 * The offline model as a `fetch` for the SDK: `new Anthropic({apiKey: 'offline', fetch: createOfflineFetch()})`.
 * It speaks the Messages API and uses no network. `decide.ts` decides what it answers.
 */
import {setImmediate as nextTick} from 'node:timers/promises';
import {createResponse, toBody} from '../models/http/response.ts';
import {decide, estimateTokens} from './decide.ts';
import {BadRequest, createEvents, createMessage, frame, parseRequest, type Reply} from './messages-api.ts';

/** An answer depends on its request alone, so one `fetch` can serve any number of agents. */
export function createOfflineFetch(): typeof fetch {
  return async (input, init) => {
    const signal = init?.signal ?? undefined;
    signal?.throwIfAborted();
    // A caller may abort in the same tick: then do not begin.
    await nextTick();
    signal?.throwIfAborted();
    const {pathname} = new URL(typeof input === 'string' || input instanceof URL ? input : input.url);
    const body = readBody(init?.body);
    if (pathname.endsWith('/v1/messages/count_tokens')) return json(200, {input_tokens: estimateTokens(body)});
    if (!pathname.endsWith('/v1/messages')) {
      return failure(404, 'not_found_error', `the offline model has no ${pathname}`);
    }
    try {
      const request = parseRequest(body);
      const reply = decide(request, body);
      return request.stream ? streamed(reply, signal) : json(200, createMessage(reply));
    } catch (error) {
      if (error instanceof BadRequest) return failure(400, 'invalid_request_error', error.message);
      // Status 400 is not retried: the same request would fail in the same way.
      return failure(400, 'api_error', `the offline model failed: ${error instanceof Error ? error.message : error}`);
    }
  };
}

/** The SDK sends texts and bytes. */
function readBody(body: unknown): string {
  return body instanceof Uint8Array ? Buffer.from(body).toString('utf8') : String(body ?? '');
}

function streamed(reply: Reply, signal: AbortSignal | undefined): Response {
  return createResponse({
    status: 200,
    headers: headers('text/event-stream', reply.id),
    body: streamEvents(reply, signal),
  });
}

/** Yields one event per turn of the event loop, so that keys and timers are handled in between. */
async function* streamEvents(
  reply: Reply,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const event of createEvents(reply)) {
    await nextTick();
    signal?.throwIfAborted();
    yield Buffer.from(frame(event));
  }
}

function json(status: number, value: unknown): Response {
  const body = toBody(JSON.stringify(value));
  return createResponse({status, headers: headers('application/json', 'offline'), body});
}

function failure(status: number, type: string, message: string): Response {
  return json(status, {type: 'error', error: {type, message}});
}

function headers(contentType: string, id: string): Record<string, string> {
  return {'content-type': contentType, 'cache-control': 'no-cache', 'request-id': `req_${id}`};
}
