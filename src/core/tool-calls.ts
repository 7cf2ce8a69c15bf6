/**
 * Turns the calls of one reply into results, in four stages, each named for what it produces:
 *
 * 1. `prepareCall` finds the tool, repairs and parses the input.
 * 2. `decideCall` asks the permit for one `CallDecision`. It covers hooks, mode, rules, sandbox and question. What one of
 *    them changed in the input is what is shown and recorded, and the result names it.
 * 3. `executeCall` makes the attempts of the decision in their order, each with its checkpoint and its launch.
 * 4. `finishCall` cuts the result, emits `tool_end`, and makes the record for the receipt.
 *
 * Every call gets exactly one result, in the order of the calls, even after errors, refusals and an abort.
 */
import {randomUUID} from 'node:crypto';
import type {Emit} from './contract/events.ts';
import type {Model, ToolResultBlock, ToolUse} from './contract/model.ts';
import type {
  Access,
  AllowedCall,
  CallDecision,
  CallOpinion,
  Permit,
  PermitRequest,
  Workspace,
} from './contract/permission.ts';
import type {OutputStore, ToolRecord, ToolResult} from './contract/results.ts';
import type {AfterCall, Budget, RunCalls, Tool, ToolContext} from './contract/tool.ts';
import type {CallShown, CallsShown} from './contract/transcript.ts';
import {
  type CheckpointedCaller,
  notRun,
  runCheckpointed,
  withAbortGrace,
  withLaterFacts,
} from './turn/checkpointed-call.ts';
import {type BackgroundCalls, runInForeground} from './turn/foreground-call.ts';
import {type Account, askModel} from './turn/model-request.ts';
import {type CallableTools, type PreparedCall, prepareCall} from './turn/prepared-call.ts';
import type {SeenCall} from './turn/progress-guard.ts';
import {getErrorMessage, MiniCcError} from './util/errors.ts';
import {getText} from './util/messages.ts';
import {toFields} from './util/objects.ts';
import {cutEnd} from './util/text.ts';
import {cutContent, cutPreview, errorResult, REFUSED, WatchedOutput} from './util/tool-output.ts';

/** Milliseconds that a tool has after an abort to return what it has. The call then gets a result without it. */
const ABORT_GRACE_MS = 1_000;

/** The agent on whose behalf calls run. */
export interface Caller extends CheckpointedCaller, CallableTools {
  readonly workspace: Workspace;
  readonly output: OutputStore;
  readonly budget: Budget;
  readonly permit: Permit;
  /** Time limit, which is paused while a person is asked about a call. */
  readonly deadline?: PermitRequest['deadline'];
  /** Hooks that see each result. */
  readonly afterCall?: readonly AfterCall[];
  readonly emit: Emit;
  readonly model: Model;
  /** Name of the agent when it is a subagent. */
  readonly agentType?: string;
  /** Only for the main agent: runs calls that continue after the turn. */
  readonly background?: BackgroundCalls;
}

interface CallOutcome {
  readonly block: ToolResultBlock;
  /** Absent for a call that no front end saw. */
  readonly shown?: CallShown;
  readonly record: ToolRecord;
  /** Records of the calls that the tool made itself. */
  readonly inner?: readonly ToolRecord[];
  /** Reason why a hook ends the run. */
  readonly stops?: string | undefined;
  /** Absent for a call that was refused. */
  readonly seen?: SeenCall;
}

/** Collects what a person saw of calls, by their ids, for the transcript line of their results. */
export function getCallsShown(outcomes: readonly CallOutcome[]): CallsShown {
  return Object.fromEntries(outcomes.flatMap(({block, shown}) => (shown ? [[block.tool_use_id, shown]] : [])));
}

/** Creates a call that no model made: a person typed it, or the runtime makes it for them. */
export function createTypedCall(name: string, input: Readonly<Record<string, unknown>>): ToolUse {
  const id = `toolu_typed_${randomUUID().replaceAll('-', '')}`;
  return {type: 'tool_use', id, name, input, caller: {type: 'direct'}};
}

