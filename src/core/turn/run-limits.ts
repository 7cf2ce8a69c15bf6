/** The limits of a run while it is at work: wall time and tokens. Turns are counted by the agent loop itself. */

import type {Usage} from '../contract/model.ts';
import type {Clock, Limits} from '../contract/results.ts';
import type {BudgetShare, TokenBudget} from '../contract/tool.ts';

/** The limits of the main agent. Those of subagents are in `limit-profiles.ts`. */
export const MAIN_LIMITS: Limits = {maxTurns: Number.POSITIVE_INFINITY, timeoutSeconds: 0};

/** Share of a limit at which a run is asked to report. */
const REPORT_AT = 0.9;

/** The longest time of a Node timer, in milliseconds: about 24 days. A timer with a longer time fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  setTimer(callback, ms, idle = false) {
    // The process will not live that long.
    if (ms > MAX_TIMER_MS) return () => undefined;
    const timer = setTimeout(callback, ms);
    if (idle) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Counts the wall time of a run, except while it is paused, and calls `onEnd` once when the time is used up. */
export class Deadline {
  #usedMs = 0;
  #runningSince: number | undefined;
  #cancel: (() => void) | undefined;
  #pauses = 0;

  /** Starts to count. @param limitMs milliseconds; 0: no limit. */
  constructor(
    private readonly clock: Clock,
    private readonly limitMs: number,
    private readonly onEnd: () => void,
  ) {
    this.#run();
  }

  /** Milliseconds counted so far. */
  get usedMs(): number {
    return this.#usedMs + (this.#runningSince === undefined ? 0 : this.clock.now() - this.#runningSince);
  }

  /** So little time is left that the run must report now. */
  get isReportDue(): boolean {
    return this.limitMs > 0 && this.usedMs >= REPORT_AT * this.limitMs;
  }

  /** Counts again only after as many calls of `resume`. */
  pause(): void {
    this.#pauses += 1;
    if (this.#pauses > 1) return;
    this.#halt();
  }

  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses === 0) this.#run();
  }

  /** Ends the counting for good. */
  stop(): void {
    this.#halt();
    this.#pauses = Number.POSITIVE_INFINITY;
  }

  #run(): void {
    this.#runningSince = this.clock.now();
    if (this.limitMs > 0) this.#cancel = this.clock.setTimer(this.onEnd, Math.max(0, this.limitMs - this.#usedMs));
  }

  #halt(): void {
    this.#usedMs = this.usedMs;
    this.#runningSince = undefined;
    this.#cancel?.();
    this.#cancel = undefined;
  }
}

class RunTokenBudget implements TokenBudget {
  #spent = 0;
  #setAside = 0;

  constructor(readonly limit: number = Number.POSITIVE_INFINITY) {}

  get left(): number {
    return Math.max(0, this.limit - this.#spent - this.#setAside);
  }

  get isUsedUp(): boolean {
    return this.left <= 0;
  }

  get isReportDue(): boolean {
    return this.#spent + this.#setAside >= REPORT_AT * this.limit;
  }

  spend(usage: Usage): void {
    this.#spent += countTokens(usage);
  }

  setAside(wanted?: number): BudgetShare {
    if (this.limit === Number.POSITIVE_INFINITY) return {budget: new RunTokenBudget(wanted), release: () => undefined};
    const share = Math.min(this.left, wanted ?? Math.floor(this.left / 2));
    const budget = new RunTokenBudget(share);
    this.#setAside += share;
    let isReleased = false;
    return {
      budget,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.#setAside -= share;
        this.#spent += budget.#spent;
      },
    };
  }
}

/** All tokens of a model call: in and out, read from the cache and written to it. */
export function countTokens(usage: Usage): number {
  return usage.input_tokens + usage.output_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
}

/** @param limit tokens; infinite without a limit. */
export function createTokenBudget(limit?: number): TokenBudget {
  return new RunTokenBudget(limit);
}
