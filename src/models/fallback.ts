/**
 * Defines a chain of models. When one cannot answer, the next one is asked with its own key. A model that failed is
 * skipped for a while by all agents of the session, so that their calls do not all wait for it again.
 */
import type {Model, ModelProgress, ModelReply, ModelRequest} from '../core/contract/model.ts';
import type {Clock} from '../core/contract/results.ts';
import {ModelError, type ModelErrorKind} from '../core/util/errors.ts';

/** A model whose retries can be limited for a single call. */
interface WaitingModel extends Model {
  reply(
    request: ModelRequest,
    onProgress: (progress: ModelProgress) => void,
    maxWaitSeconds?: number,
  ): Promise<ModelReply>;
}

/** Share of the time for failed calls that one model may use when another model can answer, too. */
const SHARE = 0.25;
const FIRST_PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 10 * 60_000;

/**
 * Errors after which no other model is asked: it would refuse for the same reason, or cost money that nobody meant to
 * spend.
 */
const FINAL: ReadonlySet<ModelErrorKind> = new Set(['billing', 'bad_request']);

/** Errors that do not end by themselves, because a key or a name must be changed. */
const LASTING: ReadonlySet<ModelErrorKind> = new Set(['authentication', 'not_found']);

interface Failure {
  readonly kind: ModelErrorKind;
  readonly until: number;
  readonly pauseMs: number;
}

/** Stores which models failed lately. A session has one. */
export class Circuits {
  readonly #failed = new Map<string, Failure>();

  constructor(private readonly clock: Clock) {}

  /** Tells whether the model failed lately and must not be asked yet. */
  isOpen(key: string): boolean {
    return this.failure(key) !== undefined;
  }

  /** Returns how the model failed, while it must not be asked. */
  failure(key: string): ModelErrorKind | undefined {
    const failed = this.#failed.get(key);
    return failed && this.clock.now() < failed.until ? failed.kind : undefined;
  }

  fail(key: string, {kind, details: {retryAfterMs = 0}}: ModelError): void {
    const last = this.#failed.get(key)?.pauseMs;
    const first = LASTING.has(kind) ? MAX_PAUSE_MS : FIRST_PAUSE_MS;
    const pauseMs = last === undefined ? first : Math.min(2 * last, MAX_PAUSE_MS);
    this.#failed.set(key, {kind, until: this.clock.now() + Math.max(pauseMs, retryAfterMs), pauseMs});
  }

  succeed(key: string): void {
    this.#failed.delete(key);
  }
}

interface ChainOptions {
  readonly circuits: Circuits;
  /** Seconds for which failed calls are tried again in all. */
  readonly maxWaitSeconds: number;
}

export interface ChainLink {
  /** Name of the model and the key. An agent's own key and the provider's key make two links with the same model. */
  readonly key: string;
  readonly model: WaitingModel;
  /** Asked only when the link before it failed with this kind of error. */
  readonly onlyFor?: ModelErrorKind;
}

/** A model with others that answer when it cannot. Name, limits and thinking are those of the first model. */
export class FallbackModel implements Model {
  /** @param links at least two links */
  constructor(
    private readonly links: readonly ChainLink[],
    private readonly options: ChainOptions,
  ) {}

  get name(): string {
    return this.#first.name;
  }

  get offline(): boolean {
    return this.#first.offline;
  }

  get local(): boolean {
    return this.#first.local;
  }

  get source(): Model['source'] {
    return this.#first.source;
  }

  get thinking(): Model['thinking'] {
    return this.#first.thinking;
  }

  get maxOutputTokens(): number {
    return this.#first.maxOutputTokens;
  }

  /** The highest price, because any of the models may answer. */
  get outputPrice(): number | undefined {
    const prices = this.links.map(({model}) => model.outputPrice);
    return prices.every((price) => price !== undefined) ? Math.max(...prices) : undefined;
  }

  get unpriced(): string | undefined {
    return this.links.find(({model}) => model.outputPrice === undefined)?.model.name;
  }

  contextWindow(mayAsk: boolean): Promise<number | undefined> {
    return this.#first.contextWindow(mayAsk);
  }

  async reply(request: ModelRequest, onProgress: (progress: ModelProgress) => void): Promise<ModelReply> {
    const {circuits, maxWaitSeconds} = this.options;
    let at = this.#findStart();
    if (at > 0) onProgress(createProgress(this.#first, this.links[at]!.model, 'it failed a short while ago'));
    let leftSeconds = maxWaitSeconds;
    for (;;) {
      const {key, model} = this.links[at]!;
      const isLast = this.#findNext(at) === undefined;
      const waitSeconds = isLast ? leftSeconds : maxWaitSeconds * SHARE;
      try {
        const reply = await model.reply(request, onProgress, waitSeconds);
        circuits.succeed(key);
        return reply;
      } catch (error) {
        request.signal.throwIfAborted();
        if (!(error instanceof ModelError) || FINAL.has(error.kind)) throw error;
        circuits.fail(key, error);
        const next = this.#findNext(at, error.kind);
        if (next === undefined) throw error;
        onProgress(createProgress(model, this.links[next]!.model, describe(error)));
        leftSeconds = Math.max(leftSeconds - waitSeconds, maxWaitSeconds * SHARE);
        at = next;
      }
    }
  }

  get #first(): WaitingModel {
    return this.links[0]!.model;
  }

  /** Finds the link to begin with. When all of them failed lately, the first one is asked again. */
  #findStart(): number {
    const {circuits} = this.options;
    const at = this.links.findIndex(({key, onlyFor}) => onlyFor === undefined && !circuits.isOpen(key));
    const start = circuits.failure(this.links[0]!.key);
    const standIn = this.links.findIndex(({onlyFor}) => onlyFor !== undefined && onlyFor === start);
    return standIn > 0 ? standIn : Math.max(0, at);
  }

  /** Finds the next link after one that failed with this kind of error. */
  #findNext(at: number, kind?: ModelErrorKind): number | undefined {
    const {circuits} = this.options;
    const found = this.links.findIndex(
      ({key, onlyFor}, index) => index > at && (onlyFor === undefined || onlyFor === kind) && !circuits.isOpen(key),
    );
    return found < 0 ? undefined : found;
  }
}

/** Reports the change of the model. When only the key changes, the text says so. */
function createProgress(from: Model, to: Model, reason: string): ModelProgress {
  const name = to.name === from.name ? `${to.name} with the main key` : to.name;
  return {type: 'retry', waitMs: 0, reason, attempt: 1, fallback: {from: from.name, to: name}};
}

function describe({message, details: {status}}: ModelError): string {
  return status === undefined ? message : String(status);
}
