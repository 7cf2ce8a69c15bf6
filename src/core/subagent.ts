/**
 * One subagent's run, from its dispatch to its end:
 *
 * 1. It waits for a slot of the pool and holds nothing open. Or it goes to a worker, which runs it by this same module.
 * 2. It works in its own workplace, with its own history, limits and allowed tools: `runAgent`.
 * 3. Its end is written into the transcript, then into the registry, and only then it is emitted.
 *
 * The `SubagentResult` has a text and a receipt.
 */
import {type AgentRun, runAgent} from './agent-loop.ts';
import {AGENT_TYPES, type AgentDefinition} from './agent-types.ts';
import type {Emit} from './contract/events.ts';
import type {NotesPlace} from './contract/permission.ts';
import type {RunResult} from './contract/results.ts';
import type {Receipt, RunRecord, SubagentResult} from './contract/runs.ts';
import type {Budget, Tool} from './contract/tool.ts';
import {createPermit} from './permissions/decision.ts';
import partPrompt from './prompts/part.md';
import {runCall} from './runs/background-call.ts';
import type {RunRound, SubagentDeps, ToolRules} from './runs/dispatch.ts';
import type {LiveRun} from './runs/live-run.ts';
import type {Pool} from './runs/pool.ts';
import {countFiles, formatReport, getMaxTokens, makeReceipt} from './runs/receipt.ts';
import type {RunRegistry} from './runs/registry.ts';
import {getEndState} from './runs/run-record.ts';
import {workRemotely} from './runs/work-remotely.ts';
import {openWorkplace, type Workplace} from './runs/workplace.ts';
import {createFileLedger} from './turn/file-ledger.ts';
import type {BackgroundCall} from './turn/foreground-call.ts';
import {createInternalError, formatReason, NO_TOTALS, withWarnings} from './turn/run-ending.ts';
import {createRunHooks} from './turn/run-hooks.ts';
import {ANSWER_PROMPT, compileAnswerSchema} from './turn/structured-answer.ts';
import {createAgentPrompt, createSystemPrompt} from './turn/system-prompt.ts';
import {waitUntilWritten} from './turn/transcript-writing.ts';
import {getErrorMessage} from './util/errors.ts';
import {addUsage, addUsageByModel} from './util/messages.ts';
import {runVerified} from './verification/verifier.ts';

export interface ExecutionDeps {
  readonly deps: SubagentDeps;
  /** Absent for calls of a tool in the background, which take no slot. */
  readonly pool?: Pool;
  readonly registry: RunRegistry;
  readonly emit: Emit;
}

/** Result of a run that continues at a worker while this process ends. */
const LEFT: RunResult = {outcome: 'stopped', ...NO_TOTALS};
/** Status codes by which a server says that it is overloaded. */
const OVERLOADED = new Set(['429', '529']);
/** Milliseconds between updates of the record's last activity while text streams in. */
const UPDATE_EVERY_MS = 250;

/** Executes a run. Never rejects: failures are outcomes. @param round its prompt is already in the history */
export async function executeRun(
  live: LiveRun,
  round: RunRound,
  execution: ExecutionDeps & {readonly pool: Pool},
): Promise<SubagentResult> {
  const {runId} = live;
  const {pool, registry} = execution;
  const before = registry.get(runId)!;
  const emit = updateRecord(before, execution, round.budget);
  const leaving = goesAway(live, round, pool, execution.deps);
  const isRemote = typeof leaving === 'boolean' ? leaving : await leaving;
  const queued = isRemote || pool.isFull;
  emitStart(live, round, queued, emit);
  if (queued) live.transcript.park();
  const begin = () => {
    registry.update(runId, {startedAt: Date.now()});
    if (registry.get(runId)?.state === 'created') {
      registry.update(runId, {state: 'processing'});
      emit({type: 'run_state', state: 'processing'});
    }
    if (queued) {
      live.history.recordBegan();
      emit({type: 'run_active'});
    }
  };
  if (isRemote) return executeRemotely(live, round, execution, {before, emit, begin});
  return pool.run({id: runId, background: before.background, signal: live.signal}, async () => {
    begin();
    const work = async () => {
      const workplace = await openWorkplace(live, round.agent, execution.deps, emit);
      const run = await createRun(live, round, workplace, execution.deps, emit);
      const bash = execution.deps.baseTools.find(({name}) => name === 'bash');
      // The parts of a fan-out are verified together.
      const isVerified = bash && round.agent.name === AGENT_TYPES.code!.name && !live.spec.scope;
      const {around, verifier} = execution.deps;
      const runIt = () => (isVerified ? runVerified(run, verifier, bash) : runAgent(run));
      const result = await (around ? around(run, runIt) : runIt());
      return workplace.leave(withWarnings(result, round.warnings));
    };
    const ended = await runToEnd(live, work, before, execution, emit);
    if (ended.result.outcome === 'success') pool.endedWell();
    return ended;
  });
}

