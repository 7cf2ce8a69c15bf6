/**
 * A session in which no person can type more. Its one prompt is done when all background runs and all turns that their
 * announcements began have ended. Its limits cover all of them together.
 */
import type {Limits, RunResult} from '../contract/results.ts';
import type {SubagentManager} from '../subagent-manager.ts';
import {formatTimeout, getTotals, joinTurns, RunAborted} from '../turn/run-ending.ts';
import {systemClock} from '../turn/run-limits.ts';
import {inBackground, neverRejects} from '../util/background.ts';

export class UnattendedSession {
  readonly #startedAt = systemClock.now();
  /** Result of all turns so far. */
  #total: RunResult | undefined;
  #timedOut = false;

  constructor(
    private readonly manager: SubagentManager,
    private readonly limits: Limits,
  ) {}

  /** After a failed turn or a limit, no turn begins by itself: later announcements wait for `--continue`. */
  get mayWake(): boolean {
    if (this.#timedOut) return false;
    return this.#total === undefined || (this.#total.outcome === 'success' && this.#turnsLeft > 0);
  }

  get limitsLeft(): Limits {
    return {maxTurns: Math.max(1, this.#turnsLeft), timeoutSeconds: this.limits.timeoutSeconds};
  }

  turnEnded(result: RunResult): void {
    this.#total = this.#total ? joinTurns(this.#total, result) : result;
  }

  /**
   * Waits for the end of everything. At the time limit it ends everything.
   * @param getLastTurn returns the end of the turn that began last
   * @param abortTurn ends the current turn, if there is one
   * @returns the answer of the last turn with the sums of all turns; undefined when there was no turn
   */
  async settle(
    getLastTurn: () => Promise<RunResult> | undefined,
    abortTurn: (why: RunAborted) => void,
  ): Promise<RunResult | undefined> {
    const cancelTimer = this.#startTimer(abortTurn);
    try {
      for (let turn = getLastTurn(); ; turn = getLastTurn()) {
        await turn;
        // The announcement of a run's end begins the next turn at once.
        if (getLastTurn() !== turn) continue;
        if (this.manager.count() === 0) break;
        await this.manager.nextEnd();
      }
    } finally {
      cancelTimer();
    }
    const total = this.#total;
    if (!total || !this.#timedOut || total.outcome === 'timeout') return total;
    return {...getTotals(total), outcome: 'timeout', timeout: formatTimeout(this.limits.timeoutSeconds)};
  }

  /** @returns a function that stops the timer */
  #startTimer(abortTurn: (why: RunAborted) => void): () => void {
    const {timeoutSeconds} = this.limits;
    if (timeoutSeconds === 0) return () => undefined;
    const leftMs = timeoutSeconds * 1000 - (systemClock.now() - this.#startedAt);
    const end = () => {
      this.#timedOut = true;
      abortTurn(new RunAborted('timeout', formatTimeout(timeoutSeconds)));
      inBackground(this.manager.stopAll(), neverRejects);
    };
    return systemClock.setTimer(end, Math.max(0, leftMs));
  }

  get #turnsLeft(): number {
    return this.limits.maxTurns - (this.#total?.turns ?? 0);
  }
}
