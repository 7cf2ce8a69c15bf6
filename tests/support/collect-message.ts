import type {Anthropic} from '@anthropic-ai/sdk';

/**
 * The message that the events of a stream make. The SDK has a class for it, which is not in the program that ships, nor in the tests.
 * @throws Error when the stream ends before the message does
 */
export async function collectMessage(
  events: AsyncIterable<Anthropic.RawMessageStreamEvent>,
): Promise<Anthropic.Message> {
  let message: Anthropic.Message | undefined;
  let json = '';
  for await (const event of events) {
    if (event.type === 'message_start') message = structuredClone(event.message);
    if (message === undefined) throw new Error(`${event.type} before message_start`);
    if (event.type === 'content_block_start') {
      message.content.push(structuredClone(event.content_block));
      json = '';
    } else if (event.type === 'content_block_delta') {
      const {delta} = event;
      const block = message.content[event.index];
      if (delta.type === 'text_delta' && block?.type === 'text') block.text += delta.text;
      else if (delta.type === 'thinking_delta' && block?.type === 'thinking') block.thinking += delta.thinking;
      else if (delta.type === 'signature_delta' && block?.type === 'thinking') block.signature = delta.signature;
      else if (delta.type === 'input_json_delta' && block?.type === 'tool_use') json += delta.partial_json;
      else throw new Error(`${delta.type} in ${block?.type}`);
    } else if (event.type === 'content_block_stop') {
      const block = message.content[event.index];
      if (block?.type === 'tool_use' && json !== '') block.input = JSON.parse(json);
    } else if (event.type === 'message_delta') {
      message.stop_reason = event.delta.stop_reason;
      message.stop_sequence = event.delta.stop_sequence;
      message.usage.output_tokens = event.usage.output_tokens;
    } else if (event.type === 'message_stop') return message;
  }
  throw new Error('the stream ended before the message');
}
