/** A run's record and what it writes to. */
import type {Outcome} from '../contract/run-result.ts';
import type {OpenRun, RunRecord, RunState} from '../contract/runs.ts';
import type {History} from '../turn/history.ts';

/** What a run writes to while it is at work. */
export interface RunPapers extends OpenRun {
  readonly history: History;
}

export function hasEnded(record: RunRecord): boolean {
  return record.endedAt !== undefined;
}

/** The state that follows from how it ended. */
export function stateAfter(outcome: Outcome): RunState {
  if (outcome === 'success' || outcome === 'limit') return 'idle';
  return outcome === 'stopped' ? 'stopped' : 'error';
}

/** What each run was about, by its id. */
export function descriptionsOf(records: readonly RunRecord[]): Readonly<Record<string, string>> {
  return Object.fromEntries(records.map(({runId, description}) => [runId, description]));
}
