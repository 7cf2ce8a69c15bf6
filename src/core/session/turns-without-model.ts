/** Turns without the main model: `Task(agent): …` and a skill with `context: fork` that a person typed, and a fan-out. */
import {randomUUID} from 'node:crypto';
import type {AgentRun} from '../agent-loop.ts';
import type {FanOutReport} from '../contract/fan-out.ts';
import type {RunResult} from '../contract/results.ts';
import type {RunRecord} from '../contract/runs.ts';
import type {ApprovedFanOut, FanOuts} from '../fan-out/fan-outs.ts';
import {describeInBackground} from '../runs/progress-line.ts';
import {createTypedCall, runToolCalls} from '../tool-calls.ts';
import {getAbortEnding, NO_TOTALS} from '../turn/run-ending.ts';
import {getText, NO_USAGE} from '../util/messages.ts';
import type {TypedTask} from '../util/prompt-syntax.ts';

/**
 * Runs the task in the main agent's conversation, which then has the call and its result.
 * @param findRun finds the run that a call dispatched, if there is one
 */
export async function runTypedTask(
  task: TypedTask,
  run: AgentRun,
  findRun: (callId: string) => RunRecord | undefined,
): Promise<RunResult> {
  const {agent, ...asked} = task;
  const call = createTypedCall('Task', {...asked, agent_type: agent});
  run.history.append({role: 'assistant', content: [call]});
  const facts = {model: run.model.name, usage: NO_USAGE, stopReason: 'tool_use'};
  run.emit({type: 'message', role: 'assistant', id: `msg_${call.id}`, content: [call], ...facts});
  const startedAt = performance.now();
  const [outcome] = await runToolCalls([call], run, run.signal);
  const content = [outcome!.block];
  run.history.append({role: 'user', content});
  run.emit({type: 'message', role: 'user', content});
  const record = findRun(call.id);
  const isInBackground = record !== undefined && record.outcome === undefined;
  const text = isInBackground ? describeInBackground(record) : getText(outcome!.block.content ?? '');
  const ending = getTaskEnding(record, outcome!.record.isError, text);
  // No model writes in this turn, so the text that the agent returned is the answer.
  if (ending.outcome !== 'error') run.emit({type: 'text_delta', text});
  return {
    ...ending,
    text,
    usage: record?.usage ?? NO_USAGE,
    usageByModel: {},
    turns: record?.result?.turns ?? 0,
    tools: [outcome!.record],
    durationMs: performance.now() - startedAt,
    modelMs: 0,
  };
}

/** Returns how the task ended: as its run did. A call that joined another run or got a cached result has no run. */
function getTaskEnding(record: RunRecord | undefined, isError: boolean, text: string) {
  if (record?.outcome === undefined) {
    return isError ? {outcome: 'error' as const, code: 'TASK_REFUSED', error: text} : {outcome: 'success' as const};
  }
  const reason = record.reason ?? '';
  switch (record.outcome) {
    case 'success':
    case 'stopped':
      return {outcome: record.outcome};
    case 'limit':
      return {outcome: record.outcome, limit: reason};
    case 'timeout':
      return {outcome: record.outcome, timeout: reason};
    default:
      return {outcome: 'error' as const, code: 'TASK_FAILED', error: reason};
  }
}

/** Model name of an answer that the runtime wrote. Claude Code uses the same name. */
const BY_RUNTIME = '<synthetic>';

/** Runs the fan-out. The prompt is already in the history. @throws what `FanOuts.run` throws */
export async function runFanOutTurn(fanOuts: FanOuts, approved: ApprovedFanOut, run: AgentRun): Promise<RunResult> {
  const startedAt = run.clock.now();
  const report = await fanOuts.run(approved, run.signal);
  appendAnswer(report.text, run);
  const durationMs = run.clock.now() - startedAt;
  return {...NO_TOTALS, ...getFanOutEnding(report, run.signal), text: report.text, durationMs};
}

function appendAnswer(text: string, {history, emit}: AgentRun): void {
  const content = [{type: 'text' as const, text, citations: null}];
  history.append({role: 'assistant', content});
  const facts = {model: BY_RUNTIME, usage: NO_USAGE, stopReason: 'end_turn'};
  emit({type: 'message', role: 'assistant', id: `msg_${randomUUID().replaceAll('-', '')}`, content, ...facts});
}

/** Returns how the turn ended. It fails when all parts failed. The summary lists the parts that failed. */
function getFanOutEnding({results, parts}: FanOutReport, signal: AbortSignal) {
  if (signal.aborted) return getAbortEnding(signal.reason);
  if (results.successful > 0) return {outcome: 'success' as const};
  const error = `no part of the fan-out succeeded: ${parts[0]?.reason ?? 'unknown'}`;
  return {outcome: 'error' as const, code: 'FAN_OUT', error};
}
