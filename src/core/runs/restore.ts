/** Restores the runs of a session that continues, from disk. */

import type {RunRecord, RunStore, StoredRun} from '../contract/runs.ts';
import type {RunEnd} from '../contract/transcript.ts';
import {History} from '../turn/history.ts';
import {createAnnouncement, getAnnouncementId, isSilent, type PendingAnnouncement} from './announcement.ts';
import {formatAccepted} from './dispatch.ts';
import {formatReport} from './receipt.ts';
import {CUT_OFF_CALL, getEndState} from './run-record.ts';

export interface Restored {
  readonly records: readonly RunRecord[];
  /** Runs that continue at a worker, or whose end waits there. They have no end on this machine yet. */
  readonly left: readonly RunRecord[];
  /** Runs that a crash cut off while they waited for the end of a limit. They go on in the background. */
  readonly paused: readonly {readonly record: RunRecord; readonly until: number}[];
  /** Ends of background runs that are not in the main agent's history yet. */
  readonly pending: readonly PendingAnnouncement[];
}

const CUT_OFF = 'mini-cc ended before this run did';

/**
 * @param announced ids of the announcements in the main agent's history
 * @param resultTokens see `createAnnouncement`
 * @param isLeft whether a run without an end went to a worker
 */
export function restoreRuns(
  store: RunStore,
  announced: ReadonlySet<string>,
  resultTokens: number,
  isLeft: (runId: string) => boolean,
): Restored {
  const pending: PendingAnnouncement[] = [];
  const left: RunRecord[] = [];
  const paused: {readonly record: RunRecord; readonly until: number}[] = [];
  const records = store.list().flatMap((stored) => {
    if (!stored.end && isLeft(stored.runId)) {
      left.push(toLeftRecord(stored, store.sessionId));
      return [];
    }
    if (!stored.end && stored.pause && !stored.archived) {
      paused.push({record: toLeftRecord(stored, store.sessionId), until: stored.pause.until});
      return [];
    }

    const end = stored.end ?? closeCutOff(store, stored);
    const record = toRecord(stored, end, store.sessionId);
    const announcement = createAnnouncement(record, end.text ?? '', end.durationMs ?? 0, resultTokens);
    const isAnnounced = announced.has(getAnnouncementId(record.runId, record.round));
    if (announcement && !isAnnounced) {
      // The announcement starts no turn: the main agent reads it with the next prompt.
      pending.push({...announcement, message: {...announcement.message, startsTurn: false}});
    }
    if (!record.background) return record;
    const silent = isSilent(record, end.text ?? '');
    return {...record, announcement: silent ? 'skipped' : isAnnounced ? 'delivered' : 'waiting'} as const;
  });
  return {records, left, paused, pending};
}

/**
 * Finds the result of a call of Task or FanOut that a crash left open: what its runs came to is on disk.
 * @param runs all runs of the session
 * @param resultTokens see `formatReport`
 */
export function findResult(runs: readonly StoredRun[], callId: string, resultTokens: number) {
  const own = runs.filter((run) => run.callId === callId && !run.tool);
  const [first] = own;
  if (!first) return undefined;
  // The end of such a run is announced.
  const isBackground = ({end, background, pause}: StoredRun) => end?.background ?? (background || pause !== undefined);
  if (!first.scope && isBackground(first)) return {text: formatAccepted(first.agent, first.runId), isError: false};
  const reports = own.map(({runId, transcript, text, end}) => {
    const {outcome = 'unknown', reason = end ? '' : CUT_OFF, receipt = ''} = end ?? {};
    return formatReport({runId, transcript, outcome, reason, text: end?.text ?? text, receipt}, resultTokens);
  });
  const isError = first.scope !== undefined || first.end?.outcome !== 'success';
  return {text: [...(first.scope ? [CUT_OFF_CALL] : []), ...reports].join('\n\n'), isError};
}

/** Writes the end of a run that a crash cut off into its transcript. */
function closeCutOff(store: RunStore, stored: StoredRun): RunEnd {
  const {runId, text, tools, usage, usageByModel, lastTool, background, round, createdAt, lastAt} = stored;
  const durationMs = Math.max(0, lastAt - createdAt);
  const end: RunEnd = {
    outcome: 'unknown',
    reason: CUT_OFF,
    text,
    tools,
    usage,
    usageByModel,
    ...(lastTool !== undefined && {lastTool}),
    background,
    round,
    durationMs,
  };
  if (stored.archived) return end;
  const {journal, park} = store.reopen(runId);
  new History(journal).recordEnd(end);
  park();
  return end;
}

/** No call waits for such a run after a restart, so its end is announced. */
function toLeftRecord({end: _, text: _t, archived: _a, pause: _p, ...facts}: StoredRun, sessionId: string): RunRecord {
  return {...facts, sessionId, background: true, state: 'created', restored: false};
}

function toRecord(stored: StoredRun, end: RunEnd, sessionId: string): RunRecord {
  const {end: _, text: _t, pause: _p, archived, ...facts} = stored;
  const {outcome, reason, receipt, durationMs = 0, worker} = end;
  return {
    ...facts,
    sessionId,
    state: archived ? 'removed' : getEndState(outcome),
    outcome,
    ...(reason === undefined ? {} : {reason}),
    ...(receipt === undefined ? {} : {receipt}),
    ...(worker === undefined ? {} : {worker}),
    startedAt: stored.createdAt,
    // A run that was cut off counts as ended at this moment, so that it is not archived before it can continue.
    endedAt: stored.end ? stored.lastAt : Date.now(),
    restored: true,
    result: {durationMs, modelMs: 0, turns: 0},
  };
}