/** Makes a call that no model made, and waits for all facts about it. Never rejects. */
export async function runTypedCall(
  name: string,
  input: Readonly<Record<string, unknown>>,
  caller: Caller,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const [outcome] = await runToolCalls([createTypedCall(name, input)], caller, signal);
  return {...outcome!, record: await withLaterFacts(outcome!.record)};
}

/**
 * Runs calls. Never rejects. Some facts about the calls come later than their outcomes.
 * @param badInputs problems of inputs that cannot be parsed, by the id of the call, e.g. `is no valid JSON: "{"`
 * @returns one outcome for each call, in order
 */
export async function runToolCalls(
  calls: readonly ToolUse[],
  caller: Caller,
  signal: AbortSignal,
  badInputs: ReadonlyMap<string, string> = new Map(),
): Promise<CallOutcome[]> {
  const prepared = calls.map((call) => prepareCall(call, caller, badInputs.get(call.id)));
  const outcomes: CallOutcome[] = [];
  for (const group of groupForOrder(prepared)) {
    if (outcomes.some(({stops}) => stops !== undefined)) {
      const left = group.map((index) => calls[index]!);
      outcomes.push(...refuseCalls(left, 'Not run: a hook has ended this run.'));
      continue;
    }
    const ended = group.map((index) => runCall(calls[index]!, prepared[index]!, caller, signal));
    outcomes.push(...(await Promise.all(ended)));
  }
  return outcomes;
}

/** Creates the function by which the runtime and tools make calls for an agent. @param made gets their records */
export function createRunCalls(caller: Caller, signal: AbortSignal, made: ToolRecord[] = []): RunCalls {
  return async (calls) => {
    const outcomes = await runToolCalls(calls, caller, signal);
    made.push(...outcomes.map(({record}) => record));
    return outcomes.map(({block}) => block);
  };
}

/** Creates results for calls that must not run, e.g. in a reporting turn. */
export function refuseCalls(calls: readonly ToolUse[], words: string): CallOutcome[] {
  return calls.map((call) => ({
    block: {type: 'tool_result', tool_use_id: call.id, content: words, is_error: true},
    record: {tool: call.name, isError: true, facts: {}},
  }));
}

function isResult(value: PreparedCall | DecidedCall | ToolResult): value is ToolResult {
  return 'content' in value;
}

const CHANGES: readonly Access['kind'][] = ['write', 'run', 'mcp'];

/**
 * Groups calls. Adjacent calls that only read or dispatch run side by side. A call that writes or runs a command runs
 * alone.
 */
function groupForOrder(prepared: readonly (PreparedCall | ToolResult)[]): number[][] {
  const groups: number[][] = [];
  let sideBySide = false;
  for (const [index, call] of prepared.entries()) {
    const quiet = isResult(call) || call.accesses.every(({kind}) => !CHANGES.includes(kind));
    if (quiet && sideBySide) groups.at(-1)?.push(index);
    else groups.push([index]);
    sideBySide = quiet;
  }
  return groups;
}

async function runCall(
  call: ToolUse,
  prepared: PreparedCall | ToolResult,
  caller: Caller,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const {tool, title, purpose} = isResult(prepared) ? {tool: undefined, title: '', purpose: undefined} : prepared;
  const output = new WatchedOutput(caller.output);
  const course = {tool, title, purpose, used: [], inner: [], startedAt: performance.now(), output};
  emitStart(call, course, caller);
  const result = isResult(prepared) ? prepared : await getResult(call, prepared, caller, signal, course);
  return finishCall(call, result, caller, course);
}

function emitStart({id: callId, name: tool}: ToolUse, {title, purpose}: CallCourse, {emit}: Caller): void {
  emit({type: 'tool_start', callId, tool, title, description: purpose});
}

async function getResult(
  call: ToolUse,
  prepared: PreparedCall,
  caller: Caller,
  signal: AbortSignal,
  course: CallCourse,
): Promise<ToolResult> {
  if (signal.aborted) return notRun(signal);
  try {
    const decided = await decideCall(call, prepared, caller, signal, course);
    course.startedAt = performance.now();
    if (isResult(decided)) return decided;
    if (signal.aborted) return notRun(signal);
    let result = await execute(call, decided, caller, signal, course);
    for (const hook of caller.afterCall ?? []) result = await hook(decided.request, result, signal);
    return withNotes(decided.prepared, result);
  } catch (error) {
    return withNotes(prepared, errorResult(formatFailure(prepared.tool, error)));
  }
}

