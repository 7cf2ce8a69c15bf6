/**
 * From the calls in one reply to their results: find → repair → parse → permit → run → cut.
 * Every call gets exactly one result, in the order of the calls, whatever happens.
 */
import {z} from 'zod';
import type {Access} from './contract/access.ts';
import type {Emit} from './contract/events.ts';
import type {ToolResultBlock, ToolUse} from './contract/messages.ts';
import type {Model} from './contract/model.ts';
import type {Permit} from './contract/permission.ts';
import type {ToolRecord} from './contract/run-result.ts';
import type {TokenBudget, Tool, ToolContext} from './contract/tool.ts';
import type {OutputStore, ToolResult} from './contract/tool-result.ts';
import {type KeptCaller, runKept} from './kept-call.ts';
import {askOnce} from './turn/ask-once.ts';
import {cutMiddle} from './util/cut-output.ts';
import {MiniCcError, messageOf} from './util/errors.ts';
import {textOf} from './util/messages.ts';
import {toolName} from './util/tool-names.ts';
import {errorResult} from './util/tool-result.ts';

const DEFAULT_MAX_CHARS = 30_000;
const PREVIEW_CHARS = 2_000;
/** A tool has this long after an abort to return what it has; then its result is written without it. */
const ABORT_GRACE_MS = 1_000;

/** The agent on whose behalf calls run. */
export interface Caller extends KeptCaller {
  readonly tools: readonly Tool[];
  readonly output: OutputStore;
  readonly tokens: TokenBudget;
  readonly permit: Permit;
  readonly emit: Emit;
  readonly model: Model;
}

export interface CallOutcome {
  readonly block: ToolResultBlock;
  readonly record: ToolRecord;
}

/** A call that has passed all checks but permission. */
interface Prepared {
  readonly tool: Tool;
  readonly input: unknown;
  readonly title: string;
  /** By kind, for what may go side by side; paths are judged anew when it runs. */
  readonly accesses: readonly Access[];
  /** Lines before the result. */
  readonly notes: readonly string[];
}

/**
 * @param garbled calls whose input was no valid JSON, with what arrived.
 * @returns one outcome a call, in order. Never rejects.
 */
export async function runToolCalls(
  calls: readonly ToolUse[],
  caller: Caller,
  signal: AbortSignal,
  garbled: ReadonlyMap<string, string>,
): Promise<CallOutcome[]> {
  const prepared = calls.map((call) => prepare(call, caller, garbled));
  const outcomes: CallOutcome[] = [];
  for (const group of groupForOrder(prepared)) {
    const ended = group.map((index) => runOne(calls[index]!, prepared[index]!, caller, signal));
    outcomes.push(...(await Promise.all(ended)));
  }
  return outcomes;
}

/** Results for calls that must not run, e.g. in a reporting turn. */
export function refuseAll(calls: readonly ToolUse[], words: string): CallOutcome[] {
  return calls.map((call) => ({
    block: {type: 'tool_result', tool_use_id: call.id, content: words, is_error: true},
    record: {tool: call.name, isError: true, facts: {}},
  }));
}

function prepare(call: ToolUse, caller: Caller, garbled: ReadonlyMap<string, string>): Prepared | ToolResult {
  const raw = garbled.get(call.id);
  if (raw !== undefined) {
    return errorResult(
      `The input of ${call.name} is no valid JSON: ${JSON.stringify(raw.slice(0, 200))}. Nothing was run; send the call again, complete.`,
    );
  }
  const tool = caller.tools.find(({name}) => name === call.name || name === toolName(call.name));
  if (!tool) {
    const names = caller.tools.map((candidate) => candidate.name).join(', ');
    return errorResult(`${call.name} is not a tool of this agent; nothing was run. Its tools: ${names}`);
  }
  try {
    const repaired = tool.repair?.(call.input) ?? {input: call.input, notes: []};
    const parsed = tool.input.safeParse(repaired.input);
    if (!parsed.success) return errorResult(`Invalid input for ${tool.name}:\n${z.prettifyError(parsed.error)}`);
    const accesses = tool.access(parsed.data, caller.workspace);
    const notes = [
      ...(repaired.notes.length > 0 ? [`Repaired: ${repaired.notes.join('; ')}`] : []),
      // Task has mended its input already, and names what it took.
      ...(tool.repair ? [] : unknownKeys(tool, repaired.input)),
    ];
    return {tool, input: parsed.data, title: tool.title(parsed.data), accesses, notes};
  } catch (error) {
    return errorResult(messageOf(error));
  }
}

/** What a model sent beside the parameters is told to it: it thinks that it counts. */
function unknownKeys(tool: Tool, input: unknown): string[] {
  if (!(tool.input instanceof z.ZodObject) || typeof input !== 'object' || input === null) return [];
  const {shape} = tool.input;
  const unknown = Object.keys(input).filter((key) => !Object.hasOwn(shape, key));
  return unknown.length > 0 ? [`Ignored: ${unknown.join(', ')} (no parameters of ${tool.name})`] : [];
}

