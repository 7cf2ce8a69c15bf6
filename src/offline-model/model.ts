/** The built-in rule-based model. It needs no server. `decide.ts`, loaded at the first call, decides its answers. */
import {setImmediate as nextTick} from 'node:timers/promises';
import type {Model, ModelProgress, ModelReply, ModelRequest} from '../core/contract/model.ts';
import {getErrorMessage, ModelError} from '../core/util/errors.ts';

interface OfflineModelOptions {
  readonly maxOutputTokens: number;
  /** Context window from the settings, in tokens. */
  readonly contextWindow?: number | undefined;
}

/** Tokens. The rules need no limit, so the number is large. */
const CONTEXT_WINDOW = 1_000_000;
const COST = {cost_usd: 0};

export class OfflineModel implements Model {
  readonly name = 'offline';
  readonly offline = true;
  readonly local = false;
  readonly inputPrice = 0;
  readonly outputPrice = 0;
  readonly maxOutputTokens: number;
  readonly #contextWindow: number;

  constructor({maxOutputTokens, contextWindow = CONTEXT_WINDOW}: OfflineModelOptions) {
    this.maxOutputTokens = maxOutputTokens;
    this.#contextWindow = contextWindow;
  }

  async contextWindow(): Promise<number> {
    return this.#contextWindow;
  }

  /**
   * Answers from the request alone. Each stream event waits for the event loop, so that keys and timers are handled in
   * between.
   */
  async reply(request: ModelRequest, onProgress: (progress: ModelProgress) => void): Promise<ModelReply> {
    const {signal} = request;
    const {decide, createEvents} = await import('./decide.ts');
    await nextTick();
    signal.throwIfAborted();
    const {id, content, stopReason, usage} = attempt(() => decide(request));
    for (const event of createEvents({id, model: this.name, content, stopReason, usage})) {
      await nextTick();
      signal.throwIfAborted();
      onProgress({type: 'raw', event});
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
        onProgress({type: 'text', text: event.delta.text});
      } else if (event.type === 'message_start' || event.type === 'message_delta') {
        const {output_tokens = 0} = event.type === 'message_start' ? event.message.usage : event.usage;
        onProgress({type: 'usage', usage: {...usage, output_tokens, ...COST}, model: this.name, isCounted: true});
      }
    }
    const garbledInputs = new Map<string, string>();
    return {id, content, stopReason, usage: {...usage, ...COST}, model: this.name, asked: this.name, garbledInputs};
  }
}

/** @throws ModelError that is not retried, because the same request would fail in the same way */
function attempt<T>(decide: () => T): T {
  try {
    return decide();
  } catch (error) {
    throw new ModelError('bad_request', `the offline model failed: ${getErrorMessage(error)}`, {retryable: false});
  }
}
