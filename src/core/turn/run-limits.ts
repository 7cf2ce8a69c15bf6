/** What ends a run that does not end by itself. */
import type {Clock, Limits} from '../contract/limits.ts';
import type {Usage} from '../contract/messages.ts';
import type {SetAside, TokenBudget} from '../contract/tool.ts';

/** Of the main agent; those of subagents are in `limit-profiles.ts`. */
export const MAIN_LIMITS: Limits = {maxTurns: 400, timeoutSeconds: 0};

/** Share of a limit at which a run is told to report. */
const REPORT_AT = 0.9;

/** What a timer takes, 24 days; a longer one would fire at once. Milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  setTimer(callback, ms, idle = false) {
    // No process is expected to be there by then.
    if (ms > LONGEST_TIMER_MS) return () => undefined;
    const timer = setTimeout(callback, ms);
    if (idle) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Counts a run's wall time, stands still while a person is asked, and calls once when it is used up. */
export class Deadline {
  #usedMs = 0;
  #runningSince: number | undefined;
  #cancel: (() => void) | undefined;
  #pauses = 0;

  constructor(
    private readonly clock: Clock,
    private readonly limitMs: number,
    private readonly onEnd: () => void,
  ) {
    this.#run();
  }

  /** Milliseconds at work so far. */
  get usedMs(): number {
    return this.#usedMs + (this.#runningSince === undefined ? 0 : this.clock.now() - this.#runningSince);
  }

  get reportDue(): boolean {
    return this.limitMs > 0 && this.usedMs >= REPORT_AT * this.limitMs;
  }

  pause(): void {
    this.#pauses += 1;
    if (this.#pauses > 1) return;
    this.#halt();
  }

  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses === 0) this.#run();
  }

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

/** A run of N turns makes N calls; the last of several is the report. A run of one turn just answers. */
export function isReportingTurn(turn: number, limits: Limits): boolean {
  return turn >= limits.maxTurns && turn > 1;
}

class RunTokenBudget implements TokenBudget {
  #spent = 0;
  #setAside = 0;

  /** @param limit tokens; infinite without a limit. */
  constructor(readonly limit: number = Number.POSITIVE_INFINITY) {}

  get left(): number {
    return Math.max(0, this.limit - this.#spent - this.#setAside);
  }

  get isUsedUp(): boolean {
    return this.left <= 0;
  }

  get reportDue(): boolean {
    return this.#spent + this.#setAside >= REPORT_AT * this.limit;
  }

  spend(usage: Usage): void {
    this.#spent += countTokens(usage);
  }

  setAside(wanted?: number): SetAside {
    if (this.limit === Number.POSITIVE_INFINITY) return {budget: new RunTokenBudget(wanted), release: () => undefined};
    const share = Math.min(this.left, wanted ?? Math.floor(this.left / 2));
    const budget = new RunTokenBudget(share);
    this.#setAside += share;
    let held = true;
    return {
      budget,
      release: () => {
        if (!held) return;
        held = false;
        this.#setAside -= share;
        this.#spent += budget.#spent;
      },
    };
  }
}

export function countTokens(usage: Usage): number {
  return usage.input_tokens + usage.output_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
}

/** @param limit tokens; infinite without a limit. */
export function createTokenBudget(limit?: number): TokenBudget {
  return new RunTokenBudget(limit);
}
