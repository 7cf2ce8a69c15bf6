/**
 * Reads the events of a reply from a server's response. The SDK's own reader needs a stream, and an `event:` line
 * before each event. Some servers leave out these lines, or answer with one JSON message.
 */
import Anthropic from '@anthropic-ai/sdk';
import type {Message} from '@anthropic-ai/sdk/resources/messages/messages';
import {Stream} from '@anthropic-ai/sdk/streaming';
import type {StreamEvent} from '../../core/contract/model.ts';
import {readIfJson} from '../http-fetch.ts';
import {assertEventStream, createStreamError} from '../model-errors.ts';

/**
 * Yields the events up to the end of the body, without pings.
 * @throws APIError for an error that the server sent as an event or as the message; SyntaxError and ModelError of kind
 * `stream` for data that is not an event; errors of reading the body
 */
export async function* readReplyEvents(response: Response): AsyncGenerator<StreamEvent, void, undefined> {
  const body = await readIfJson(response);
  if (typeof body === 'string') {
    const {content, ...message} = parseObject(body, response);
    // Some servers send the text alone.
    const blocks = typeof content === 'string' ? [{type: 'text', text: content}] : content;
    if (!Array.isArray(blocks)) throw createStreamError();
    yield* toEvents({...message, content: blocks} as unknown as Message);
    return;
  }
  let isEmpty = true;
  for await (const {event, data} of Stream.rawEvents(body)) {
    if (data === '' || data === '[DONE]' || event === 'ping') continue;
    isEmpty = false;
    const object = parseObject(data, response);
    if (object.type !== 'ping') yield object as unknown as StreamEvent;
  }
  if (isEmpty) assertEventStream(response);
}

function parseObject(json: string, {headers}: Response): Readonly<Record<string, unknown>> {
  const value = JSON.parse(json) as Readonly<Record<string, unknown>> | null;
  if (typeof value !== 'object' || value === null) throw createStreamError();
  if (value.type === 'error' || (value.type === undefined && value.error)) {
    throw new Anthropic.APIError(undefined, value, undefined, headers);
  }
  if (typeof value.type !== 'string') throw createStreamError();
  return value;
}

/** Returns the events that a server would have streamed for the message. */
function toEvents({content, ...message}: Message): StreamEvent[] {
  const {container, stop_reason, stop_details, stop_sequence} = message;
  const start = {...message, content: [], stop_reason: null, stop_details: null, stop_sequence: null};
  const delta = {container, stop_reason, stop_details, stop_sequence};
  return [
    {type: 'message_start', message: start},
    ...content.flatMap((block, index): StreamEvent[] => [
      {type: 'content_block_start', index, content_block: block},
      {type: 'content_block_stop', index},
    ]),
    {type: 'message_delta', delta, usage: message.usage},
    {type: 'message_stop'},
  ];
}
