/**
 * Pauses all calls of an account while it is at its limit. When the limit ends one call goes out, and the others follow
 * when it was answered.
 */
import type {Model, ModelProgress} from '../core/contract/model.ts';
import type {Clock} from '../core/contract/results.ts';
import {untilAborted} from '../core/util/background.ts';
import {ModelError} from '../core/util/errors.ts';
import {formatPause} from '../core/util/text.ts';
import {waitAwake} from './awake-time.ts';

interface PauseOptions {
  readonly clock: Clock;
  /** Seconds that a call may wait for the end of a limit; infinite where a person can stop it. */
  readonly pauseSeconds: number;
  /** A shorter wait that the server asks for is a retry of the call alone. */
  readonly maxWaitSeconds: number;
}

type OnProgress = (progress: ModelProgress) => void;

interface Pause {
  /** Milliseconds since the epoch. */
  until: number;
  /** Resolves when the call that tries first has ended. Absent while none tries. */
  probe?: Promise<void> | undefined;
}

export class AccountPauses {
  readonly #paused = new Map<string, Pause>();
  readonly #guarded = new WeakMap<Model, Model>();

  constructor(private readonly options: PauseOptions) {}

  /** Returns the model with calls that wait while its account is paused. */
  guard<T extends Model>(model: T): T {
    const known = this.#guarded.get(model) as T | undefined;
    if (known) return known;
    const {source, reply} = model;
    const provider = source?.provider ?? '';
    const account = `${provider} ${source?.keyEnv}`;
    const guarded: T = {
      ...model,
      reply: (...[request, onProgress, ...more]: Parameters<T['reply']>) =>
        this.#call(account, provider, request.signal, onProgress, () =>
          reply.call(model, request, onProgress, ...more),
        ),
      pauseUntil: (until: number) => this.#pause(account, until),
    };
    this.#guarded.set(model, guarded);
    return guarded;
  }

  #pause(account: string, until: number): void {
    const pause = this.#paused.get(account);
    if (pause) pause.until = Math.max(pause.until, until);
    else this.#paused.set(account, {until});
  }

  async #call<T>(
    account: string,
    provider: string,
    signal: AbortSignal,
    onProgress: OnProgress,
    call: () => Promise<T>,
  ): Promise<T> {
    for (;;) {
      const pause = await this.#pass(account, provider, signal, onProgress);
      const tried = Promise.withResolvers<void>();
      if (pause) pause.probe = tried.promise;
      try {
        const reply = await call();
        if (pause && this.#paused.get(account) === pause) this.#paused.delete(account);
        return reply;
      } catch (error) {
        const until = this.#findEnd(error);
        if (until === undefined) throw error;
        this.#pause(account, until);
        this.#assertMayWait(provider, until, error);
      } finally {
        if (pause) pause.probe = undefined;
        tried.resolve();
      }
    }
  }

  /** Waits while the account is paused. @returns the pause when this call is the one that tries first */
  async #pass(
    account: string,
    provider: string,
    signal: AbortSignal,
    onProgress: OnProgress,
  ): Promise<Pause | undefined> {
    const {clock} = this.options;
    let shown = 0;
    for (;;) {
      signal.throwIfAborted();
      const pause = this.#paused.get(account);
      if (!pause) return undefined;
      const waitMs = pause.until - clock.wallNow();
      if (waitMs <= 0 && !pause.probe) return pause;
      this.#assertMayWait(provider, pause.until);
      if (shown !== pause.until) {
        shown = pause.until;
        const reason = formatPause(provider, pause.until);
        onProgress({type: 'retry', waitMs: Math.max(0, waitMs), reason, attempt: 1, pause: {provider, until: shown}});
      }
      await (waitMs > 0 ? waitAwake(clock, waitMs, signal) : untilAborted(pause.probe!, signal));
    }
  }

  /** Returns when the limit of the account ends, in milliseconds since the epoch. */
  #findEnd(error: unknown): number | undefined {
    if (!(error instanceof ModelError) || !['rate_limit', 'billing'].includes(error.kind)) return undefined;
    const {limitEndsAt, retryAfterMs = 0} = error.details;
    if (limitEndsAt !== undefined) return limitEndsAt;
    const {clock, maxWaitSeconds} = this.options;
    return retryAfterMs > maxWaitSeconds * 1000 ? clock.wallNow() + retryAfterMs : undefined;
  }

  /** @throws ModelError when the limit ends too late */
  #assertMayWait(provider: string, until: number, cause?: unknown): void {
    const {clock, pauseSeconds} = this.options;
    if (until - clock.wallNow() <= pauseSeconds * 1000) return;
    const why = cause instanceof ModelError ? `${cause.message}; ` : '';
    const text = `${why}the limit of ${provider} ends at ${new Date(until).toLocaleString()}; retry.pauseSeconds waits for it`;
    throw new ModelError('rate_limit', text, {retryable: false}, {cause});
  }
}
