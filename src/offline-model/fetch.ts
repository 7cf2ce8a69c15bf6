/**
 * The offline model as a `fetch` for the SDK: `new Anthropic({apiKey: 'offline', fetch: createOfflineFetch()})`.
 * It speaks the Messages API and uses no network. `decide.ts` decides what it answers.
 */
import {setImmediate as nextTick} from 'node:timers/promises';
import {decide, estimateTokens} from './decide.ts';
import {BadRequest, createEvents, createMessage, frame, parseRequest, type Reply} from './messages-api.ts';

/** An answer depends on its request alone, so one `fetch` can serve any number of agents. */
export function createOfflineFetch(): typeof fetch {
  return async (input, init) => {
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    signal?.throwIfAborted();
    // A caller may abort in the same tick: then do not begin.
    await nextTick();
    signal?.throwIfAborted();
    const {pathname} = new URL(input instanceof Request ? input.url : input);
    const body = await readBody(input, init?.body);
    if (pathname.endsWith('/v1/messages/count_tokens')) return json(200, {input_tokens: estimateTokens(body)});
    if (!pathname.endsWith('/v1/messages')) {
      return failure(404, 'not_found_error', `the offline model has no ${pathname}`);
    }
    try {
      const request = parseRequest(body);
      const reply = decide(request, body);
      return request.stream ? streamed(reply, signal ?? undefined) : json(200, createMessage(reply));
    } catch (error) {
      if (error instanceof BadRequest) return failure(400, 'invalid_request_error', error.message);
      // Status 400 is not retried: the same request would fail in the same way.
      return failure(400, 'api_error', `the offline model failed: ${error instanceof Error ? error.message : error}`);
    }
  };
}

async function readBody(input: Parameters<typeof fetch>[0], body: RequestInit['body']): Promise<string> {
  if (typeof body === 'string') return body;
  if (body !== undefined && body !== null) return new Response(body).text();
  return input instanceof Request ? input.text() : '';
}

/** Sends one event per turn of the event loop, so that keys and timers are handled in between. */
function streamed(reply: Reply, signal: AbortSignal | undefined): Response {
  const events = createEvents(reply);
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await nextTick();
      if (signal?.aborted) {
        controller.error(signal.reason);
        return;
      }
      const next = events.next();
      if (next.done) controller.close();
      else controller.enqueue(encoder.encode(frame(next.value)));
    },
  });
  return new Response(stream, {status: 200, headers: headers('text/event-stream', reply.id)});
}

function json(status: number, value: unknown): Response {
  return new Response(JSON.stringify(value), {status, headers: headers('application/json', 'offline')});
}

function failure(status: number, type: string, message: string): Response {
  return json(status, {type: 'error', error: {type, message}});
}

function headers(contentType: string, id: string): Record<string, string> {
  return {'content-type': contentType, 'cache-control': 'no-cache', 'request-id': `req_${id}`};
}
