/**
 * Archives ended runs by renaming their transcripts; it erases none. With `cleanup: delete` in the task this happens
 * right after the announcement, otherwise some time after the end. Runs that are due while mini-cc does not run are
 * archived at its next start.
 */

import type {Emitters} from '../contract/events.ts';
import type {Clock} from '../contract/results.ts';
import type {RunRecord, RunStore} from '../contract/runs.ts';
import {getErrorMessage} from '../util/errors.ts';
import type {RunRegistry} from './registry.ts';
import {hasEnded} from './run-record.ts';

interface ArchiveDeps {
  readonly clock: Clock;
  /** Milliseconds between the end and the archiving; 0 means never. */
  readonly afterMs: number;
  readonly store: RunStore;
  readonly registry: RunRegistry;
  readonly bus: Emitters;
  readonly mainAgentId: string;
}

export class RunArchive {
  readonly #timers = new Map<string, () => void>();

  constructor(private readonly deps: ArchiveDeps) {}

  /** Plans the archiving of a run that has ended. @param agoMs milliseconds since its end */
  ended(runId: string, agoMs = 0): void {
    this.cancel(runId);
    const due = this.#dueIn(agoMs);
    if (due === undefined) return;
    this.#timers.set(
      runId,
      this.deps.clock.setTimer(() => this.archive(runId), due, true),
    );
  }

  /** Cancels the plan, because the run continues or is already archived. */
  cancel(runId: string): void {
    this.#timers.get(runId)?.();
    this.#timers.delete(runId);
  }

  /**
   * Returns the time when the run will be archived. Undefined for a run that is at work, is archived, or never will be.
   */
  getTime(record: RunRecord): Date | undefined {
    if (!hasEnded(record) || record.state === 'removed') return undefined;
    const due = this.#dueIn(Date.now() - record.endedAt!);
    return due === undefined ? undefined : new Date(Date.now() + due);
  }

  /** Archives the run now, unless it is at work. */
  archive(runId: string): void {
    const {store, registry, bus, mainAgentId} = this.deps;
    const record = registry.get(runId);
    if (!record || record.state === 'removed' || !hasEnded(record)) return;
    this.cancel(runId);
    try {
      registry.update(runId, {transcript: store.archive(runId), state: 'removed'});
      bus.emitFor(runId, mainAgentId)({type: 'run_state', state: 'removed'});
    } catch (error) {
      // The transcript stays at its place, and the next start tries again.
      const text = `could not archive run ${runId}: ${getErrorMessage(error)}`;
      bus.emitFor(mainAgentId)({type: 'notice', level: 'warning', text});
    }
  }

  close(): void {
    for (const runId of [...this.#timers.keys()]) this.cancel(runId);
  }

  #dueIn(agoMs: number): number | undefined {
    return this.deps.afterMs > 0 ? Math.max(0, this.deps.afterMs - agoMs) : undefined;
  }
}
