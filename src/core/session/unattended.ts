/**
 * What a session does when no person types more: its one prompt is done when the background runs and the turns that
 * their announcements began have ended. Its limits cover all of that together.
 */
import type {Limits} from '../contract/limits.ts';
import type {RunResult} from '../contract/run-result.ts';
import type {SubagentManager} from '../subagent-manager.ts';
import {MAIN_LIMITS, systemClock} from '../turn/deadline.ts';
import {CutOff, joinTurns, timeoutWords} from '../turn/run-ending.ts';

export class UnattendedSession {
  readonly #startedAt = systemClock.now();
  #total: RunResult | undefined;
  #timedOut = false;

  constructor(
    private readonly manager: SubagentManager,
    private readonly limits: Limits = MAIN_LIMITS,
  ) {}

  /** A turn that failed, or a limit, is the last one: what is announced later waits for `--continue`. */
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
   * @param lastTurn the end of the turn that was begun last.
   * @param abortTurn ends the turn under way, if there is one.
   * @returns the last turn's answer, with the sums of all turns; undefined when there was none.
   */
  async settle(
    lastTurn: () => Promise<RunResult> | undefined,
    abortTurn: (why: CutOff) => void,
  ): Promise<RunResult | undefined> {
    const {timeoutSeconds} = this.limits;
    const leftMs = timeoutSeconds * 1000 - (systemClock.now() - this.#startedAt);
    const cancel =
      timeoutSeconds === 0
        ? () => undefined
        : systemClock.setTimer(
            () => {
              this.#timedOut = true;
              abortTurn(new CutOff('timeout', timeoutSeconds));
              void this.manager.stopAll();
            },
            Math.max(0, leftMs),
          );
    try {
      for (let turn = lastTurn(); ; turn = lastTurn()) {
        await turn;
        // Each end of a run that is announced begins the next turn at once.
        if (lastTurn() !== turn) continue;
        if (this.manager.count() === 0) break;
        await this.manager.nextEnd();
      }
    } finally {
      cancel();
    }
    const total = this.#total;
    if (!total || !this.#timedOut || total.outcome === 'timeout') return total;
    const {text, usage, usageByModel, turns, tools, durationMs, modelMs} = total;
    const totals = {text, usage, usageByModel, turns, tools, durationMs, modelMs};
    return {outcome: 'timeout', timeout: timeoutWords(timeoutSeconds), ...totals};
  }

  get #turnsLeft(): number {
    return this.limits.maxTurns - (this.#total?.turns ?? 0);
  }
}
