/** A line of a transcript as it is stored: without the values of known keys. */

import type {AssistantBlock, Message} from '../../core/contract/messages.ts';
import type {TranscriptEntry} from '../../core/contract/transcript.ts';
import type {Redactor} from '../../core/secrets/redaction.ts';

export function storedEntry(entry: TranscriptEntry, redactor: Redactor): TranscriptEntry {
  if (redactor.isEmpty) return entry;
  if (entry.type !== 'message') return redactor.values(entry);
  return redactor.values({...entry, message: withoutTouchedThinking(entry.message, redactor)});
}

/** A server takes thoughts back as they were signed or not at all: one that holds a key is left out. */
function withoutTouchedThinking(message: Message, redactor: Redactor): Message {
  const {content} = message;
  if (message.role !== 'assistant' || typeof content === 'string') return message;
  const kept = (content as readonly AssistantBlock[]).filter(
    (block) => block.type !== 'thinking' || redactor.text(block.thinking) === block.thinking,
  );
  if (kept.length === content.length) return message;
  return {...message, content: kept.length > 0 ? kept : [{type: 'text', text: '(a thought that held a key)'}]};
}
