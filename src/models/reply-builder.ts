/**
 * Puts a reply together from the events of a stream. The SDK has an accumulator too; it completes cut-off JSON of
 * tool inputs in silence, so that half a command would run, and drops the whole reply when the JSON is garbled.
 * Here such a call is kept and named in `garbledInputs`.
 */

import type {AssistantBlock, StopReason, StreamEvent, Usage} from '../core/contract/messages.ts';
import type {ModelReply} from '../core/contract/model.ts';
import {ModelError} from '../core/util/errors.ts';

type Mutable<T> = {-readonly [K in keyof T]: T[K]};

export class ReplyBuilder {
  #id = '';
  #model = '';
  #stopReason: StopReason | null = null;
  #ended = false;
  readonly #blocks: Mutable<AssistantBlock>[] = [];
  readonly #json = new Map<number, string>();
  readonly #usage: Mutable<Usage> = {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  };

  /** @throws ModelError `stream` when the events make no sense. */
  add(event: StreamEvent): void {
    switch (event.type) {
      case 'message_start':
        this.#id = event.message.id;
        this.#model = event.message.model;
        this.#stopReason = event.message.stop_reason ?? null;
        for (const [index, block] of (event.message.content ?? []).entries()) this.#blocks[index] = {...block};
        this.#countUsage(event.message.usage);
        break;
      case 'content_block_start':
        this.#blocks[event.index] = {...event.content_block};
        break;
      case 'content_block_delta':
        this.#addDelta(event.index, event.delta);
        break;
      case 'message_delta':
        this.#stopReason = event.delta.stop_reason ?? this.#stopReason;
        this.#countUsage(event.usage);
        break;
      case 'message_stop':
        this.#ended = true;
        break;
      case 'content_block_stop':
        break;
    }
  }

  /** So far. */
  get usage(): Usage {
    return {...this.#usage};
  }

  /** @throws ModelError `stream` when the stream ended before the reply did. */
  finish(fallbackModel: string): ModelReply {
    if (this.#id === '' && this.#blocks.length === 0) throw broken('the server sent an empty stream');
    if (!this.#ended && this.#stopReason === null) throw broken('the stream ended in the middle of the reply');
    const garbledInputs = new Map<string, string>();
    // Some servers leave indexes out.
    const content = this.#blocks.flatMap((block, index) => {
      // An empty text block is refused when it is sent back.
      if (block === undefined || (block.type === 'text' && block.text === '')) return [];
      const json = this.#json.get(index);
      if (block.type !== 'tool_use' || json === undefined || json === '') return [block];
      try {
        return [{...block, input: JSON.parse(json) as unknown}];
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        garbledInputs.set(block.id, json);
        return [{...block, input: {}}];
      }
    });
    return {
      id: this.#id,
      content,
      stopReason: this.#stopReason,
      usage: this.#usage,
      model: this.#model || fallbackModel,
      garbledInputs,
    };
  }

  #addDelta(index: number, delta: Extract<StreamEvent, {type: 'content_block_delta'}>['delta']): void {
    const block = this.#blocks[index];
    if (!block) throw broken('a delta came for a block that was not begun');
    if (delta.type === 'text_delta' && block.type === 'text') block.text += delta.text;
    else if (delta.type === 'thinking_delta' && block.type === 'thinking') block.thinking += delta.thinking;
    else if (delta.type === 'signature_delta' && block.type === 'thinking') block.signature = delta.signature;
    else if (delta.type === 'input_json_delta') {
      this.#json.set(index, (this.#json.get(index) ?? '') + delta.partial_json);
    } else if (delta.type === 'citations_delta' && block.type === 'text') {
      block.citations = [...(block.citations ?? []), delta.citation];
    }
  }

  /** Counts are totals of the whole message: a later one replaces an earlier one, and a missing one says nothing. */
  #countUsage(usage: {[K in keyof Usage]?: number | null} | undefined): void {
    for (const key of Object.keys(this.#usage) as (keyof Usage)[]) {
      const value = usage?.[key];
      if (typeof value === 'number') this.#usage[key] = value;
    }
  }
}

function broken(words: string): ModelError {
  return new ModelError('stream', words, {retryable: true});
}
