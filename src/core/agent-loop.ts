/** The only loop there is: ask the model, run what it calls, until it answers or something ends it. */

import type {AgentEventBody} from './contract/events.ts';
import type {Clock, Limits} from './contract/limits.ts';
import type {AssistantBlock, ToolSpec, ToolUse} from './contract/messages.ts';
import type {Model, ModelReply} from './contract/model.ts';
import type {RunResult} from './contract/run-result.ts';
import {type Caller, refuseAll, runToolCalls} from './tool-calls.ts';
import type {History} from './turn/history.ts';
import type {Inbox, QueuedMessage} from './turn/inbox.ts';
import {ToolSpecs} from './turn/model-request.ts';
import {formatTimeout, RunAborted} from './turn/run-ending.ts';
import {Deadline, isReportingTurn} from './turn/run-limits.ts';
import {type Ending, Tally} from './turn/tally.ts';
import {getErrorMessage, ModelError} from './util/errors.ts';
import {toUserMessage} from './util/messages.ts';

/** One run's arguments: made once, never changed. */
export interface AgentRun extends Caller {
  readonly system: string;
  readonly history: History;
  readonly inbox: Inbox;
  readonly limits: Limits;
  readonly clock: Clock;
  /** Aborted with a `RunAborted`; the first reason wins. */
  readonly signal: AbortSignal;
  /** Also emit the raw events of the model's stream. */
  readonly rawStream: boolean;
}

/** How often an answer cut at the output limit is asked to go on. */
const MAX_CONTINUATIONS = 3;
const GO_ON = 'Your answer was cut at the output limit. Go on exactly where it stopped, without repeating anything.';
const REPORT_NOW =
  'You have reached the limit of this run. Do not call tools: report now what you found or did, what is missing, and where (file:line).';

/** Runs until the end. Never rejects: how it ended is in the result, with all that there was by then. */
export async function runAgent(run: AgentRun): Promise<RunResult> {
  const tally = new Tally(run.clock);
  const cut = new AbortController();
  const onAbort = () => cut.abort(run.signal.reason);
  if (run.signal.aborted) onAbort();
  run.signal.addEventListener('abort', onAbort, {once: true});
  const deadline = new Deadline(run.clock, run.limits.timeoutSeconds * 1000, () =>
    cut.abort(new RunAborted('timeout', run.limits.timeoutSeconds)),
  );
  try {
    return await loop({...run, permit: pausing(run, deadline)}, cut.signal, deadline, tally);
  } catch (error) {
    return failed(error, run, cut.signal, tally);
  } finally {
    deadline.stop();
    run.signal.removeEventListener('abort', onAbort);
  }
}

async function loop(run: AgentRun, signal: AbortSignal, deadline: Deadline, tally: Tally): Promise<RunResult> {
  let continuations = 0;
  const specs = new ToolSpecs();
  for (;;) {
    signal.throwIfAborted();
    for (const message of run.inbox.deliver()) appendDelivered(run, message);
    const turn = tally.turns + 1;
    if (run.tokens.isUsedUp) return tally.result(outOfTokens(run));
    const due = reportDue(run, turn, deadline);
    if (due) appendUser(run, REPORT_NOW);
    const reply = await ask(run, specs.of(run.tools), signal, tally, due === undefined);
    appendReply(run, reply, tally);
    run.tokens.spend(reply.usage);

    const calls = reply.content.filter((block): block is ToolUse => block.type === 'tool_use');
    const ending = due ?? (calls.length > 0 ? exhausted(run, turn) : undefined);
    if (calls.length > 0) {
      const outcomes = ending
        ? refuseAll(calls, 'Not run: the limit of this run is reached.')
        : await runToolCalls(calls, run, signal, reply.garbledInputs);
      tally.addToolRecords(outcomes.map((outcome) => outcome.record));
      const content = outcomes.map((outcome) => outcome.block);
      run.history.append({role: 'user', content});
      run.emit({type: 'message', role: 'user', content});
    }
    if (ending) return tally.result(ending);
    if (calls.length > 0) continue;

    switch (reply.stopReason) {
      case 'pause_turn':
        continue;
      case 'max_tokens':
        continuations += 1;
        tally.joinNextText();
        if (continuations > MAX_CONTINUATIONS) return tally.result({outcome: 'limit', limit: 'output tokens'});
        appendUser(run, GO_ON);
        continue;
      case 'model_context_window_exceeded':
        return tally.result({outcome: 'limit', limit: "the model's context window"});
      case 'refusal':
        return tally.result({outcome: 'error', code: 'REFUSAL', error: 'the model refused to answer'});
      default:
        if (run.inbox.size > 0) continue;
        return tally.result({outcome: 'success'});
    }
  }
}

/** Which limit is so near that this turn must be the report; a run's first turn never is. */
function reportDue(run: AgentRun, turn: number, deadline: Deadline): Ending | undefined {
  if (turn === 1) return undefined;
  if (isReportingTurn(turn, run.limits)) return outOfTurns(run);
  if (run.tokens.reportDue) return outOfTokens(run);
  return deadline.reportDue ? {outcome: 'timeout', timeout: formatTimeout(run.limits.timeoutSeconds)} : undefined;
}