/**
 * Says whether a run leaves this machine. With `auto` it does when it would wait here and a worker is there. Only that
 * is awaited: of runs that begin together, the first ones take the slots at once and the others see that.
 */
function goesAway({spec: {where}}: LiveRun, {isPending = false}: RunRound, pool: Pool, {remote}: SubagentDeps) {
  if (isPending || where === 'workers') return true;
  return where === 'auto' && pool.isFull && remote ? remote.isServed() : false;
}

/** Executes a run at a worker. It takes no slot here, because the worker has its own. */
async function executeRemotely(
  live: LiveRun,
  round: RunRound,
  execution: ExecutionDeps,
  {before, emit, begin}: {readonly before: RunRecord; readonly emit: Emit; readonly begin: () => void},
): Promise<SubagentResult> {
  const {runId} = live;
  let hasBegun = false;
  const begun = (worker: string) => {
    if (!hasBegun) begin();
    hasBegun = true;
    execution.registry.update(runId, {worker});
    emit({type: 'run_place', worker});
  };
  let acknowledge: (() => Promise<void>) | undefined;
  const work = async () => {
    const ended = await workRemotely(live, round, execution.deps, emit, begun);
    acknowledge = ended?.acknowledge;
    if (round.isPending) for (const text of round.warnings ?? []) emit({type: 'notice', level: 'warning', text});
    return ended && {...ended, result: withWarnings(ended.result, round.warnings)};
  };
  const ended = await runToEnd(live, work, before, execution, emit);
  await acknowledge?.();
  return ended;
}

/**
 * Executes a call of the main agent that continues in the background. Never rejects.
 * @param output file for its output
 */
export async function executeBackgroundCall(
  live: LiveRun,
  call: BackgroundCall,
  output: string,
  execution: ExecutionDeps,
): Promise<SubagentResult> {
  const {runId} = live;
  const {registry, deps} = execution;
  const emit = updateRecord(registry.get(runId)!, execution);
  emit({type: 'run_start', ...live.spec, queued: false});
  const before = registry.update(runId, {state: 'processing', startedAt: Date.now()})!;
  emit({type: 'run_state', state: 'processing'});
  const work = async () => {
    const result = await runCall(live, call, output, emit);
    return {result, receipt: makeReceipt(result, deps.workspace.root)};
  };
  return runToEnd(live, work, before, execution, emit);
}

function emitStart({spec, round}: LiveRun, {prompt}: RunRound, queued: boolean, emit: Emit): void {
  emit({type: 'run_start', ...spec, queued, ...(round > 1 && {round})});
  // A run that an earlier process sent to a worker already has its prompt in its transcript.
  if (prompt !== '') emit({type: 'message', role: 'user', content: prompt});
}

