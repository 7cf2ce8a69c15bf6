/** Turns a scripted reply into the events of the OpenAI Responses protocol, for programs that speak it. */
import type {MessageReply, ScriptedBlock} from './scripted-replies.ts';

const CHARS_PER_DELTA = 20;

export type ResponsesEvent = {readonly type: string} & Readonly<Record<string, unknown>>;

/** @param index of the request at the server: it makes the ids */
export function createResponsesEvents(reply: MessageReply, model: string, index: number): ResponsesEvent[] {
  const id = `resp_${index + 1}`;
  const items = reply.blocks.map((block, at) => createItem(block, `${id}_${at}`));
  const output_tokens = Math.max(1, Math.ceil(JSON.stringify(reply.blocks).length / 4));
  const input_tokens = reply.usage?.input_tokens ?? 1000;
  const usage = {
    ...{input_tokens, output_tokens, total_tokens: input_tokens + output_tokens},
    ...{input_tokens_details: {cached_tokens: 0}, output_tokens_details: {reasoning_tokens: 0}},
  };
  const response = {id, object: 'response', created_at: 1, model};
  return [
    {type: 'response.created', response: {...response, status: 'in_progress', output: []}},
    ...reply.blocks.flatMap((block, output_index) => {
      const item = items[output_index]!;
      const started =
        item.type === 'message' ? {...item, status: 'in_progress', content: []} : {...item, arguments: ''};
      return [
        {type: 'response.output_item.added', output_index, item: started},
        ...createDeltas(block, String(item.id), output_index, reply.charsPerDelta),
        {type: 'response.output_item.done', output_index, item},
      ];
    }),
    {type: 'response.completed', response: {...response, status: 'completed', output: items, usage}},
  ];
}

function createItem(block: ScriptedBlock, id: string): Record<string, unknown> {
  if (block.type === 'tool_use') {
    const text = block.rawInput ?? JSON.stringify(block.input);
    const named = {name: block.name, ...(block.namespace && {namespace: block.namespace})};
    return {type: 'function_call', id, call_id: block.id, ...named, arguments: text, status: 'completed'};
  }
  const text = block.type === 'text' ? block.text : '';
  const content = [{type: 'output_text', text, annotations: []}];
  return {type: 'message', id, role: 'assistant', status: 'completed', content};
}

function createDeltas(block: ScriptedBlock, item_id: string, output_index: number, size = CHARS_PER_DELTA) {
  if (block.type !== 'text') return [];
  const parts = block.text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'gu')) ?? [];
  return parts.map((delta) => ({type: 'response.output_text.delta', item_id, output_index, content_index: 0, delta}));
}
