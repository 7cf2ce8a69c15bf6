import type {StreamEvent} from '../core/contract/model.ts';

/** Counts the bytes of content that an event brings. */
export function countContentBytes(event: StreamEvent): number {
  const part: Readonly<Record<string, unknown>> =
    event.type === 'content_block_delta'
      ? {...event.delta}
      : event.type === 'content_block_start'
        ? {...event.content_block}
        : {};
  return ['text', 'thinking', 'signature', 'partial_json', 'data'].reduce((sum, key) => {
    const value = part[key];
    return typeof value === 'string' ? sum + Buffer.byteLength(value) : sum;
  }, 0);
}
