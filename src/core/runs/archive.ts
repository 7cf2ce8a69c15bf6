/**
 * Archives ended runs: it renames their transcripts and erases none. Where the task says `cleanup: delete`, that happens
 * right after the announcement, else some time after the end. What is due while mini-cc does not run is done at its next start.
 */

import type {Emitters} from '../contract/events.ts';
import type {Clock} from '../contract/results.ts';
import type {RunRecord, RunStore} from '../contract/runs.ts';
import {getErrorMessage} from '../util/errors.ts';
import type {RunRegistry} from './registry.ts';
import {hasEnded} from './run-record.ts';

interface ArchiveDeps {
  readonly clock: Clock;
  /** Milliseconds after the end; 0 = never. */
  readonly afterMs: number;
  readonly store: RunStore;
  readonly registry: RunRegistry;
  readonly bus: Emitters;
  readonly mainAgentId: string;
}

export class RunArchive {
  readonly #timers = new Map<string, () => void>();

  constructor(private readonly deps: ArchiveDeps) {}

  /** The run has ended, that many milliseconds ago: plans its archiving. */
  ended(runId: string, agoMs = 0): void {
    this.cancel(runId);
    const due = this.#dueIn(agoMs);
    if (due === undefined) return;
    this.#timers.set(
      runId,
      this.deps.clock.setTimer(() => this.archive(runId), due, true),
    );
  }

  /** The run continues, or is archived already: takes the plan back. */
  cancel(runId: string): void {
    this.#timers.get(runId)?.();
    this.#timers.delete(runId);
  }

  /** When the run will be archived. Undefined while it is at work, once it is archived, and when it never will be. */
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
      // The transcript stays where it is; the next start tries again.
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
