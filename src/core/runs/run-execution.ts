/** A run from its dispatch to its end: it waits for a slot, works, and leaves its end in the registry. */

import type {Emit} from '../contract/events.ts';
import type {RunLimits} from '../contract/limits.ts';
import type {Model} from '../contract/model.ts';
import type {RunResult} from '../contract/run-result.ts';
import type {RunRecord, SubagentResult} from '../contract/runs.ts';
import type {TokenBudget} from '../contract/tool.ts';
import {runSubagent, type SubagentHouse, type SubagentSeat, type SubagentTask} from '../subagent.ts';
import {NOTHING, reasonOf} from '../turn/run-ending.ts';
import {getErrorMessage, MiniCcError} from '../util/errors.ts';
import {addUsage} from '../util/messages.ts';
import type {LiveRun} from './live-run.ts';
import type {Pool} from './pool.ts';
import {makeReceipt} from './receipt.ts';
import type {RunRegistry} from './registry.ts';
import {reportOf} from './report.ts';
import {stateAfter} from './run-record.ts';

/** What a run is to do in this round. */
export interface Assignment extends Pick<SubagentTask, 'agent' | 'description' | 'isolation'> {
  readonly model: Model;
  readonly limits: RunLimits;
  readonly tokens: TokenBudget;
  /** The message that this round begins with; it is in the history. */
  readonly words: string;
}

export interface ExecutionRooms {
  readonly house: SubagentHouse;
  readonly pool: Pool;
  readonly registry: RunRegistry;
  readonly emit: Emit;
}

/** The model's server has too much to do. */
const OVERLOADED = new Set(['429', '529']);
/** While text streams in, the time of the last sign of life is noted this often. Milliseconds. */
const NOTE_EVERY_MS = 250;

/** Never rejects: what goes wrong is an outcome. */
export async function executeRun(
  live: LiveRun,
  assignment: Assignment,
  rooms: ExecutionRooms,
): Promise<SubagentResult> {
  const {runId} = live;
  const {pool, registry} = rooms;
  const {agent, description, model} = assignment;
  const emit = noting(runId, rooms);
  const before = registry.get(runId)!;
  const {callId, label, background, round} = before;
  const queued = pool.isFull;
  emit({
    type: 'run_start',
    ...{agent: agent.name, description, model: model.name, queued},
    ...(callId ? {callId} : {}),
    ...(background ? {background} : {}),
    ...(label ? {label} : {}),
    ...(round > 1 ? {round} : {}),
  });
  emit({type: 'message', role: 'user', content: assignment.words});
  if (queued) live.papers.park();
  return pool.run({id: runId, background, signal: live.signal}, async () => {
    registry.update(runId, {startedAt: Date.now()});
    if (registry.get(runId)?.state === 'created') {
      registry.update(runId, {state: 'processing'});
      emit({type: 'run_state', state: 'processing'});
    }
    if (queued) emit({type: 'run_active'});
    const seat: SubagentSeat = {
      ...assignment,
      runId,
      papers: live.papers,
      inbox: live.inbox,
      emit,
      signal: live.signal,
      before: {tools: before.tools, usage: before.usage},
      standing: () => {
        live.isEnding = true;
        return {background: registry.get(runId)?.background ?? background, round};
      },
    };
    const ended = await runSubagent(assignment, rooms.house, seat)
      .then((result) => closed(live, result))
      .catch(async (error: unknown) => {
        // What kept it from being written may keep it from being closed; the first reason is the one to tell.
        await live.papers.close().catch(() => undefined);
        return crashed(live, error, rooms.house);
      });
    if (ended.result.outcome === 'success') pool.endedWell();
    note(ended, rooms, emit, before);
    return ended;
  });
}

/** Every line is on the disk before anybody hears of the end. */
async function closed(live: LiveRun, result: SubagentResult): Promise<SubagentResult> {
  await live.papers.close();
  return result;
}

function note(
  {runId, result, receipt}: SubagentResult,
  {registry}: ExecutionRooms,
  emit: Emit,
  before: Pick<RunRecord, 'tools' | 'usage'>,
) {
  const {usage, usageByModel, durationMs, modelMs, turns, outcome} = result;
  const reason = reasonOf(result);
  const state = stateAfter(outcome);
  const endedAt = Date.now();
  registry.update(runId, {
    ...{state, outcome, endedAt, lastAt: endedAt, receipt: receipt.line},
    tools: before.tools + result.tools.length,
    // Also that of calls that did not come to their end.
    usage: addUsage(before.usage, usage),
    ...(reason === '' ? {} : {reason}),
    result: {usageByModel, durationMs, modelMs, turns},
  });
  emit({type: 'run_end', outcome, reason, tools: result.tools.length, durationMs, usage});
  emit({type: 'run_state', state});
}

/** Keeps the registry up to date with what the run says. */
function noting(runId: string, {registry, pool, emit}: ExecutionRooms): Emit {
  return (event) => {
    const record = registry.get(runId);
    if (record) {
      const at = Date.now();
      if (event.type === 'tool_start') registry.update(runId, {lastTool: event.tool, lastAt: at});
      else if (event.type === 'tool_end') registry.update(runId, {tools: record.tools + 1, lastAt: at});
      else if (event.type === 'message' && event.role === 'assistant') {
        registry.update(runId, {usage: addUsage(record.usage, event.usage), lastAt: at});
      } else if (at - record.lastAt > NOTE_EVERY_MS) registry.update(runId, {lastAt: at});
    }
    if (event.type === 'retry' && OVERLOADED.has(event.reason)) pool.overloaded();
    emit(event);
  };
}

/** The transcript could not be written, or the engine has a mistake. */
function crashed(live: LiveRun, error: unknown, house: SubagentHouse): SubagentResult {
  const {runId} = live;
  const {transcript} = live.papers;
  const result: RunResult = {
    outcome: 'error',
    code: error instanceof MiniCcError ? error.code : 'INTERNAL',
    error: getErrorMessage(error),
    ...NOTHING,
  };
  const receipt = makeReceipt(result, house.workspace.root);
  const reason = reasonOf(result);
  const report = reportOf(
    {runId, transcript, outcome: 'error', reason, text: '', receipt: receipt.line},
    house.resultTokens,
  );
  return {runId, transcript, result, receipt, report};
}