/** Runs an allowed call. What the tool throws is a result, which hooks see as any other. */
async function execute(
  call: ToolUse,
  decided: DecidedCall,
  caller: Caller,
  signal: AbortSignal,
  course: CallCourse,
): Promise<ToolResult> {
  const {prepared} = decided;
  try {
    if (prepared.isBackground) return startInBackground(call, decided, caller);
    return await runAwaited(call, decided, caller, signal, course);
  } catch (error) {
    const isRefused = error instanceof MiniCcError && error.code === 'NOT_STARTED';
    return errorResult(formatFailure(prepared.tool, error), isRefused ? {isRefused} : {});
  }
}

interface DecidedCall {
  readonly prepared: PreparedCall;
  readonly request: PermitRequest;
  readonly decision: AllowedCall;
}

/**
 * Decides on a call. A hook or an answer may change the input. The call is then prepared, shown and decided again, once.
 */
async function decideCall(
  call: ToolUse,
  prepared: PreparedCall,
  caller: Caller,
  signal: AbortSignal,
  course: CallCourse,
): Promise<DecidedCall | ToolResult> {
  const request = await createRequest(call, prepared, caller, signal);
  const decision = await caller.permit(request, signal);
  if (decision.verdict !== 'changed') return toDecided(prepared, request, decision);
  const {input, opinion} = decision;
  const again = prepareCall({...call, input}, caller);
  const notes = describeChange(prepared.input, isResult(again) ? input : again.input, opinion);
  if (isResult(again)) return withNotes({notes}, again);
  if (again.title !== prepared.title) {
    // The model described what it asked for, not what runs now.
    const purpose = again.purpose === prepared.purpose ? undefined : again.purpose;
    Object.assign(course, {title: again.title, purpose});
    emitStart(call, course, caller);
  }
  const changed = {...(await createRequest(call, again, caller, signal)), changed: opinion};
  const decided = toDecided(again, changed, await caller.permit(changed, signal));
  if (isResult(decided)) return withNotes({notes}, decided);
  return {...decided, prepared: {...again, notes: [...notes, ...again.notes]}};
}

/** Characters of a value in the note about a changed input. */
const MAX_CHANGED_CHARS = 1_000;

/** Returns the line that tells the model what was changed in its input; no line when the values are the same. */
function describeChange(before: unknown, after: unknown, {by}: CallOpinion): readonly string[] {
  const [old, now] = [toFields(before), toFields(after)];
  const changes = [...new Set([...Object.keys(now), ...Object.keys(old)])].flatMap((key) => {
    const value = JSON.stringify(now[key]);
    if (value === JSON.stringify(old[key])) return [];
    if (value === undefined) return [`${key} was removed`];
    return [`${key} is now ${cutEnd(value, MAX_CHANGED_CHARS)}`];
  });
  if (changes.length === 0) return [];
  return [`${by === 'person' ? 'The user' : 'A hook'} changed the input of this call: ${changes.join(', ')}`];
}

async function createRequest(
  call: ToolUse,
  {tool, input, title}: PreparedCall,
  caller: Caller,
  signal: AbortSignal,
): Promise<PermitRequest> {
  const {workspace, files, background, checkpoints, deadline} = caller;
  const outlivesTurn = background !== undefined;
  const findProblem = async (places: readonly string[]) => {
    try {
      return await tool.findProblem?.(input, {workspace, files, places, signal, outlivesTurn});
    } catch (error) {
      return formatFailure(tool, error);
    }
  };
  // Paths are resolved here, because an earlier call of the same reply may have changed the working directory.
  const further = await tool.findAccess?.(input, workspace, signal);
  const accesses = [...tool.access(input, workspace), ...(further ?? [])];
  const {agentId: id, agentType: type} = caller;
  // The changes of a worktree need no checkpoint.
  const hasCheckpoint = !workspace.copyOf && accesses.some(({kind}) => kind === 'run');
  return {
    callId: call.id,
    tool: tool.name,
    input,
    title,
    accesses,
    workspace,
    subagent: type === undefined ? undefined : {id, type},
    findProblem: tool.findProblem && findProblem,
    deadline,
    onAsked: hasCheckpoint ? () => checkpoints.prepare() : undefined,
  };
}

