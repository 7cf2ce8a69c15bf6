/**
 * A session in which no person can type more. Its one prompt is done when all background runs and all turns that their
 * announcements began have ended. Its limits cover all of them together.
 */
import type {Limits, RunResult} from '../contract/results.ts';
import type {SubagentManager} from '../subagent-manager.ts';
import {formatTimeout, getTotals, joinTurns} from '../turn/run-ending.ts';
import {inBackground, neverRejects} from '../util/background.ts';

export class UnattendedSession {
  /** Result of all turns so far. */
  #total: RunResult | undefined;
  #timedOut = false;
  readonly #released = Promise.withResolvers<void>();
  #isReleased = false;
  /** True when the prompt did not wait for all runs. */
  #hasLeft = false;

  constructor(
    private readonly manager: SubagentManager,
    private readonly limits: Limits,
  ) {}

  /** After a failed turn or a limit, no turn begins by itself: later announcements wait for the next prompt. */
  get mayWake(): boolean {
    if (this.#timedOut || this.#hasLeft) return false;
    return this.#total === undefined || (this.#total.outcome === 'success' && this.#turnsLeft > 0);
  }

  get limitsLeft(): Limits {
    return {maxTurns: Math.max(1, this.#turnsLeft), timeoutSeconds: this.limits.timeoutSeconds};
  }

  turnEnded(result: RunResult): void {
    this.#total = this.#total ? joinTurns(this.#total, result) : result;
  }

  /** Ends the background runs, because the time of the prompt is used up. No further turn begins. */
  timeOut(): void {
    this.#timedOut = true;
    inBackground(this.manager.stopAll(), neverRejects);
  }

  /** Ends the wait for background runs, which go on. Turns at work are still waited for. */
  release(): void {
    this.#isReleased = true;
    this.#released.resolve();
  }

  /**
   * Waits for the end of everything, or until `release`.
   * @param getLastTurn returns the end of the turn that began last
   * @returns the answer of the last turn with the sums of all turns; undefined when there was no turn
   */
  async settle(getLastTurn: () => Promise<RunResult> | undefined): Promise<RunResult | undefined> {
    for (let turn = getLastTurn(); ; turn = getLastTurn()) {
      await turn;
      // The announcement of a run's end begins the next turn at once.
      if (getLastTurn() !== turn) continue;
      if (this.manager.count() === 0) break;
      if (this.#isReleased) {
        this.#hasLeft = true;
        break;
      }
      await Promise.race([this.manager.nextEnd(), this.#released.promise]);
    }
    const total = this.#total;
    if (!total || !this.#timedOut || total.outcome === 'timeout') return total;
    return {...getTotals(total), outcome: 'timeout', timeout: formatTimeout(this.limits.timeoutSeconds)};
  }

  get #turnsLeft(): number {
    return this.limits.maxTurns - (this.#total?.turns ?? 0);
  }
}
