/**
 * Runs a command that the main agent calls in the background. It is a run without an agent: it has a record, a
 * transcript, an end that is announced, and a file for its output.
 */
import {randomUUID} from 'node:crypto';
import type {Emit} from '../contract/events.ts';
import type {OutputStore, RunResult, ToolResult} from '../contract/results.ts';
import type {RunSpec} from '../contract/run-spec.ts';
import type {RunStore} from '../contract/runs.ts';
import {withLaterFacts} from '../turn/checkpointed-call.ts';
import type {BackgroundCall} from '../turn/foreground-call.ts';
import {formatTimeout, NO_TOTALS} from '../turn/run-ending.ts';
import {getErrorMessage} from '../util/errors.ts';
import {getText} from '../util/messages.ts';
import type {LiveRun} from './live-run.ts';
import {describeInBackground, formatRunTitle} from './progress-line.ts';
import type {RunRegistry} from './registry.ts';
import {type OpenedRun, openRun} from './run-record.ts';

/** Number of lines of the output that the announcement shows at most. */
const MAX_LINES = 20;
const MAX_CHARS = 2_000;

interface OpenedCall extends OpenedRun {
  /** File that the output is written to. */
  readonly output: string;
}

/**
 * Creates the record of the call, which survives a crash once this returns.
 * @param given file of a call that is at work already
 * @throws Error when it cannot be written
 */
export function openCall(store: RunStore, registry: RunRegistry, call: BackgroundCall, given?: string): OpenedCall {
  const {callId, tool, title} = call;
  const runId = randomUUID();
  const spec: RunSpec = {
    runId,
    agent: tool,
    description: title,
    model: '',
    background: true,
    cleanup: 'keep',
    callId,
    tool,
  };
  const opened = openRun(store, registry, spec, JSON.stringify(call.input));
  const output = given ?? createFile(opened.transcript.output, callId);
  registry.update(runId, {output});
  return {...opened, output};
}

/** The file exists from the start because the model receives its path. */
function createFile(output: OutputStore, callId: string): string {
  const file = output.open(callId);
  file.close();
  return file.path;
}

const SENT = 'The user sent this command to the background, where it goes on. Its end is announced.';

/**
 * Returns the result that the model and the person see at once.
 * @param isSent true when a person sent the call to the background
 */
export function formatStarted(
  {tool, title}: BackgroundCall,
  {spec: {runId}, output}: OpenedCall,
  isSent: boolean,
): ToolResult {
  const text = describeInBackground({agent: tool, description: title});
  const content = JSON.stringify({status: 'accepted', runId, output, ...(isSent && {note: SENT})});
  return {content, display: {type: 'text', text}, background: 'starts'};
}

/** Carries out the call. Never rejects. */
export async function runCall(live: LiveRun, call: BackgroundCall, output: string, emit: Emit): Promise<RunResult> {
  const {runId: agentId, transcript, signal} = live;
  const {callId, tool, title, startedAt = performance.now()} = call;
  emit({type: 'tool_start', callId, tool, title});
  let result: ToolResult;
  try {
    const label = formatRunTitle({agent: tool, description: title});
    result = await call.run({agentId, label, output: transcript.output, emit}, signal);
  } catch (error) {
    result = {content: `${tool} failed: ${getErrorMessage(error)}`, isError: true};
  }
  const {isError = false, facts = {}, laterFacts} = result;
  const durationMs = performance.now() - startedAt;
  const text = getText(result.content ?? '');
  const ended = `${getLastLines(text)}\n\nThe whole output: ${output}`;
  // `/subagents log` shows this message.
  live.history.append({role: 'assistant', content: [{type: 'text', text: ended, citations: null}]});
  emit({type: 'tool_end', callId, tool, isError, preview: getLastLines(text), durationMs});
  return {
    ...NO_TOTALS,
    text: ended,
    tools: [await withLaterFacts({tool, isError, facts, laterFacts})],
    durationMs,
    ...getOutcome(result, signal),
  };
}

function getOutcome({isError, facts = {}, content}: ToolResult, signal: AbortSignal) {
  if (signal.aborted) return {outcome: 'stopped'} as const;
  if (!isError) return {outcome: 'success'} as const;
  if (facts.timedOut !== undefined) return {outcome: 'timeout', timeout: formatTimeout(facts.timedOut)} as const;
  const why = facts.exitCode === undefined ? getText(content ?? '').split('\n')[0]! : `exit code ${facts.exitCode}`;
  return {outcome: 'error', code: 'COMMAND_FAILED', error: why} as const;
}

function getLastLines(text: string): string {
  const lines = text.trimEnd().split('\n');
  const last = lines.slice(-MAX_LINES).join('\n').slice(-MAX_CHARS).toWellFormed();
  return last.length < text.trimEnd().length ? `…\n${last}` : last;
}
