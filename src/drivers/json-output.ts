/** Creates the objects of `--output-format json` and `stream-json` in Claude Code's shapes. */
import {randomUUID} from 'node:crypto';
import type {AgentEvent, ForeignWord} from '../core/contract/events.ts';
import type {SubagentResults} from '../core/contract/fan-out.ts';
import type {Usage, UsageEntry} from '../core/contract/model.ts';
import type {RunResult, SubagentSummary} from '../core/contract/results.ts';
import type {RunRecord, SubagentMark} from '../core/contract/runs.ts';
import type {Session, SubmitResult} from '../core/contract/session-requests.ts';
import {formatEnding, NO_TOTALS} from '../core/turn/run-ending.ts';
import {NO_MATCHING_ANSWER} from '../core/turn/structured-answer.ts';
import {addUsage, addUsageTo, isBudget, isCostKnown, NO_USAGE, subtractUsage, toCost} from '../core/util/messages.ts';
import {getKnownWindow} from '../models/context-size.ts';

/** Creates the first line of stream-json. @param ofPrompt warnings about this prompt alone */
export function createInitObject(session: Session, ofPrompt: readonly ForeignWord[] = []): Record<string, unknown> {
  const {info} = session;
  const {cwd, sessionId, tools, model, permissionMode, keyEnv = 'none', commands, agents, skills, plugins} = info;
  const warnings = [...info.foreignWords, ...ofPrompt];
  return {
    type: 'system',
    subtype: 'init',
    cwd,
    session_id: sessionId,
    tools,
    model,
    permissionMode,
    apiKeySource: keyEnv,
    slash_commands: commands.map(({name}) => name),
    agents,
    ...(skills && {skills}),
    ...(plugins && {plugins}),
    mcp_servers: listServers(session),
    ...(warnings.length > 0 && {warnings}),
    uuid: randomUUID(),
  };
}

/** Lists the MCP servers. The shape has no status for a server that is not approved. */
function listServers(session: Session) {
  return session
    .request({type: 'mcp_servers'})
    .map(({name, status}) => ({name, status: status === 'not-approved' ? 'disabled' : status}));
}

/**
 * Creates a function that converts each printed event to an object. Objects of a subagent have the id of the Task call
 * that dispatched it.
 */
export function createStreamJson(
  session: Session,
  {includeHookEvents = false}: {readonly includeHookEvents?: boolean | undefined} = {},
): (event: AgentEvent) => Record<string, unknown> | undefined {
  const {sessionId} = session.info;
  let promptSeen = false;
  return (event) => {
    const getTags = () => ({
      parent_tool_use_id: getTaskCall(session, event),
      session_id: sessionId,
      uuid: randomUUID(),
    });
    if (event.type === 'hook') return includeHookEvents ? {...toHookObject(event), ...getTags()} : undefined;
    if (event.type === 'stream') return {type: 'stream_event', event: event.event, ...getTags()};
    if (event.type === 'compacted') {
      const compact_metadata = {trigger: event.trigger, pre_tokens: event.preTokens};
      return {type: 'system', subtype: 'compact_boundary', compact_metadata, ...getTags()};
    }
    if (event.type !== 'message') return undefined;
    if (event.role === 'user') {
      const {content} = event;
      // The main agent's prompt is left out, because the caller knows it. A subagent's prompt comes from the model.
      const isPrompt = typeof content === 'string' || content.every(({type}) => type !== 'tool_result');
      if (isPrompt && event.parent === undefined && !promptSeen) {
        promptSeen = true;
        return undefined;
      }
      const blocks = typeof content === 'string' ? [{type: 'text', text: content}] : content;
      return {type: 'user', message: {role: 'user', content: blocks}, ...getTags()};
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
      usage: toApiUsage(usage),
    };
    return {type: 'assistant', message, ...getTags()};
  };
}

/** Returns the id of the call that dispatched the subagent, perhaps during an earlier prompt. */
function getTaskCall(session: Session, {parent, agentId}: AgentEvent): string | null {
  if (parent === undefined) return null;
  return session.request({type: 'runs'}).find(({runId}) => runId === agentId)?.callId ?? null;
}

function toHookObject({outcome, output = '', hook_id, hook_name, hook_event}: AgentEvent & {type: 'hook'}) {
  const about = {type: 'system', hook_id, hook_name, hook_event};
  if (outcome === undefined) return {...about, subtype: 'hook_started'};
  const isError = outcome === 'error';
  const texts = {output, stdout: isError ? '' : output, stderr: isError ? output : ''};
  return {...about, subtype: 'hook_response', outcome, ...texts};
}

/** The parts of the session that earlier results have reported. */
interface Reported {
  readonly runs: number;
  readonly denials: number;
  readonly fanOuts: number;
  readonly subagents?: SubagentMark;
  /** Usage of all models and agents. */
  readonly usage: Usage;
}

export function countReported(session: Session): Reported {
  return {
    runs: session.request({type: 'runs'}).length,
    denials: session.request({type: 'denials'}).length,
    fanOuts: session.request({type: 'fan_outs'}).results.length,
    subagents: session.request({type: 'subagent_summary'}).mark,
    usage: sumUsage(session.request({type: 'usage'}).current),
  };
}

/**
 * Creates the last line of stream-json, which is the only line of json.
 * @param durationMs milliseconds since the start of the prompt
 * @param reported parts that the result leaves out; none by default
 */
