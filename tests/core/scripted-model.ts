/** A fake model that gives the replies of a script. It is the only fake part of most tests of core. */

import type {
  AssistantBlock,
  Model,
  ModelProgress,
  ModelReply,
  ModelRequest,
  StopReason,
} from '../../src/core/contract/model.ts';
import {ModelError} from '../../src/core/util/errors.ts';
import {NO_USAGE} from '../../src/core/util/messages.ts';

export type ScriptedReply =
  | {readonly content: readonly AssistantBlock[]; readonly stop?: StopReason; readonly garbled?: Record<string, string>}
  /** Streams the text, then fails. `used`: input tokens of the failed attempt. */
  | {readonly fail: ModelError; readonly partial?: string; readonly used?: number}
  /** Streams the text, then waits for the abort. */
  | {readonly hang: true; readonly partial?: string; readonly used?: number};

export function text(content: string): AssistantBlock {
  return {type: 'text', text: content, citations: null};
}

export function call(name: string, input: unknown, id = `toolu_${name}`): AssistantBlock {
  return {type: 'tool_use', id, name, input, caller: {type: 'direct'}};
}

export function say(answer: string): ScriptedReply {
  return {content: [text(answer)]};
}

export function calls(...blocks: AssistantBlock[]): ScriptedReply {
  return {content: blocks, stop: 'tool_use'};
}

export class ScriptedModel implements Model {
  readonly name = 'scripted';
  readonly offline = false;
  readonly local: boolean = false;
  readonly maxOutputTokens = 16_384;
  /** The requests so far, with copies of their messages. */
  readonly requests: ModelRequest[] = [];
  readonly #waiting: {readonly count: number; readonly resolve: () => void}[] = [];

  constructor(
    private readonly script: readonly ScriptedReply[] | ((request: ModelRequest, index: number) => ScriptedReply),
    /** Tokens of its context window. */
    private readonly window = 200_000,
  ) {}

  /** Waits until so many requests have come. A reply that hangs has streamed its text by then. */
  async asked(count = 1): Promise<void> {
    if (this.requests.length >= count) return;
    const {promise, resolve} = Promise.withResolvers<void>();
    this.#waiting.push({count, resolve});
    await promise;
  }

  async contextWindow(): Promise<number | undefined> {
    return this.window;
  }

  async reply(request: ModelRequest, onProgress: (progress: ModelProgress) => void): Promise<ModelReply> {
    request.signal.throwIfAborted();
    const index = this.requests.length;
    this.requests.push({...request, messages: structuredClone(request.messages) as ModelRequest['messages']});
    for (const {count, resolve} of this.#waiting) if (this.requests.length >= count) resolve();
    const reply = typeof this.script === 'function' ? this.script(request, index) : this.script[index];
    if (!reply) throw new ModelError('server', `the script has no reply ${index}`, {retryable: false});
    if ('fail' in reply || 'hang' in reply) {
      const usage = {...NO_USAGE, input_tokens: reply.used ?? 0};
      if (reply.used) onProgress({type: 'usage', usage, model: this.name, isCounted: true});
      if (reply.partial) onProgress({type: 'text', text: reply.partial});
      if ('fail' in reply) throw reply.fail;
      await new Promise((_, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason), {once: true});
      });
    }
    if (!('content' in reply)) throw new Error('unreachable');
    for (const block of reply.content) if (block.type === 'text') onProgress({type: 'text', text: block.text});
    return {
      id: `msg_${index}`,
      content: reply.content,
      stopReason: reply.stop ?? 'end_turn',
      usage: {input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: 0},
      model: this.name,
      garbledInputs: new Map(Object.entries(reply.garbled ?? {})),
    };
  }
}