function isResult(value: Prepared | ToolResult): value is ToolResult {
  return 'content' in value;
}

/** Neighbours that only read or dispatch go side by side; what writes or runs goes alone, in its place. */
function groupForOrder(prepared: readonly (Prepared | ToolResult)[]): number[][] {
  const groups: number[][] = [];
  let sideBySide = false;
  for (const [index, call] of prepared.entries()) {
    const quiet = isResult(call) || call.accesses.every((access) => access.kind !== 'write' && access.kind !== 'run');
    if (quiet && sideBySide) groups.at(-1)?.push(index);
    else groups.push([index]);
    sideBySide = quiet;
  }
  return groups;
}

async function runOne(
  call: ToolUse,
  prepared: Prepared | ToolResult,
  caller: Caller,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const startedAt = performance.now();
  const title = isResult(prepared) ? '' : prepared.title;
  caller.emit({type: 'tool_start', callId: call.id, tool: call.name, title});
  const used: NonNullable<ToolRecord['used']>[number][] = [];
  const ask: ToolContext['ask'] = async (question) => {
    const {left} = caller.tokens;
    const limits = left === Number.POSITIVE_INFINITY ? {} : {maxOutputTokens: left};
    const {usage, model, content} = await askOnce(caller.model, {...question, ...limits}, signal);
    caller.tokens.spend(usage);
    used.push({usage, model});
    return textOf(content);
  };
  const result = await resultOf(call, prepared, caller, signal, ask);
  const content = cut(result.content, isResult(prepared) ? undefined : prepared.tool.maxChars, caller.output, call.id);
  const isError = result.isError ?? false;
  caller.emit({
    type: 'tool_end',
    callId: call.id,
    tool: call.name,
    isError,
    preview: textOf(content ?? '').slice(0, PREVIEW_CHARS),
    ...(result.display ? {display: result.display} : {}),
    durationMs: performance.now() - startedAt,
  });
  return {
    block: {type: 'tool_result', tool_use_id: call.id, content: content ?? '', ...(isError ? {is_error: true} : {})},
    record: {tool: call.name, isError, facts: result.facts ?? {}, ...(used.length > 0 ? {used} : {})},
  };
}

async function resultOf(
  call: ToolUse,
  prepared: Prepared | ToolResult,
  caller: Caller,
  signal: AbortSignal,
  ask: ToolContext['ask'],
): Promise<ToolResult> {
  if (isResult(prepared)) return prepared;
  if (signal.aborted) return errorResult(`Not run: ${messageOf(signal.reason)}.`);
  try {
    // Judged where it runs: a call before it in the same reply may have moved the working directory.
    const accesses = prepared.tool.access(prepared.input, caller.workspace);
    const permission = await caller.permit(
      {callId: call.id, tool: prepared.tool.name, input: prepared.input, title: prepared.title, accesses},
      signal,
    );
    if (!permission.allowed) return errorResult(permission.message);
    if (signal.aborted) return errorResult(`Not run: ${messageOf(signal.reason)}.`);
    const {agentId, workspace, files, output, tokens, emit} = caller;
    const permitted = permission.as && {permitted: permission.as};
    const context = {agentId, callId: call.id, signal, workspace, files, output, tokens, emit, ask, ...permitted};
    const result = await runKept(accesses, caller, signal, () =>
      orAfterAbort(prepared.tool.run(prepared.input, context), signal),
    );
    if (prepared.notes.length === 0) return result;
    return {...result, content: withFirstLine(prepared.notes.join('\n'), result.content)};
  } catch (error) {
    if (error instanceof MiniCcError) return errorResult(error.message);
    return errorResult(`${prepared.tool.name} failed: ${messageOf(error)}`);
  }
}

/** The tool's own result; when it does not heed an abort, one that says so. */
async function orAfterAbort(running: Promise<ToolResult>, signal: AbortSignal): Promise<ToolResult> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const abandoned = new Promise<ToolResult>((resolve) => {
    onAbort = () => {
      timer = setTimeout(() => resolve(errorResult(`Cut off: ${messageOf(signal.reason)}.`)), ABORT_GRACE_MS);
    };
    signal.addEventListener('abort', onAbort, {once: true});
  });
  try {
    return await Promise.race([running, abandoned]);
  } finally {
    clearTimeout(timer);
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
}

function withFirstLine(line: string, content: ToolResult['content']): ToolResult['content'] {
  if (typeof content === 'string') return `${line}\n${content}`;
  return [{type: 'text', text: line}, ...(content ?? [])];
}

function cut(
  content: ToolResult['content'],
  maxChars: number = DEFAULT_MAX_CHARS,
  output: OutputStore,
  callId: string,
): ToolResult['content'] {
  if (typeof content !== 'string' || content.length <= maxChars) return content;
  try {
    const file = output.open(callId);
    file.write(content);
    file.close();
    return cutMiddle(content, maxChars, file.path);
  } catch (error) {
    // A full disk must not take the result with it.
    return cutMiddle(content, maxChars, `could not be kept: ${messageOf(error)}`);
  }
}