export function createResultObject(
  session: Session,
  result: RunResult,
  durationMs: number,
  reported: Reported = {runs: 0, denials: 0, fanOuts: 0, usage: NO_USAGE},
): Record<string, unknown> {
  const isOwn = ({restored, tool}: RunRecord) => !restored && tool === undefined;
  // Restored runs were in the result of an earlier process.
  const runs = session.request({type: 'runs'}).slice(reported.runs).filter(isOwn);
  const subagentResults = sumResults(session.request({type: 'fan_outs'}).results.slice(reported.fanOuts));
  const {summary} = session.request({type: 'subagent_summary', ...(reported.subagents && {since: reported.subagents})});
  const {current} = session.request({type: 'usage'});
  const total = sumUsage(current);
  return {
    type: 'result',
    subtype: getSubtype(result),
    is_error: result.outcome !== 'success',
    ...(result.outcome !== 'success' && {errors: [formatEnding(result)]}),
    duration_ms: Math.round(durationMs),
    duration_api_ms: Math.round(result.modelMs + runs.reduce((sum, run) => sum + (run.result?.modelMs ?? 0), 0)),
    num_turns: result.turns,
    result: result.outcome === 'success' ? result.text : withReason(result),
    ...(result.structured !== undefined && {structured_output: result.structured}),
    session_id: session.info.sessionId,
    // The cost and the models cover the whole session, as in Claude Code.
    total_cost_usd: toCost(total),
    ...(isCostKnown(total) ? {} : {cost_unknown: true}),
    ...(total.cost_estimated && {cost_estimated: true}),
    usage: toApiUsage(subtractUsage(total, reported.usage)),
    modelUsage: toModelUsage(current),
    // Warnings say that another model answered than the requested one.
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
    subagents: runs.map(toSubagent),
    ...(subagentResults && {subagentResults}),
    ...(summary && {subagent_summary: toSummaryObject(summary)}),
    uuid: randomUUID(),
  };
}

function toSubagent(run: RunRecord) {
  return {
    runId: run.runId,
    agent: run.agent,
    description: run.description,
    outcome: run.outcome ?? 'unknown',
    tools: run.tools,
    turns: run.result?.turns ?? 0,
    model: run.result?.model ?? run.model,
    ...(run.result?.partial !== undefined && {partial: run.result.partial}),
    duration_ms: Math.round(run.result?.durationMs ?? 0),
    usage: toApiUsage(run.usage),
    cost_usd: toCost(run.usage),
    ...(run.usage.cost_estimated && {cost_estimated: true}),
    transcript: run.transcript,
    ...(run.reason ? {reason: run.reason} : {}),
    ...(run.result?.warnings && {warnings: run.result.warnings}),
  };
}

/** Returns the sums of subagents as the JSON results have them. */
export function toSummaryObject(summary: SubagentSummary) {
  const {wallMs, sumMs, tokensRead, tokensReturned, usage, ...counts} = summary;
  return {
    ...counts,
    wall_ms: wallMs,
    sum_ms: sumMs,
    tokens_read: tokensRead,
    tokens_returned: tokensReturned,
    cost: toCost(usage),
    ...(usage.cost_estimated && {cost_estimated: true}),
  };
}

/** Returns the result of a slash command in the shape of a turn's result. */
export function toRunResult({ok, text}: Pick<SubmitResult & {type: 'command'}, 'ok' | 'text'>): RunResult {
  if (ok) return {...NO_TOTALS, outcome: 'success', text};
  return {...NO_TOTALS, outcome: 'error', code: 'COMMAND', error: text};
}

/** Returns undefined when there was no fan-out. */
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
      if (isBudget(result.limit)) return 'error_max_budget_usd';
      return / turns?$/.test(result.limit) ? 'error_max_turns' : 'error_during_execution';
    case 'timeout':
      return 'error_timeout';
    case 'error':
      return result.code === NO_MATCHING_ANSWER ? 'error_max_structured_output_retries' : 'error_during_execution';
    default:
      return 'error_during_execution';
  }
}

/** Returns the text, followed by the reason why it is incomplete. */
function withReason(result: RunResult): string {
  const reason = formatEnding(result);
  return result.text === '' || result.text === reason ? reason : `${result.text}\n\n${reason}`;
}

function sumUsage(entries: readonly UsageEntry[]): Usage {
  return entries.reduce((all, {usage}) => addUsage(all, usage), NO_USAGE);
}

/** Converts usage to the fields of a model server, which have no cost. */
function toApiUsage(usage: Usage) {
  const {cost_usd: _, cost_unknown: _u, cost_estimated: _e, cache_creation_1h_input_tokens: hour, ...rest} = usage;
  const {web_search_requests: searches, ...tokens} = rest;
  const counts = {...tokens, ...(searches !== undefined && {server_tool_use: {web_search_requests: searches}})};
  if (hour === undefined) return counts;
  const minutes = usage.cache_creation_input_tokens - hour;
  return {...counts, cache_creation: {ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hour}};
}

export type ModelUsage = Readonly<Record<string, {readonly costUSD: number | null}>>;

export function toModelUsage(entries: readonly UsageEntry[]): ModelUsage {
  const byModel = entries.reduce<Readonly<Record<string, Usage>>>(
    (sums, {model, usage}) => addUsageTo(sums, model, usage),
    {},
  );
  const each = Object.entries(byModel).map(([model, usage]) => [
    model,
    {
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      cacheReadInputTokens: usage.cache_read_input_tokens,
      cacheCreationInputTokens: usage.cache_creation_input_tokens,
      webSearchRequests: usage.web_search_requests ?? 0,
      costUSD: toCost(usage),
      contextWindow: getKnownWindow(model),
    },
  ]);
  return Object.fromEntries(each);
}
