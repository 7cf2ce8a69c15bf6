/** Creates runs and begins their further rounds, on disk and in the registry, before any event is emitted. */
import type {Message} from '../contract/model.ts';
import type {Outcome} from '../contract/results.ts';
import type {RunSpec} from '../contract/run-spec.ts';
import type {OpenRun, RunRecord, RunState, RunStore} from '../contract/runs.ts';
import {History} from '../turn/history.ts';
import {NO_USAGE} from '../util/messages.ts';
import type {RunRegistry} from './registry.ts';

/** Added to the message because the history describes the files of an earlier worktree. */
export const NEW_WORKTREE = '(Your worktree is a new one: the files of the workspace as they are now.)';
/** Result of a call that a crash cut off. */
export const CUT_OFF_CALL = 'Cut off: mini-cc ended before this call did.';

export interface OpenedRun {
  /** Spec with the model of this round, and whether it runs in the foreground or background. */
  readonly spec: RunSpec;
  readonly round: number;
  readonly transcript: OpenRun;
  readonly history: History;
}

/**
 * Creates a run, which survives a crash once this returns.
 * @param before conversation before the prompt
 * @throws Error when it cannot be written
 */
export function openRun(
  store: RunStore,
  registry: RunRegistry,
  spec: RunSpec,
  prompt: string,
  before: readonly Message[] = [],
): OpenedRun {
  const transcript = store.create(spec);
  const history = new History(transcript.journal);
  for (const message of before) history.append(message);
  history.appendPrompt(prompt);
  const at = Date.now();
  registry.add({
    ...spec,
    sessionId: store.sessionId,
    transcript: transcript.transcript,
    state: 'created',
    createdAt: at,
    lastAt: at,
    tools: 0,
    usage: NO_USAGE,
    usageByModel: {},
    round: 1,
    restored: false,
  });
  return {spec, round: 1, transcript, history};
}

/** Opens the transcript of a run with its history. @throws MiniCcError when the run is archived or was deleted */
export function reopenRun(store: RunStore, runId: string): Omit<OpenedRun, 'round'> {
  const {spec, messages, ...transcript} = store.reopen(runId);
  return {spec, transcript, history: new History(transcript.journal, messages)};
}

/**
 * Continues a run that has ended: its history gets the message at its end.
 * @throws as `reopenRun`
 */
export function openNextRound(
  store: RunStore,
  registry: RunRegistry,
  record: RunRecord,
  next: {readonly message: string; readonly model: string; readonly background: boolean},
): OpenedRun {
  const {history, ...open} = reopenRun(store, record.runId);
  const round = record.round + 1;
  history.recordResumed(round);
  history.answerOpenCalls(CUT_OFF_CALL);
  const note = record.isolation === 'worktree' ? `\n\n${NEW_WORKTREE}` : '';
  history.appendPrompt(`${next.message}${note}`);
  const {
    outcome: _,
    reason: _r,
    receipt: _c,
    endedAt: _e,
    announcement: _a,
    startedAt: _s,
    worker: _w,
    ...rest
  } = record;
  const now = {background: next.background, round, lastAt: Date.now(), restored: false, model: next.model};
  registry.add({...rest, ...now, state: 'created'});
  const spec = {...open.spec, background: next.background, model: next.model};
  return {spec, round, transcript: open.transcript, history};
}

export function hasEnded(record: RunRecord): boolean {
  return record.endedAt !== undefined;
}

export function getEndState(outcome: Outcome): RunState {
  if (outcome === 'success' || outcome === 'limit') return 'idle';
  return outcome === 'stopped' ? 'stopped' : 'error';
}
