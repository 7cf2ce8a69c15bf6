/**
 * Converts the chunks of a chat completion to events of the Messages API, so that all other code is the same for both
 * protocols. Servers differ: reasoning has two names, calls arrive without ids or indexes, and usage arrives late, in
 * each chunk or never.
 */
import {randomUUID} from 'node:crypto';
import type OpenAI from 'openai';
import type {StopReason, StreamEvent, Usage} from '../../core/contract/model.ts';
import {createStreamError} from '../model-errors.ts';
import {REASONING_SEAL} from './request.ts';

type Chunk = OpenAI.ChatCompletionChunk;
type Delta = Partial<OpenAI.ChatCompletionChunk.Choice.Delta> & {
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
};
type CallDelta = NonNullable<Delta['tool_calls']>[number];

/** Milliseconds to wait for the usage, which arrives after the end of the reply. */
const USAGE_MS = 2_000;

/** The chunks of a reply. They return true at the end when the server marked it by `[DONE]`. */
type Chunks = AsyncIterator<Chunk, boolean, undefined>;

export async function* toReplyEvents(chunks: Chunks): AsyncGenerator<StreamEvent, void, undefined> {
  const reply = new ChatReply();
  for (;;) {
    const next = await (reply.hasEnded ? nextWithin(chunks, USAGE_MS) : chunks.next());
    if (!next || next.done) {
      yield* reply.end(next?.value === true);
      return;
    }
    yield* reply.add(next.value);
  }
}

/**
 * Returns the next chunk, or undefined after an error or too long a silence. The reply is complete, so these do not
 * concern it.
 */