/** Runs the work, records its end and publishes it. Every line of the transcript is on disk before it is published. */
async function runToEnd(
  live: LiveRun,
  work: () => Promise<{readonly result: RunResult; readonly receipt: Receipt} | undefined>,
  before: RunRecord,
  {deps, registry}: ExecutionDeps,
  emit: Emit,
): Promise<SubagentResult> {
  const toReceipt = (result: RunResult) => makeReceipt(result, deps.workspace.root);
  let ended: {readonly result: RunResult; readonly receipt: Receipt};
  try {
    const worked = await work();
    if (!worked) {
      await live.transcript.close();
      return toResult(live, LEFT, toReceipt(LEFT), deps);
    }
    ended = worked;
    // From here on the run cannot be sent to the background.
    live.isEnding = true;
    const {background = before.background, worker} = registry.get(live.runId) ?? {};
    const {text, durationMs} = worked.result;
    live.history.recordEnd({
      ...getEndFacts(worked.result, worked.receipt, before),
      text,
      durationMs: Math.round(durationMs),
      background,
      round: before.round,
      ...(worker !== undefined && {worker}),
    });
    await closeTranscript(live, deps, emit);
  } catch (error) {
    // The error that prevented writing may also prevent closing. The first one is reported.
    await live.transcript.close().catch(() => undefined);
    const result = createInternalError(error);
    ended = {result, receipt: toReceipt(result)};
  }
  const {result, receipt} = ended;
  const subagentResult = toResult(live, result, receipt, deps);
  publishEnd(live.runId, result, getEndFacts(result, receipt, before), registry, emit);
  return subagentResult;
}

/** The fields of an end that record and transcript share. The sums include the tokens of calls that were cut off. */
function getEndFacts(result: RunResult, receipt: Receipt, before: RunRecord) {
  const {outcome, tools} = result;
  const reason = formatReason(result);
  const lastTool = tools.at(-1)?.tool ?? before.lastTool;
  return {
    outcome,
    ...(reason !== '' && {reason}),
    receipt: receipt.line,
    tools: before.tools + tools.length,
    ...(lastTool !== undefined && {lastTool}),
    ...addUsed(before, result),
  };
}

/**
 * Waits while the disk is full, so that the end is on disk before it is published. If that fails, because the run is
 * stopped or the disk fails, the user gets a notice and the result stays valid. Never rejects.
 */
async function closeTranscript(
  {history, transcript, signal}: LiveRun,
  {clock}: SubagentDeps,
  emit: Emit,
): Promise<void> {
  try {
    await waitUntilWritten({history, emit, clock, signal});
  } catch {
    // Closing fails for the same reason and reports it.
  }
  try {
    await transcript.close();
  } catch (error) {
    emit({type: 'notice', level: 'error', text: getErrorMessage(error)});
  }
}

/** @throws UsageError when the agent's output schema is not a JSON Schema */
async function createRun(
  live: LiveRun,
  round: RunRound,
  workplace: Workplace,
  deps: SubagentDeps,
  emit: Emit,
): Promise<AgentRun> {
  const {agent, model, limits, budget} = round;
  const {outputSchema} = agent;
  const answerSchema = outputSchema && (await compileAnswerSchema(outputSchema, `outputSchema of ${agent.name}`));
  const {workspace, promptContext, label} = workplace;
  const own = deps.createAgentHooks?.(agent);
  const permits = own ? {...deps.permits, beforeCall: own.beforeCall, answerCall: own.answerCall} : deps.permits;
  const warn = (text: string) => emit({type: 'notice', level: 'warning', text});
  const prompt = live.spec.scope ? partPrompt : createAgentPrompt(agent, deps.getSkill ?? (() => undefined), warn);
  return {
    agentId: live.runId,
    agentType: agent.name,
    label,
    tools: getTools(agent, deps.baseTools, deps.toolRules, workspace.notes),
    // The parts of a fan-out may write only their files, so they get no tools of servers.
    moreTools: live.spec.scope ? undefined : deps.createToolSource?.(agent),
    workspace,
    files: createFileLedger(deps.writeLog, label),
    checkpoints: deps.checkpoints,
    output: live.transcript.output,
    budget,
    permit: createPermit(permits, label, workspace, emit, {...agent, runId: live.runId}),
    emit,
    model,
    system: `${createSystemPrompt(prompt, promptContext)}\n\n${answerSchema ? ANSWER_PROMPT : `Your last message: at most ${deps.resultTokens} tokens.`}`,
    answerSchema,
    history: live.history,
    inbox: live.inbox,
    limits,
    clock: deps.clock,
    signal: live.signal,
    rawStream: deps.rawStream,
    summaryModel: deps.summaryModel,
    afterCall: own?.afterCall ?? deps.afterCall ?? [],
    hooks: createRunHooks(own?.hooks ?? deps.hooks, {
      id: live.runId,
      name: agent.name,
      transcript: live.transcript.transcript,
    }),
  };
}

