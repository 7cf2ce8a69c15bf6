/**
 * Builds a reply from the events of a stream. The SDK can do this too, but it silently completes the JSON of a tool
 * input that was cut off, so that half a command would run, and it drops the whole reply when the JSON is invalid. Here
 * such a call stays in the reply and is listed in `garbledInputs`.
 */

import type {Anthropic} from '@anthropic-ai/sdk';
import type {AssistantBlock, ModelReply, StopReason, StreamEvent, Usage} from '../core/contract/model.ts';
import {BYTES_PER_TOKEN} from '../core/turn/context-window.ts';
import {countInputTokens} from '../core/util/messages.ts';
import {createStreamError} from './model-errors.ts';
import {countContentBytes} from './reply-content.ts';

type Mutable<T> = {-readonly [K in keyof T]: T[K]};

const COUNTS = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'] as const;

/** A model call cannot have more tokens than this, so a larger count is an error of the server. */
const MAX_COUNT = 10_000_000;

type ServerUsage = {readonly [K in (typeof COUNTS)[number]]?: number | null} & {
  readonly cache_creation?: {readonly ephemeral_1h_input_tokens?: number} | null;
  readonly server_tool_use?: {readonly web_search_requests?: number} | null;
};

/** Builds one reply, and estimates what its server did not count. */
export class ReplyBuilder {
  #id = '';
  #model = '';
  #stopReason: StopReason | null = null;
  #refusal: ModelReply['refusal'];
  #ended = false;
  readonly #blocks: Mutable<AssistantBlock>[] = [];
  readonly #json = new Map<number, string>();
  readonly #usage: Mutable<Usage> = {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  };
  #hasFinalCount = false;
  #contentBytes = 0;
  /** Counts of the server that cannot be true, e.g. `output_tokens: -5`. */
  readonly #oddCounts: string[] = [];

  /** @param inputTokens estimated tokens of the request; 0 without an estimate */
  constructor(private readonly inputTokens = 0) {}

  /** @throws ModelError of kind `stream` when the event lacks fields or does not fit the events before it */
  add(event: StreamEvent): void {
    try {
      this.#add(event);
      this.#contentBytes += countContentBytes(event);
    } catch (error) {
      throw error instanceof TypeError ? createStreamError() : error;
    }
  }

