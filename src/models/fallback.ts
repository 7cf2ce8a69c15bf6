/**
 * Defines a chain of models. When one cannot answer, the next one is asked with its own key. A model that failed is
 * skipped for a while by all agents of the session, so that their calls do not all wait for it again.
 */
import type {Model, ModelProgress, ModelReply, ModelRequest} from '../core/contract/model.ts';
import type {Clock} from '../core/contract/results.ts';
import {ModelError, type ModelErrorKind} from '../core/util/errors.ts';
import {formatReason} from './retry.ts';
import type {ServerModel} from './server-model.ts';

type OnProgress = (progress: ModelProgress) => void;

/** Share of the time for failed calls that one model may use when another model can answer, too. */
const SHARE = 0.25;
const FIRST_PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 10 * 60_000;

/**
 * Errors after which no other model is asked: it would refuse for the same reason, or cost money although the account of
 * the chosen model is empty.
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
  /** Seconds in total for which failed calls are tried again. */
  readonly maxWaitSeconds: number;
}

export interface ChainLink {
  /** Name of the model and the key. An agent's own key and the provider's key make two links with the same model. */
  readonly key: string;
  readonly model: ServerModel;
  /** Asked only when the link before it failed with this kind of error. */
  readonly onlyFor?: ModelErrorKind;
}

/**
 * Combines models: each one answers when those before it cannot. Name, limits and thinking are those of the first model.
 * @param links at least two links
 */
export function createFallbackModel(links: readonly ChainLink[], options: ChainOptions): Model {
  const first = links[0]!.model;
  /** The highest price, because any of the models may answer. */
  const getHighest = (key: 'inputPrice' | 'outputPrice') => {
    const prices = links.map(({model}) => model[key]);
    return prices.every((price) => price !== undefined) ? Math.max(...prices) : undefined;
  };
  return {
    ...first,
    inputPrice: getHighest('inputPrice'),
    outputPrice: getHighest('outputPrice'),
    unpriced: links.find(({model}) => model.outputPrice === undefined)?.model.name,
    reply: (request, onProgress) => askInTurn(links, options, request, onProgress),
  };
}

async function askInTurn(
  links: readonly ChainLink[],
  {circuits, maxWaitSeconds}: ChainOptions,
  request: ModelRequest,
  onProgress: OnProgress,
): Promise<ModelReply> {
  /** Finds the first link from this one on that can be asked after an error of this kind. */
  const findLink = (from: number, kind?: ModelErrorKind) => {
    const isUsable = ({key, onlyFor}: ChainLink) => (onlyFor ?? kind) === kind && !circuits.failure(key);
    const found = links.findIndex((link, index) => index >= from && isUsable(link));
    return found < 0 ? undefined : found;
  };
  const first = links[0]!;
  // When all of them failed lately, the first one is asked again.
  let at = findLink(0, circuits.failure(first.key)) ?? 0;
  if (at > 0) onProgress(createProgress(first.model, links[at]!.model, 'it failed a short while ago'));
  let leftSeconds = maxWaitSeconds;
  for (;;) {
    const {key, model} = links[at]!;
    const isLast = findLink(at + 1) === undefined;
    const waitSeconds = isLast ? leftSeconds : maxWaitSeconds * SHARE;
    try {
      const reply = await model.reply(request, onProgress, waitSeconds);
      circuits.succeed(key);
      return reply;
    } catch (error) {
      request.signal.throwIfAborted();
      if (!(error instanceof ModelError) || FINAL.has(error.kind)) throw error;
      circuits.fail(key, error);
      const next = findLink(at + 1, error.kind);
      if (next === undefined) throw error;
      onProgress(createProgress(model, links[next]!.model, formatReason(error)));
      leftSeconds = Math.max(leftSeconds - waitSeconds, maxWaitSeconds * SHARE);
      at = next;
    }
  }
}

/** Reports the change of the model. When only the key changes, the text says so. */
function createProgress(from: Model, to: Model, reason: string): ModelProgress {
  const name = to.name === from.name ? `${to.name} with the main key` : to.name;
  return {type: 'retry', waitMs: 0, reason, attempt: 1, fallback: {from: from.name, to: name}};
}