function formatFailure(tool: Tool, error: unknown): string {
  return error instanceof MiniCcError ? error.message : `${tool.name} failed: ${getErrorMessage(error)}`;
}

function toDecided(prepared: PreparedCall, request: PermitRequest, decision: CallDecision): DecidedCall | ToolResult {
  if (decision.verdict === 'allow') return {prepared, request, decision};
  if (decision.verdict === 'changed') return errorResult('Not run: its input was changed twice.');
  const {message, stops, byPerson} = decision;
  return errorResult(message, {stops, ...(byPerson && {summary: REFUSED})});
}

function createContext(
  call: ToolUse,
  caller: Caller,
  signal: AbortSignal,
  {used, inner, output}: Pick<ToolContext, 'output'> & Pick<CallCourse, 'used' | 'inner'>,
): Omit<ToolContext, 'attempt' | 'places'> {
  const {agentId, workspace, files, budget, emit} = caller;
  const ask: ToolContext['ask'] = async (question) => {
    const onUsage: Account['onUsage'] = (usage, model) => {
      used.push({usage, model});
    };
    return getText((await askModel(caller.model, question, signal, {budget, onUsage})).content);
  };
  const outlivesTurn = caller.background !== undefined;
  // A `cd` of such a call must not change the agent's folder while other calls run beside it.
  const runCalls: RunCalls = (calls) => createRunCalls({...caller, workspace: {...workspace}}, signal, inner)(calls);
  return {agentId, callId: call.id, signal, outlivesTurn, workspace, files, output, emit, ask, runCalls};
}

/** Starts a call in the background, in its own workspace, so that it does not change the agent's working directory. */
function startInBackground(call: ToolUse, {prepared, decision}: DecidedCall, caller: Caller): ToolResult {
  const {tool, title, input} = prepared;
  return caller.background!.start({
    callId: call.id,
    tool: tool.name,
    title,
    input,
    run(by, signal) {
      const own = {...caller, ...by, workspace: {...caller.workspace}};
      return executeCall(
        prepared,
        decision,
        createContext(call, own, signal, {used: [], inner: [], output: own.output}),
        own,
      );
    },
  });
}

/** Runs a call that the agent waits for. A call that could have begun in the background may be sent there. */
async function runAwaited(
  call: ToolUse,
  {prepared, decision}: DecidedCall,
  caller: Caller,
  signal: AbortSignal,
  course: CallCourse,
): Promise<ToolResult> {
  const {background, workspace} = caller;
  const {tool, title, input} = prepared;
  const context = createContext(call, caller, signal, course);
  if (!background || !tool.isBackground) return executeCall(prepared, decision, context, caller);
  // A call that ends in the background must not change the agent's folder, so it gets a copy of the workspace.
  const own = {...workspace};
  const about = {callId: call.id, tool: tool.name, title, input};
  const foreground = {background, emit: caller.emit, output: course.output, signal};
  const result = await runInForeground(about, foreground, (more) =>
    executeCall(prepared, decision, {...context, ...more, workspace: own}, caller),
  );
  if (result.background !== 'starts') workspace.cwd = own.cwd;
  return result;
}

