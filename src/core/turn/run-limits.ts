/** The limits of a run: its wall-clock time, and the limit that is near or reached. `budget.ts` counts tokens and money. */

import type {Clock, Limits} from '../contract/results.ts';
import type {Budget} from '../contract/tool.ts';
import {formatCount} from '../util/text.ts';
import {REPORT_AT} from './budget.ts';
import {formatTimeout} from './run-ending.ts';
import type {Ending} from './tally.ts';

/** Limits of the main agent. The limits of subagents are in `limit-profiles.ts`. */
export const MAIN_LIMITS: Limits = {maxTurns: Number.POSITIVE_INFINITY, timeoutSeconds: 0};

/** Longest time of a Node timer, in milliseconds: about 24 days. Node fires a timer with a longer time at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  setTimer(callback, ms, idle = false) {
    // No process lives that long.
    if (ms > MAX_TIMER_MS) return () => undefined;
    const timer = setTimeout(callback, ms);
    if (idle) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Counts the wall-clock time of a run, except while it is paused, and calls `onEnd` once when the time is used up. */
export class Deadline {
  #usedMs = 0;
  #runningSince: number | undefined;
  #cancel: (() => void) | undefined;
  #pauses = 0;

  /** Starts to count. @param limitMs milliseconds; 0 means no limit */
  constructor(
    private readonly clock: Clock,
    private readonly limitMs: number,
    private readonly onEnd: () => void,
  ) {
    this.#run();
  }

  get usedMs(): number {
    return this.#usedMs + (this.#runningSince === undefined ? 0 : this.clock.now() - this.#runningSince);
  }

  /** True when so little time is left that the run must report. */
  get isReportDue(): boolean {
    return this.limitMs > 0 && this.usedMs >= REPORT_AT * this.limitMs;
  }

  /** Stops counting until `resume` was called as often as `pause`. */
  pause(): void {
    this.#pauses += 1;
    this.#halt();
  }

  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses === 0) this.#run();
  }

  /** Ends the counting. It cannot begin again. */
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

interface LimitedRun {
  readonly limits: Limits;
  readonly budget: Budget;
  readonly deadline: Deadline;
}

/** Finds the limit that is so near that this turn must be the report. It is never found in a run's first turn. */
export function findNearLimit(run: LimitedRun, turn: number): Ending | undefined {
  if (turn === 1) return undefined;
  if (turn >= run.limits.maxTurns) return endAtTurns(run);
  const {reportDue} = run.budget;
  if (reportDue !== undefined) return {outcome: 'limit', limit: reportDue};
  return run.deadline.isReportDue ? {outcome: 'timeout', timeout: formatTimeout(run.limits.timeoutSeconds)} : undefined;
}

/** Finds the limit that allows no further model call, so that the tools of this turn need not run. */
export function findReachedLimit(run: LimitedRun, turns: number): Ending | undefined {
  if (turns >= run.limits.maxTurns) return endAtTurns(run);
  return findUsedUp(run);
}

function endAtTurns({limits}: LimitedRun): Ending {
  return {outcome: 'limit', limit: formatCount(limits.maxTurns, 'turn')};
}

export function findUsedUp({budget: {usedUp}}: LimitedRun): Ending | undefined {
  return usedUp === undefined ? undefined : {outcome: 'limit', limit: usedUp};
}
