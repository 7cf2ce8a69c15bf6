/**
 * Replaces keys in all events before front ends see them. Streamed text is published as it comes, except an end that
 * may become a key: that end waits for the next piece or the end of its block. Other events do not wait for it.
 */
import type {AgentEventBody} from '../contract/events.ts';
import type {StreamEvent} from '../contract/model.ts';
import {RedactingStream, type Redactor} from './redaction.ts';

type DeltaEvent = Extract<StreamEvent, {type: 'content_block_delta'}>;
type TextKind = 'text_delta' | 'thinking_delta';

/** Names of the fields of raw deltas that contain a piece of text. */
const PIECES = {text_delta: 'text', thinking_delta: 'thinking', input_json_delta: 'partial_json'} as const;

/**
 * A raw block that is being streamed. `last` is its newest delta; text that waited is published in the form of that
 * delta.
 */
interface RawBlock {
  readonly stream: RedactingStream;
  last: DeltaEvent;
}

/** Reply that one agent's model is writing. */
class StreamedReply {
  readonly #texts = new Map<TextKind, RedactingStream>();
  readonly #raw = new Map<number, RawBlock>();

  constructor(private readonly redactor: Redactor) {}

  text(kind: TextKind, text: string): AgentEventBody[] {
    // Blocks come one after the other: when one kind of text begins, the other kind has ended.
    const rest = this.end(kind);
    const stream = this.#texts.get(kind) ?? new RedactingStream(this.redactor);
    this.#texts.set(kind, stream);
    const shown = stream.push(text);
    return shown === '' ? rest : [...rest, {type: kind, text: shown}];
  }

  raw(event: StreamEvent): AgentEventBody[] {
    if (event.type === 'content_block_delta') {
      const field = getField(event);
      if (field !== undefined) {
        const block = this.#raw.get(event.index) ?? {stream: new RedactingStream(this.redactor), last: event};
        block.last = event;
        this.#raw.set(event.index, block);
        return createDelta(event, block.stream.push((event.delta as unknown as Record<string, string>)[field]!));
      }
    }
    const redacted: AgentEventBody = {type: 'stream', event: this.redactor.values(event)};
    if (event.type !== 'content_block_stop') return [redacted];
    const block = this.#raw.get(event.index);
    this.#raw.delete(event.index);
    return block ? [...createDelta(block.last, block.stream.end()), redacted] : [redacted];
  }

  /** Ends the texts of other kinds. @returns what waited of them */
  end(except?: TextKind): AgentEventBody[] {
    return [...this.#texts].flatMap(([kind, stream]) => {
      if (kind === except) return [];
      this.#texts.delete(kind);
      const rest = stream.end();
      return rest === '' ? [] : [{type: kind, text: rest}];
    });
  }
}

export class EventRedaction {
  readonly #replies = new Map<string, StreamedReply>();

  constructor(private readonly redactor: Redactor) {}

  /** @returns the events to publish instead of this one: usually one, or none while its text waits */
  redact(agentId: string, body: AgentEventBody): readonly AgentEventBody[] {
    if (this.redactor.isEmpty) return [body];
    switch (body.type) {
      case 'text_delta':
      case 'thinking_delta':
        return this.#getReply(agentId).text(body.type, body.text);
      case 'stream':
        return this.#getReply(agentId).raw(body.event);
      default: {
        const redacted = this.redactor.values(body);
        return isReplyEnd(body) ? [...this.#end(agentId), redacted] : [redacted];
      }
    }
  }

  #getReply(agentId: string): StreamedReply {
    const reply = this.#replies.get(agentId) ?? new StreamedReply(this.redactor);
    this.#replies.set(agentId, reply);
    return reply;
  }

  #end(agentId: string): AgentEventBody[] {
    const rest = this.#replies.get(agentId)?.end() ?? [];
    this.#replies.delete(agentId);
    return rest;
  }
}

function isReplyEnd(body: AgentEventBody): boolean {
  if (body.type === 'message') return body.role === 'assistant';
  return body.type === 'retry' || body.type === 'run_end';
}

/** Returns the name of the field that contains a piece of text; undefined for a delta without text. */
function getField({delta}: DeltaEvent): string | undefined {
  return PIECES[delta.type as keyof typeof PIECES];
}

/** Returns the same delta with another text, or nothing for an empty text. */
function createDelta(like: DeltaEvent, text: string): AgentEventBody[] {
  if (text === '') return [];
  return [{type: 'stream', event: {...like, delta: {...like.delta, [getField(like)!]: text}} as DeltaEvent}];
}
