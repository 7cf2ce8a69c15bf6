/** Runs `Task(agent): …` that a person typed: the call that the model would make, without a turn of the model. */
import {randomUUID} from 'node:crypto';
import type {AgentRun} from '../agent-loop.ts';
import type {ToolUse} from '../contract/model.ts';
import type {RunResult} from '../contract/results.ts';
import type {RunRecord} from '../contract/runs.ts';
import {describeInBackground} from '../runs/progress-line.ts';
import {runToolCalls} from '../tool-calls.ts';
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
  const call: ToolUse = {
    type: 'tool_use',
    id: `toolu_typed_${randomUUID().replaceAll('-', '')}`,
    name: 'Task',
    input: {prompt: task.prompt, agent_type: task.agent},
    caller: {type: 'direct'},
  };
  run.history.append({role: 'assistant', content: [call]});
  const facts = {model: run.model.name, usage: NO_USAGE, stopReason: 'tool_use'};
  run.emit({type: 'message', role: 'assistant', id: `msg_${call.id}`, content: [call], ...facts});
  const startedAt = performance.now();
  const [outcome] = await runToolCalls([call], run, run.signal, new Map());
  const content = [outcome!.block];
  run.history.append({role: 'user', content});
  run.emit({type: 'message', role: 'user', content});
  const record = findRun(call.id);
  const isInBackground = record !== undefined && record.outcome === undefined;
  const text = isInBackground ? describeInBackground(record) : getText(outcome!.block.content ?? '');
  return {
    ...getEnding(record, outcome!.record.isError, text),
    text,
    usage: record?.usage ?? NO_USAGE,
    usageByModel: {},
    turns: record?.result?.turns ?? 0,
    tools: [outcome!.record],
    durationMs: performance.now() - startedAt,
    modelMs: 0,
  };
}

/** Returns how the task ended: as its run did. A background, joined or cached run has no end of its own. */
function getEnding(record: RunRecord | undefined, isError: boolean, text: string) {
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