async function nextWithin(chunks: Chunks, ms: number): Promise<IteratorResult<Chunk, boolean> | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([chunks.next().catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Converts a completion that arrived as one JSON object to the chunk that a server would have streamed. */
export function toChunk(completion: OpenAI.ChatCompletion): Chunk {
  const {id, model, created, choices, usage} = completion;
  return {
    id,
    model,
    created,
    object: 'chat.completion.chunk',
    choices: (choices ?? []).map(({index, message, finish_reason}) => ({
      index,
      finish_reason,
      delta: {...message, tool_calls: message.tool_calls?.map((call, at) => ({...call, index: at}))} as Delta,
    })),
    ...(usage && {usage}),
  };
}

/** A call that is being streamed. */
interface OpenCall {
  readonly index: number | undefined;
  readonly id: string;
  readonly block: number;
}

class ChatReply {
  #hasStarted = false;
  #finish: string | null = null;
  #blocks = 0;
  /** The text or the reasoning that is being streamed. */
  #open: {readonly type: 'text' | 'thinking'; readonly block: number} | undefined;
  #calls: OpenCall[] = [];
  #refusal = '';
  #usage: Usage | undefined;

  get hasEnded(): boolean {
    return this.#finish !== null;
  }

  *add(chunk: Chunk): Generator<StreamEvent> {
    if (typeof chunk !== 'object' || chunk === null) throw createStreamError();
    if (!this.#hasStarted) yield this.#start(chunk);
    if (chunk.usage) this.#usage = toUsage(chunk.usage);
    const choice = chunk.choices?.[0];
    if (!choice) return;
    yield* this.#addDelta(choice.delta ?? {});
    if (choice.finish_reason) this.#finish = choice.finish_reason;
  }

  /**
   * @param isMarked true when the server marked the end. Some servers name no finish, and the mark of a reply with
   * content takes its place.
   * @throws ModelError of kind `stream` when the reply was cut off
   */
  *end(isMarked: boolean): Generator<StreamEvent> {
    if (!this.#hasStarted) throw createStreamError('the server sent an empty stream');
    const isWhole = this.#finish !== null || (isMarked && this.#blocks > 0);
    if (!isWhole) throw createStreamError('the stream ended in the middle of the reply');
    yield* this.#close();
    for (const {block} of this.#calls) yield {type: 'content_block_stop', index: block};
    const stop_reason = this.#getStop();
    const refusal =
      this.#refusal === '' ? null : {type: 'refusal' as const, category: null, explanation: this.#refusal};
    const usage = this.#usage ?? {};
    yield {
      type: 'message_delta',
      delta: {
        stop_reason,
        stop_sequence: null,
        stop_details: stop_reason === 'refusal' ? refusal : null,
        container: null,
      },
      usage: {...usage, server_tool_use: null},
    } as unknown as StreamEvent;
    yield {type: 'message_stop'};
  }

  #start({id, model}: Chunk): StreamEvent {
    this.#hasStarted = true;
    const message = {
      id: id || `chatcmpl-${randomUUID()}`,
      type: 'message',
      role: 'assistant',
      model: model ?? '',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: {input_tokens: 0, output_tokens: 0},
    };
    return {type: 'message_start', message} as unknown as StreamEvent;
  }

  *#addDelta(delta: Delta): Generator<StreamEvent> {
    const reasoning = delta.reasoning_content ?? delta.reasoning;
    if (reasoning) yield* this.#stream('thinking', {type: 'thinking_delta', thinking: reasoning} as const);
    if (typeof delta.content === 'string' && delta.content !== '') {
      yield* this.#stream('text', {type: 'text_delta', text: delta.content} as const);
    }
    if (delta.refusal) this.#refusal += delta.refusal;
    for (const call of delta.tool_calls ?? []) yield* this.#addCall(call);
  }

  *#stream(
    type: 'text' | 'thinking',
    delta: Extract<StreamEvent, {type: 'content_block_delta'}>['delta'],
  ): Generator<StreamEvent> {
    if (this.#open?.type !== type) {
      yield* this.#close();
      const block = this.#blocks++;
      this.#open = {type, block};
      const content_block = type === 'text' ? {type, text: '', citations: null} : {type, thinking: '', signature: ''};
      yield {type: 'content_block_start', index: block, content_block} as StreamEvent;
    }
    yield {type: 'content_block_delta', index: this.#open!.block, delta};
  }

  *#close(): Generator<StreamEvent> {
    if (!this.#open) return;
    const {type, block: index} = this.#open;
    this.#open = undefined;
    if (type === 'thinking') {
      const signature = `${REASONING_SEAL}${randomUUID()}`;
      yield {type: 'content_block_delta', index, delta: {type: 'signature_delta', signature}};
    }
    yield {type: 'content_block_stop', index};
  }

  *#addCall({index, id, function: called}: CallDelta): Generator<StreamEvent> {
    yield* this.#close();
    let call = this.#findCall(index, id, called?.name);
    if (!call) {
      call = {index, id: id || `call_${randomUUID().replaceAll('-', '')}`, block: this.#blocks++};
      this.#calls.push(call);
      const content_block = {type: 'tool_use', id: call.id, name: called?.name ?? '', input: {}};
      yield {type: 'content_block_start', index: call.block, content_block} as StreamEvent;
    }
    const json = called?.arguments;
    if (json) {
      // Some servers send the input as an object.
      const partial_json = typeof json === 'string' ? json : JSON.stringify(json);
      yield {type: 'content_block_delta', index: call.block, delta: {type: 'input_json_delta', partial_json}};
    }
  }

  /**
   * Finds the call that a part belongs to: the one with its index unless the id differs; without an index, the last
   * one; none for a part that has neither and names a function, because it begins a call.
   */
  #findCall(index: number | undefined, id: string | undefined, name: string | undefined): OpenCall | undefined {
    if ((index === undefined || index === null) && !id && name) return undefined;
    const found =
      index === undefined || index === null
        ? this.#calls.findLast((call) => !id || call.id === id)
        : this.#calls.findLast((call) => call.index === index);
    return found && id && found.id !== id ? undefined : found;
  }

  #getStop(): StopReason {
    if (this.#calls.length > 0) return this.#finish === 'length' ? 'max_tokens' : 'tool_use';
    if (this.#refusal !== '' || this.#finish === 'content_filter') return 'refusal';
    return this.#finish === 'length' ? 'max_tokens' : 'end_turn';
  }
}

function toUsage({prompt_tokens = 0, completion_tokens = 0, prompt_tokens_details}: OpenAI.CompletionUsage): Usage {
  const cached = Math.min(prompt_tokens_details?.cached_tokens ?? 0, prompt_tokens);
  return {
    input_tokens: prompt_tokens - cached,
    output_tokens: completion_tokens,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
  };
}