  #add(event: StreamEvent): void {
    switch (event.type) {
      case 'message_start':
        this.#id = event.message.id;
        this.#model = event.message.model;
        this.#setStop(event.message);
        for (const [index, block] of (event.message.content ?? []).entries()) this.#blocks[index] = {...block};
        this.#countUsage(event.message.usage, false);
        break;
      case 'content_block_start':
        if (typeof event.content_block.type !== 'string') throw createStreamError();
        this.#blocks[event.index] = {...event.content_block};
        break;
      case 'content_block_delta':
        this.#addDelta(event.index, event.delta);
        break;
      case 'message_delta':
        this.#setStop(event.delta);
        this.#countUsage(event.usage, true);
        break;
      case 'message_stop':
        this.#ended = true;
        break;
      case 'content_block_stop':
        break;
    }
  }

  /** Whether the server counted the tokens of the request. */
  get isInputCounted(): boolean {
    return countInputTokens(this.#usage) > 0;
  }

  /** What the reply has used so far. What the server did not count yet is estimated from the request and the content. */
  get usage(): Usage {
    const input = this.isInputCounted ? {} : {input_tokens: this.inputTokens};
    const streamed = this.#hasFinalCount ? 0 : Math.ceil(this.#contentBytes / BYTES_PER_TOKEN);
    const output_tokens = Math.max(this.#usage.output_tokens, streamed);
    const isEstimated = (!this.isInputCounted && this.inputTokens > 0) || output_tokens > this.#usage.output_tokens;
    return {...this.#usage, ...input, output_tokens, ...(isEstimated && {cost_estimated: true})};
  }

  /** What the reply has cost if it ends here: an estimate, until the server has counted the whole of it. */
  get usageSoFar(): Usage {
    return this.#hasFinalCount ? this.usage : {...this.usage, cost_estimated: true};
  }

  /** Describes what is wrong with the server's count of the whole reply, if anything is. */
  get countProblem(): string | undefined {
    if (this.#oddCounts.length > 0) return `a usage that cannot be true (${this.#oddCounts.join(', ')})`;
    return this.usage.cost_estimated ? 'no usage' : undefined;
  }

  /**
   * Completes the reply.
   * @param fallbackModel name of the model when the server named none
   * @throws ModelError of kind `stream` when the stream ended before the reply
   */
  finish(fallbackModel: string): ModelReply {
    if (this.#id === '' && this.#blocks.length === 0) throw createStreamError('the server sent an empty stream');
    if (!this.#ended && this.#stopReason === null)
      throw createStreamError('the stream ended in the middle of the reply');
    const garbledInputs = new Map<string, string>();
    // Some servers skip indexes, which leaves holes.
    const content = this.#blocks.flatMap((block, index) => {
      // Servers refuse an empty text block in the next request.
      if (block === undefined || (block.type === 'text' && block.text === '')) return [];
      const json = this.#json.get(index);
      if ((block.type !== 'tool_use' && block.type !== 'server_tool_use') || json === undefined || json === '')
        return [block];
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
      usage: this.usage,
      model: this.#model || fallbackModel,
      garbledInputs,
      ...(this.#refusal ? {refusal: this.#refusal} : {}),
    };
  }

  #setStop({stop_reason, stop_details}: Pick<Anthropic.Message, 'stop_reason' | 'stop_details'>): void {
    this.#stopReason = stop_reason ?? this.#stopReason;
    if (this.#stopReason === 'refusal') {
      const {category, explanation} = stop_details ?? {};
      this.#refusal = {...(category ? {category} : {}), ...(explanation ? {explanation} : {})};
    }
  }

  #addDelta(index: number, delta: Extract<StreamEvent, {type: 'content_block_delta'}>['delta']): void {
    const block = this.#blocks[index];
    if (!block) throw createStreamError('a delta came for a block that was not started');
    if (delta.type === 'text_delta' && block.type === 'text') block.text += delta.text;
    else if (delta.type === 'thinking_delta' && block.type === 'thinking') block.thinking += delta.thinking;
    else if (delta.type === 'signature_delta' && block.type === 'thinking') block.signature = delta.signature;
    else if (delta.type === 'input_json_delta') {
      this.#json.set(index, (this.#json.get(index) ?? '') + delta.partial_json);
    } else if (delta.type === 'citations_delta' && block.type === 'text') {
      block.citations = [...(block.citations ?? []), delta.citation];
    }
  }

  /**
   * Counts usage. Each count is the total of the whole message, so a later count replaces an earlier one. A missing
   * count changes nothing, and neither does one that cannot be true.
   * @param isFinal whether the output was counted at the end of the reply
   */
  #countUsage(usage: ServerUsage | undefined, isFinal: boolean): void {
    for (const key of COUNTS) {
      const value: unknown = usage?.[key];
      if (value === undefined || value === null) continue;
      const isPossible = Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_COUNT;
      if (isPossible) this.#usage[key] = value as number;
      else this.#oddCounts.push(`${key}: ${JSON.stringify(value)}`.slice(0, 60));
      if (key === 'output_tokens') this.#hasFinalCount = isFinal && isPossible;
    }
    const hour = usage?.cache_creation?.ephemeral_1h_input_tokens;
    if (typeof hour === 'number' && hour > 0) this.#usage.cache_creation_1h_input_tokens = hour;
    const searches = usage?.server_tool_use?.web_search_requests;
    if (typeof searches === 'number' && searches > 0) this.#usage.web_search_requests = searches;
  }
}
