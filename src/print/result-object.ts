/** The result object of the JSON formats, in Claude Code's shape. */
import {randomUUID} from 'node:crypto';
import type {Usage} from '../core/contract/messages.ts';
import type {RunResult} from '../core/contract/run-result.ts';
import type {RunRecord} from '../core/contract/runs.ts';
import type {Session} from '../core/contract/session.ts';
import {endingOf} from '../core/turn/run-ending.ts';
import {addUsage, NO_USAGE} from '../core/util/messages.ts';

export function resultObject(session: Session, result: RunResult, durationMs: number): Record<string, unknown> {
  // Those of an earlier process had their own result.
  const runs = session.request({type: 'runs'}).filter((run) => !run.restored);
  const byModel = sumByModel([result.usageByModel, ...runs.map((run) => run.result?.usageByModel ?? {})]);
  const text = result.outcome === 'success' ? result.text : withReason(result);
  return {
    type: 'result',
    subtype: subtypeOf(result),
    is_error: result.outcome !== 'success',
    duration_ms: Math.round(durationMs),
    duration_api_ms: Math.round(result.modelMs + runs.reduce((sum, run) => sum + (run.result?.modelMs ?? 0), 0)),
    num_turns: result.turns,
    result: text,
    session_id: session.info.sessionId,
    // Prices come with a later release: an unknown price is no zero.
    total_cost_usd: null,
    usage: Object.values(byModel).reduce(addUsage, NO_USAGE),
    modelUsage: Object.fromEntries(Object.entries(byModel).map(([model, usage]) => [model, camelUsage(usage)])),
    permission_denials: session.request({type: 'denials'}).map(({agent, callId, tool, input, reason}) => ({
      tool_name: tool,
      tool_use_id: callId,
      tool_input: input,
      agent,
      reason,
    })),
    subagents: runs.map(subagentObject),
    uuid: randomUUID(),
  };
}

function subagentObject(run: RunRecord): Record<string, unknown> {
  return {
    runId: run.runId,
    agent: run.agent,
    description: run.description,
    outcome: run.outcome ?? 'unknown',
    tools: run.tools,
    duration_ms: Math.round(run.result?.durationMs ?? 0),
    usage: run.usage,
    transcript: run.transcript,
    ...(run.reason ? {reason: run.reason} : {}),
  };
}

function subtypeOf(result: RunResult): string {
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

/** What there is, and why it is not all. */
function withReason(result: RunResult): string {
  const reason = endingOf(result);
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