/** Makes the attempts in their order until confinement does not stop one. */
async function executeCall(
  {tool, input}: PreparedCall,
  {places, writes, mayRead, attempts}: AllowedCall,
  context: Omit<ToolContext, 'attempt' | 'places'>,
  caller: Caller,
): Promise<ToolResult> {
  const {signal, workspace} = context;
  const {cwd} = workspace;
  let result: ToolResult = notRun(signal);
  for (const attempt of attempts) {
    // Each attempt starts in the directory of the first one.
    workspace.cwd = cwd;
    const attemptContext: ToolContext = {...context, attempt, places, mayRead};
    const run = (mayBegin?: Promise<boolean>) =>
      withAbortGrace(tool.run(input, {...attemptContext, mayBegin}), signal, async (grace) => {
        await grace(ABORT_GRACE_MS);
        return errorResult(`Cut off: ${getErrorMessage(signal.reason)}.`);
      });
    const work = async (mayBegin: Promise<boolean>) => {
      if (tool.preparesAhead) return run(mayBegin);
      return (await mayBegin) ? run() : notRun(signal);
    };
    result = attempt.checkpoint ? await runCheckpointed(writes, caller, signal, work) : await run();
    if (!result.confinementHit || signal.aborted) break;
  }
  return result;
}

/** Facts about a call at its end, besides its result. */
interface CallCourse {
  /** Undefined when the call could not be prepared. */
  readonly tool: Tool | undefined;
  /** Title and purpose are those of the changed call when a hook or an answer changed the input. */
  title: string;
  purpose: string | undefined;
  readonly used: NonNullable<ToolRecord['used']>[number][];
  readonly inner: ToolRecord[];
  /** Time when the call was allowed or refused, by a monotonic clock in milliseconds. */
  startedAt: number;
  readonly output: WatchedOutput;
}

function finishCall(call: ToolUse, result: ToolResult, caller: Caller, course: CallCourse): CallOutcome {
  const {tool, title, purpose, used, inner, startedAt, output} = course;
  const content = cutContent(result.content, tool?.maxChars, output, call.id) ?? '';
  const isError = result.isError ?? false;
  const {preview, ...came} = getPreview(result, content);
  const durationMs = Math.round(performance.now() - startedAt);
  const display = result.display && {display: result.display};
  const seen = {...came, ...display, ...(output.file !== undefined && {outputFile: output.file}), durationMs};
  caller.emit({type: 'tool_end', callId: call.id, tool: call.name, isError, preview, ...seen});
  return {
    block: {type: 'tool_result', tool_use_id: call.id, content, ...(isError ? {is_error: true} : {})},
    shown: {title, ...(purpose !== undefined && {description: purpose}), ...seen},
    record: {
      tool: call.name,
      isError,
      facts: result.facts ?? {},
      laterFacts: result.laterFacts,
      ...(used.length > 0 ? {used} : {}),
    },
    ...(inner.length > 0 && {inner}),
    stops: result.stops,
    seen: toSeenCall(call, tool, content, result, caller),
  };
}

/** Ids of runs, and durations: they differ in every report of a run. */
const CHANGING = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\b\d+(?:\.\d+)?m?s\b/g;

function toSeenCall(
  {id, name, input}: ToolUse,
  tool: Tool | undefined,
  content: ToolResultBlock['content'],
  {background, isRefused}: ToolResult,
  caller: Caller,
): SeenCall {
  const asked = JSON.stringify(input);
  const text = JSON.stringify(content).replaceAll(id, '');
  return {
    key: `${name} ${asked} ${tool?.dispatches ? text.replaceAll(CHANGING, '') : text}`,
    isValid: tool !== undefined && !isRefused,
    background: background ?? (caller.background?.isWaitedForBy(asked) ? 'waits' : undefined),
  };
}

/** Returns what a person sees of the result. @param content result as the model reads it */
function getPreview({showsEnd, summary, lines, ...result}: ToolResult, content: ToolResult['content']) {
  const shown = getText(content ?? '');
  const whole = getText(result.content ?? '');
  return {
    preview: cutPreview(shown, showsEnd),
    ...(showsEnd && {previewIsEnd: true as const}),
    ...(summary !== undefined && {summary}),
    lines: lines ?? (whole === '' ? 0 : whole.split('\n').length),
  };
}

function withNotes({notes}: Pick<PreparedCall, 'notes'>, result: ToolResult): ToolResult {
  if (notes.length === 0) return result;
  const text = notes.join('\n');
  const {content} = result;
  if (typeof content === 'string') return {...result, content: `${text}\n${content}`};
  return {...result, content: [{type: 'text', text}, ...(content ?? [])]};
}