function toResult(
  {runId, transcript: {transcript}}: LiveRun,
  result: RunResult,
  receipt: SubagentResult['receipt'],
  deps: SubagentDeps,
): SubagentResult {
  const {outcome, text} = result;
  const {turns, model} = result;
  const run = {runId, outcome, reason: formatReason(result), text, turns, model, receipt: receipt.line, transcript};
  return {runId, transcript, result, receipt, report: formatReport(run, getMaxTokens(result, deps.resultTokens))};
}

function publishEnd(
  runId: string,
  result: RunResult,
  facts: ReturnType<typeof getEndFacts>,
  registry: RunRegistry,
  emit: Emit,
): void {
  const {usage, durationMs, modelMs, turns, model, tools, warnings} = result;
  const {outcome, receipt} = facts;
  const state = getEndState(outcome);
  const endedAt = Date.now();
  const partial = outcome === 'success' || result.text === '' ? {} : {partial: result.text};
  const kept = {durationMs, modelMs, turns, model, ...partial, ...(warnings && {warnings})};
  registry.update(runId, {...facts, state, endedAt, lastAt: endedAt, result: kept});
  emit({
    type: 'run_end',
    outcome,
    reason: formatReason(result),
    receipt,
    tools: tools.length,
    durationMs,
    usage,
    ...countFiles(tools),
  });
  emit({type: 'run_state', state});
}

/**
 * Updates the run's record from each of its events, and passes the event on.
 * @param before record when the round began
 */
function updateRecord(before: RunRecord, {registry, pool, emit}: ExecutionDeps, budget?: Budget): Emit {
  const {runId} = before;
  return (event) => {
    const record = registry.get(runId);
    if (record) {
      const at = Date.now();
      if (event.type === 'tool_start') registry.update(runId, {lastTool: event.tool, lastAt: at});
      else if (event.type === 'tool_progress') registry.update(runId, {lastLines: event.text, lastAt: at});
      else if (event.type === 'tool_end') registry.update(runId, {tools: record.tools + 1, lastAt: at});
      else if (event.type === 'message' && event.role === 'assistant') {
        registry.update(runId, {...(budget && addUsed(before, budget)), lastAt: at});
      } else if (at - record.lastAt > UPDATE_EVERY_MS) registry.update(runId, {lastAt: at});
    }
    if (event.type === 'retry' && OVERLOADED.has(event.reason)) pool?.overloaded();
    emit(event);
  };
}

/** Sums what all rounds of a run have used. @param before record when the last round began */
function addUsed(
  before: Pick<RunRecord, 'usage' | 'usageByModel'>,
  round: Pick<RunRecord, 'usage' | 'usageByModel'>,
): Pick<RunRecord, 'usage' | 'usageByModel'> {
  return {
    usage: addUsage(before.usage, round.usage),
    usageByModel: addUsageByModel(before.usageByModel, round.usageByModel),
  };
}

/** Returns the base tools that the agent may have. Task is not one of them, so no subagent can dispatch. */
export function getTools(
  {tools, readOnly}: AgentDefinition,
  baseTools: readonly Tool[],
  rules: ToolRules,
  notes?: NotesPlace | undefined,
): readonly Tool[] {
  return baseTools
    .filter(
      ({name}) =>
        (tools === '*' || tools.includes(name) || notes?.tools.includes(name)) &&
        !rules.deny.includes(name) &&
        (rules.allow === undefined || rules.allow.includes(name)),
    )
    .map((tool) => (readOnly && tool.readOnlyInput ? {...tool, input: tool.readOnlyInput} : tool));
}
