/** The objects of `--output-format json` and `stream-json`, in Claude Code's shapes. */
import {randomUUID} from 'node:crypto';
import type {AgentEvent} from '../core/contract/events.ts';
import type {SubagentResults} from '../core/contract/fan-out.ts';
import type {Usage} from '../core/contract/model.ts';
import type {RunResult} from '../core/contract/results.ts';
import type {RunRecord} from '../core/contract/runs.ts';
import type {Session} from '../core/contract/session.ts';
import {formatEnding} from '../core/turn/run-ending.ts';
import {addUsage, NO_USAGE} from '../core/util/messages.ts';
import {NOT_YET_AVAILABLE} from '../core/util/planned-features.ts';

/** The first line of stream-json. */
export function createInitObject(session: Session): Record<string, unknown> {
  const {cwd, sessionId, tools, model, permissionMode, commands, agents} = session.info;
  return {
    type: 'system',
    subtype: 'init',
    cwd,
    session_id: sessionId,
    tools,
    model,
    permissionMode,
    slash_commands: commands.filter(({description}) => description !== NOT_YET_AVAILABLE).map(({name}) => name),
    agents,
    uuid: randomUUID(),
  };
}

/** Makes an object of each event that is printed. A subagent's carry the id of the Task call that dispatched it. */
export function createStreamJson(session: Session): (event: AgentEvent) => Record<string, unknown> | undefined {
  const {sessionId} = session.info;
  const taskCalls = new Map<string, string>();
  let promptSeen = false;
  return (event) => {
    if (event.type === 'run_start' && event.callId !== undefined) taskCalls.set(event.agentId, event.callId);
    const tags = {
      parent_tool_use_id: taskCalls.get(event.agentId) ?? null,
      session_id: sessionId,
      uuid: randomUUID(),
    };
    if (event.type === 'stream') return {type: 'stream_event', event: event.event, ...tags};
    if (event.type === 'compacted') {
      const compact_metadata = {trigger: event.trigger, pre_tokens: event.preTokens};
      return {type: 'system', subtype: 'compact_boundary', compact_metadata, ...tags};
    }
    if (event.type !== 'message') return undefined;
    if (event.role === 'user') {
      const {content} = event;
      // The main agent's prompt is left out: the caller knows it. A subagent's prompt is the model's.
      const isPrompt = typeof content === 'string' || content.every(({type}) => type !== 'tool_result');
      if (isPrompt && event.parent === undefined && !promptSeen) {
        promptSeen = true;
        return undefined;
      }
      const blocks = typeof content === 'string' ? [{type: 'text', text: content}] : content;
      return {type: 'user', message: {role: 'user', content: blocks}, ...tags};
    }
    const {id, model, content, usage, stopReason} = event;
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content,
      // Readers of Claude Code's shapes do not know `unable`.
      stop_reason: stopReason === 'unable' ? 'end_turn' : stopReason,
      stop_sequence: null,
      usage,
    };
    return {type: 'assistant', message, ...tags};
  };
}

/** How much of the session an earlier result has told. */
export interface Reported {
  readonly runs: number;
  readonly denials: number;
  readonly fanOuts: number;
}

export function countReported(session: Session): Reported {
  return {
    runs: session.request({type: 'runs'}).length,
    denials: session.request({type: 'denials'}).length,
    fanOuts: session.request({type: 'fan_outs'}).results.length,
  };
}

/**
 * The last line of stream-json, and the only one of json.
 * @param durationMs since the start of the prompt
 * @param reported what is left out; default: nothing
 */
export function createResultObject(
  session: Session,
  result: RunResult,
  durationMs: number,
  reported: Reported = {runs: 0, denials: 0, fanOuts: 0},
): Record<string, unknown> {
  const isOwn = ({restored, tool}: RunRecord) => !restored && tool === undefined;
  // Restored runs were in the result of an earlier process.
  const runs = session.request({type: 'runs'}).slice(reported.runs).filter(isOwn);
  const subagentResults = sumResults(session.request({type: 'fan_outs'}).results.slice(reported.fanOuts));
  const byModel = sumByModel([result.usageByModel, ...runs.map((run) => run.result?.usageByModel ?? {})]);
  const text = result.outcome === 'success' ? result.text : withReason(result);
  return {
    type: 'result',
    subtype: getSubtype(result),
    is_error: result.outcome !== 'success',
    duration_ms: Math.round(durationMs),
    duration_api_ms: Math.round(result.modelMs + runs.reduce((sum, run) => sum + (run.result?.modelMs ?? 0), 0)),
    num_turns: result.turns,
    result: text,
    session_id: session.info.sessionId,
    // Prices are not known yet, and an unknown price must not look like 0.
    total_cost_usd: null,
    usage: Object.values(byModel).reduce(addUsage, NO_USAGE),
    modelUsage: Object.fromEntries(Object.entries(byModel).map(([model, usage]) => [model, camelUsage(usage)])),
    // Another model answered than the one that was asked for.
    ...(result.warnings && {warnings: result.warnings}),
    permission_denials: session
      .request({type: 'denials'})
      .slice(reported.denials)
      .map(({agent, callId, tool, input, reason}) => ({
        tool_name: tool,
        tool_use_id: callId,
        tool_input: input,
        agent,
        reason,
      })),
    subagents: runs.map((run) => ({
      runId: run.runId,
      agent: run.agent,
      description: run.description,
      outcome: run.outcome ?? 'unknown',
      tools: run.tools,
      duration_ms: Math.round(run.result?.durationMs ?? 0),
      usage: run.usage,
      transcript: run.transcript,
      ...(run.reason ? {reason: run.reason} : {}),
      ...(run.result?.warnings && {warnings: run.result.warnings}),
    })),
    ...(subagentResults && {subagentResults}),
    uuid: randomUUID(),
  };
}

/** Undefined where there was no fan-out. */
function sumResults(results: readonly SubagentResults[]): SubagentResults | undefined {
  if (results.length === 0) return undefined;
  const sum = (key: keyof SubagentResults) => results.reduce((total, each) => total + each[key], 0);
  return {
    total: sum('total'),
    successful: sum('successful'),
    failed: sum('failed'),
    filesModified: sum('filesModified'),
  };
}

function getSubtype(result: RunResult): string {
  switch (result.outcome) {
    case 'success':
      return 'success';
    case 'limit':
      return / turns?$/.test(result.limit) ? 'error_max_turns' : 'error_during_execution';
    case 'timeout':
      return 'error_timeout';
    default:
      return 'error_during_execution';
  }
}

/** The text there is, and why it is not complete. */
function withReason(result: RunResult): string {
  const reason = formatEnding(result);
  return result.text === '' || result.text === reason ? reason : `${result.text}\n\n${reason}`;
}

function sumByModel(parts: readonly Readonly<Record<string, Usage>>[]): Record<string, Usage> {
  const sums: Record<string, Usage> = {};
  for (const part of parts) {
    for (const [model, usage] of Object.entries(part)) sums[model] = addUsage(sums[model] ?? NO_USAGE, usage);
  }
  return sums;
}

function camelUsage(usage: Usage) {
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadInputTokens: usage.cache_read_input_tokens,
    cacheCreationInputTokens: usage.cache_creation_input_tokens,
  };
}
