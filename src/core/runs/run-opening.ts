/** A run comes into being, or begins another round: on disk and in the registry, before anybody is told. */
import {randomUUID} from 'node:crypto';
import type {RunHeader, RunRecord, RunStore} from '../contract/runs.ts';
import {History} from '../turn/history.ts';
import {NO_USAGE} from '../util/messages.ts';
import type {SpawnRequest} from './dispatch.ts';
import type {RunRegistry} from './registry.ts';
import type {RunPapers} from './run-record.ts';

/** What the history tells of the files is no longer so. */
const NEW_WORKTREE = '\n\n(Your worktree is a new one: the files of the workspace as they are now.)';

export interface OpenedRun {
  readonly runId: string;
  readonly papers: RunPapers;
}

/** From here on a crash cannot lose it. @throws Error when it cannot be written. */
export function openNewRun(store: RunStore, registry: RunRegistry, request: SpawnRequest): OpenedRun {
  const {agent, description, model, callId, label, prompt, background = false, cleanup = 'keep'} = request;
  const {runId = randomUUID()} = request;
  const {maxTurns, timeoutSeconds, maxTokens} = request;
  const header: RunHeader = {
    ...{runId, agent: agent.name, description, model: model.name, background, cleanup},
    ...(label ? {label} : {}),
    ...(callId ? {callId} : {}),
    limits: {maxTurns, timeoutSeconds, maxTokens},
    ...(request.onlyTools ? {onlyTools: request.onlyTools} : {}),
    ...(request.isolation ? {isolation: request.isolation} : {}),
  };
  const open = store.create(header);
  const history = new History(open.journal);
  history.append({role: 'user', content: prompt});
  const at = Date.now();
  registry.add({
    ...header,
    sessionId: store.sessionId,
    transcript: open.transcript,
    ...{state: 'created', createdAt: at, lastAt: at, tools: 0, usage: NO_USAGE, round: 1, restored: false},
  });
  return {runId, papers: {...open, history}};
}

/** Its history with the message behind it. @throws MiniCcError when it is archived or gone. */
export function openNextRound(
  store: RunStore,
  registry: RunRegistry,
  record: RunRecord,
  next: {readonly message: string; readonly model: string},
): OpenedRun {
  const {runId} = record;
  const open = store.reopen(runId);
  const history = new History(open.journal, open.messages);
  const round = record.round + 1;
  history.resumed(round);
  history.settleOpenCalls('Cut off: mini-cc ended before this call did.');
  const place = record.isolation === 'worktree' ? NEW_WORKTREE : '';
  history.append({role: 'user', content: `${next.message}${place}`});
  const {outcome: _, reason: _r, receipt: _c, endedAt: _e, announcement: _a, startedAt: _s, ...kept} = record;
  const now = {background: true, round, lastAt: Date.now(), restored: false, model: next.model};
  registry.add({...kept, ...now, state: 'created'});
  return {runId, papers: {...open, history}};
}
