/**
 * Sets marks for the server's prompt cache: four, the maximum. The server stores the request up to each mark, and
 * searches about 20 blocks back from each mark for a stored part. A turn of many calls adds more blocks, so one mark is
 * where the previous request had its last one, and the history is read from the cache up to there.
 */
import type {Anthropic} from '@anthropic-ai/sdk';
import type {Message, ModelRequest} from '../../core/contract/model.ts';

const MARK = {cache_control: {type: 'ephemeral'}} as const;

/** Returns the parts of the request with marks. The given objects are not changed. */
export function withCacheMarks({
  system,
  tools,
  messages,
}: Pick<ModelRequest, 'system' | 'tools' | 'messages'>): Pick<
  Anthropic.MessageCreateParams,
  'system' | 'tools' | 'messages'
> {
  const last = tools.at(-1);
  return {
    ...(system.trim() === '' ? {} : {system: [{type: 'text', text: system, ...MARK}]}),
    ...(last ? {tools: [...tools.slice(0, -1), {...last, ...MARK}]} : {}),
    messages: markMessages(messages, [findEndOfLastRequest(messages), messages.length - 1]),
  };
}

/** Returns the index of the message before the last reply, or -1 when there is no reply yet. */
function findEndOfLastRequest(messages: readonly Message[]): number {
  let at = messages.findLastIndex(({role}) => role === 'assistant');
  while (messages[at]?.role === 'assistant') at -= 1;
  return at;
}

function markMessages(messages: readonly Message[], at: readonly number[]): Message[] {
  const marked = [...messages];
  for (const index of new Set(at)) if (marked[index]) marked[index] = markMessage(marked[index]);
  return marked;
}

/** Marks the last block. Servers refuse a mark on a thinking block, but no message of a history ends with one. */
function markMessage(message: Message): Message {
  const {content} = message;
  const blocks = typeof content === 'string' ? [{type: 'text' as const, text: content}] : content;
  return {...message, content: [...blocks.slice(0, -1), {...blocks.at(-1), ...MARK}]} as Message;
}