/** What forbids any further call, so that tools need not run. */
function exhausted(run: AgentRun, turn: number): Ending | undefined {
  if (turn >= run.limits.maxTurns) return outOfTurns(run);
  return run.tokens.isUsedUp ? outOfTokens(run) : undefined;
}

function outOfTurns({limits}: AgentRun): Ending {
  return {outcome: 'limit', limit: `${limits.maxTurns} turn${limits.maxTurns === 1 ? '' : 's'}`};
}

function outOfTokens({tokens}: AgentRun): Ending {
  return {outcome: 'limit', limit: `${tokens.limit} tokens`};
}

/** One model call; text is shown while it comes. */
async function ask(
  run: AgentRun,
  tools: readonly ToolSpec[],
  signal: AbortSignal,
  tally: Tally,
  mayCallTools: boolean,
): Promise<ModelReply> {
  tally.beginCall();
  try {
    return await run.model.reply(
      {
        system: run.system,
        tools,
        messages: run.history.messages,
        mayCallTools,
        // A reply must not run past the budget either: the server ends it there.
        ...(run.tokens.left === Number.POSITIVE_INFINITY ? {} : {maxOutputTokens: run.tokens.left}),
        signal,
      },
      (progress) => {
        if (progress.type === 'retry') run.tokens.spend(tally.abandonAttempt());
        else if (progress.type === 'usage') tally.setAttemptUsage(progress.usage, progress.model);
        else if (progress.type === 'text') tally.addStreamedText(progress.text);
        const event = eventOf(progress, run.rawStream);
        if (event) run.emit(event);
      },
    );
  } finally {
    tally.endCall();
  }
}

function eventOf(
  progress: Parameters<Parameters<Model['reply']>[1]>[0],
  rawStream: boolean,
): AgentEventBody | undefined {
  switch (progress.type) {
    case 'text':
      return {type: 'text_delta', text: progress.text};
    case 'thinking':
      return {type: 'thinking_delta', text: progress.text};
    case 'raw':
      return rawStream ? {type: 'stream', event: progress.event} : undefined;
    case 'retry':
      return progress;
    case 'usage':
      return undefined;
  }
}

/** Puts a message that waited, or a new prompt, into the history. */
export function appendDelivered(
  run: AgentRun,
  {kind, content, announcement}: Pick<QueuedMessage, 'kind' | 'content' | 'announcement'>,
): void {
  if (kind === 'prompt') run.history.appendPrompt(content);
  else if (announcement) run.history.appendAnnouncement(toUserMessage(content), announcement);
  else run.history.append(toUserMessage(content));
  run.emit({type: 'message', role: 'user', content});
}

function appendUser(run: AgentRun, text: string): void {
  run.history.append({role: 'user', content: text});
  run.emit({type: 'message', role: 'user', content: text});
}

function appendReply(run: AgentRun, reply: ModelReply, tally: Tally): void {
  tally.addReply(reply);
  // An empty reply is a legal end of a turn, but no server takes an empty message back.
  if (reply.content.length === 0) return;
  const facts = {model: reply.model, usage: reply.usage, stopReason: reply.stopReason};
  run.history.append({role: 'assistant', content: [...reply.content]}, facts);
  run.emit({type: 'message', role: 'assistant', id: reply.id, content: reply.content, ...facts});
}

/** The time in which a person is asked does not count. */
function pausing(run: AgentRun, deadline: Deadline): AgentRun['permit'] {
  return async (request, signal) => {
    deadline.pause();
    try {
      return await run.permit(request, signal);
    } finally {
      deadline.resume();
    }
  };
}

/** What is left of a run that was cut off or whose model failed. The partial answer stays in the history. */
function failed(error: unknown, run: AgentRun, signal: AbortSignal, tally: Tally): RunResult {
  run.history.answerOpenCalls('Cut off before it ended.');
  const partial = tally.takeStreamedText();
  run.tokens.spend(tally.abandonAttempt());
  if (partial.trim() !== '') {
    const content = [{type: 'text', text: partial.trimEnd()} as AssistantBlock];
    run.history.append({role: 'assistant', content});
    tally.setText(partial.trim());
  }
  if (signal.aborted) {
    const reason: unknown = signal.reason;
    if (reason instanceof RunAborted) {
      if (reason.reason === 'timeout')
        return tally.result({outcome: 'timeout', timeout: formatTimeout(reason.seconds)});
      if (reason.reason === 'user') run.history.append({role: 'user', content: '[Interrupted by the user]'});
    }
    return tally.result({outcome: 'stopped'});
  }
  if (error instanceof ModelError && error.kind === 'idle') {
    return tally.result({outcome: 'timeout', timeout: `timed out: ${error.message}`});
  }
  const code = error instanceof ModelError ? error.code : 'INTERNAL';
  return tally.result({outcome: 'error', code, error: getErrorMessage(error)});
}
