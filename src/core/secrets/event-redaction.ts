/**
 * Takes keys out of all that front ends see. Text that streams in is told as it comes, but for an end that could become
 * a key: that waits for the next piece or the end of its block, whatever else is told meanwhile.
 */
import type {AgentEventBody} from '../contract/events.ts';
import type {StreamEvent} from '../contract/model.ts';
import {RedactingStream, type Redactor} from './redaction.ts';

type DeltaEvent = Extract<StreamEvent, {type: 'content_block_delta'}>;
type TextKind = 'text_delta' | 'thinking_delta';

/** Fields of raw deltas that hold a piece of text. */
const PIECES = {text_delta: 'text', thinking_delta: 'thinking', input_json_delta: 'partial_json'} as const;

/** A raw block under way. `last` is its newest delta, the shape for what was held. */
interface RawBlock {
  readonly stream: RedactingStream;
  last: DeltaEvent;
}

/** What one agent's model is writing. */
class Writing {
  readonly #texts = new Map<TextKind, RedactingStream>();
  readonly #raw = new Map<number, RawBlock>();

  constructor(private readonly redactor: Redactor) {}

  text(kind: TextKind, text: string): AgentEventBody[] {
    // Blocks come one after the other: where the other kind begins, this one's is over.
    const over = this.#endTexts(kind);
    const stream = this.#texts.get(kind) ?? new RedactingStream(this.redactor);
    this.#texts.set(kind, stream);
    const shown = stream.push(text);
    return shown === '' ? over : [...over, {type: kind, text: shown}];
  }

  raw(event: StreamEvent): AgentEventBody[] {
    if (event.type === 'content_block_delta') {
      const piece = getPiece(event);
      if (piece !== undefined) {
        const block = this.#raw.get(event.index) ?? {stream: new RedactingStream(this.redactor), last: event};
        block.last = event;
        this.#raw.set(event.index, block);
        return rawPiece(event, block.stream.push(piece));
      }
    }
    const told: AgentEventBody = {type: 'stream', event: this.redactor.values(event)};
    if (event.type !== 'content_block_stop') return [told];
    const block = this.#raw.get(event.index);
    this.#raw.delete(event.index);
    return block ? [...rawPiece(block.last, block.stream.end()), told] : [told];
  }

  /** The reply is over. */
  end(): AgentEventBody[] {
    this.#raw.clear();
    return this.#endTexts();
  }

  #endTexts(but?: TextKind): AgentEventBody[] {
    return [...this.#texts].flatMap(([kind, stream]) => {
      if (kind === but) return [];
      this.#texts.delete(kind);
      const rest = stream.end();
      return rest === '' ? [] : [{type: kind, text: rest}];
    });
  }
}

export class EventRedaction {
  readonly #writing = new Map<string, Writing>();

  constructor(private readonly redactor: Redactor) {}

  /** What is told instead of this event: mostly one, none while its text is held back. */
  redact(agentId: string, body: AgentEventBody): readonly AgentEventBody[] {
    if (this.redactor.isEmpty) return [body];
    switch (body.type) {
      case 'text_delta':
      case 'thinking_delta':
        return this.#of(agentId).text(body.type, body.text);
      case 'stream':
        return this.#of(agentId).raw(body.event);
      default: {
        const told = this.redactor.values(body);
        return endsReply(body) ? [...this.#end(agentId), told] : [told];
      }
    }
  }

  #of(agentId: string): Writing {
    const writing = this.#writing.get(agentId) ?? new Writing(this.redactor);
    this.#writing.set(agentId, writing);
    return writing;
  }

  #end(agentId: string): AgentEventBody[] {
    const rest = this.#writing.get(agentId)?.end() ?? [];
    this.#writing.delete(agentId);
    return rest;
  }
}

function endsReply(body: AgentEventBody): boolean {
  if (body.type === 'message') return body.role === 'assistant';
  return body.type === 'retry' || body.type === 'run_end';
}

function getPiece({delta}: DeltaEvent): string | undefined {
  switch (delta.type) {
    case 'text_delta':
      return delta.text;
    case 'thinking_delta':
      return delta.thinking;
    case 'input_json_delta':
      return delta.partial_json;
    default:
      return undefined;
  }
}

/** The same delta with this text. */
function rawPiece(like: DeltaEvent, text: string): AgentEventBody[] {
  if (text === '') return [];
  const field = PIECES[like.delta.type as keyof typeof PIECES];
  return [{type: 'stream', event: {...like, delta: {...like.delta, [field]: text}} as DeltaEvent}];
}
