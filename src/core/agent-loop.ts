/**
 * The agent loop: asks the model, runs the tool calls of its reply, and repeats until the model answers or a limit ends
 * the run. The main agent and all subagents use this loop. One turn goes through these steps:
 *
 * 1. Append the queued messages of the inbox to the history (`appendDelivered`).
 * 2. If a limit is near (`findNearLimit`), ask the model to report and forbid tool calls.
 * 3. Reserve what the call can cost, send the history to the model and emit its reply while it streams
 * (`requestReply`).
 * 4. Append the reply to the history (`appendReply`).
 * 5. Run its tool calls, or refuse them if a limit is reached (`findReachedLimit`), and append one result for each.
 * 6. End the run, or start the next turn: after tool calls, when the server paused, when the answer was cut at the
 * output limit, does not match its schema or is empty, when a hook requires it, and when a message came in.
 *
 * A run that makes no progress is ended by its `ProgressGuard`, which counts all repairs and repetitions.
 *
 * If the run is aborted or the model fails, `endFailedRun` makes the history valid and returns the result so far.
 */

import type {AccountPause, Message, Model, ModelReply, ToolSpec, ToolUse} from './contract/model.ts';
import type {Clock, Limits, RunResult} from './contract/results.ts';
import {attachFiles} from './prompt-calls.ts';
import {type Caller, getCallsShown, refuseCalls, runToolCalls} from './tool-calls.ts';
import {withLaterFacts} from './turn/checkpointed-call.ts';
import {ComingCalls} from './turn/coming-calls.ts';
import {isTooLong, makeRoom, recoverFromOverflow} from './turn/compaction.ts';
import type {WindowSize} from './turn/context-window.ts';
import type {History} from './turn/history.ts';
import type {Inbox, QueuedMessage} from './turn/inbox.ts';
import {type Account, callModel, ToolSpecs, toProgressEvent} from './turn/model-request.ts';
import {listTools} from './turn/prepared-call.ts';
import {ProgressGuard} from './turn/progress-guard.ts';
import {isHistoryRefused, RefusedHistory, takeOutRefusedTurn} from './turn/refused-history.ts';
import {endFailedRun, formatTimeout, RunAborted} from './turn/run-ending.ts';
import {formatHookStop, type RunHooks} from './turn/run-hooks.ts';
import {Deadline, findNearLimit, findReachedLimit, findUsedUp} from './turn/run-limits.ts';
import {
  ANSWER_AS_TEXT,
  type AnswerSchema,
  NO_DATA_OFFLINE,
  StructuredAnswer,
  takeAnswer,
} from './turn/structured-answer.ts';
import {type Ending, Tally} from './turn/tally.ts';
import {StreamedReply, waitUntilWritten} from './turn/transcript-writing.ts';
import {getCalls, getText, toUserMessage} from './util/messages.ts';
import {formatRetry} from './util/text.ts';

/** The arguments of one run. They are created once and never change. */
export interface AgentRun extends Caller {
  readonly system: string;
  readonly history: History;
  /** Model that summarises what does not fit into the window. Undefined means the run's own model. */
  readonly summaryModel: Model | undefined;
  readonly inbox: Inbox;
  readonly limits: Limits;
  /** Counts the wall-clock time when it began before the run. Its owner then aborts `signal`. */
  readonly deadline?: Deadline;
  readonly clock: Clock;
  /** Ends the run. It is aborted with a `RunAborted`; the first reason wins. */
  readonly signal: AbortSignal;
  readonly hooks?: RunHooks | undefined;
  /** Schema that the answer must match. */
  readonly answerSchema?: AnswerSchema | undefined;
  /** True when the raw events of the model's stream are emitted too. */
  readonly rawStream: boolean;
  /** Counts what is no progress, also over several runs for one prompt. Absent when this run counts alone. */
  readonly progress?: ProgressGuard | undefined;
}

/** A run at work. */
interface StartedRun extends AgentRun {
  readonly deadline: Deadline;
  readonly progress: ProgressGuard;
  readonly refused: RefusedHistory;
  readonly ownDeadline: Deadline | undefined;
}

/** How many times a request is shortened after the server said that it is too long. */
const MAX_OVERFLOWS = 3;
/** How many times the model is asked to continue an answer that was cut at the output limit. */
const MAX_CONTINUATIONS = 3;
const CONTINUE = 'Your answer was cut at the output limit. Go on exactly where it stopped, without repeating anything.';
const ANSWER_NOW = 'Your last reply had neither text nor a tool call. Answer now, or go on with the work.';
const AT_LIMIT = 'Not run: the limit of this run is reached.';
const RAN_ALREADY = "Not run again: this call ran, and the model's server refused its result. Go on without it.";
const REPORT_NOW =
  'You have reached the limit of this run. Do not call tools: report now what you found or did, what is missing, and where (file:line).';

/** Runs the agent to its end. Never rejects: failures and limits are outcomes, and the result has everything so far. */
export async function runAgent(run: AgentRun): Promise<RunResult> {
  const tally = new Tally(run.clock);
  const {timeoutSeconds} = run.limits;
  const ending = new AbortController();
  const endAtLimit = () => ending.abort(new RunAborted('timeout', formatTimeout(timeoutSeconds)));
  const deadline = run.deadline ?? new Deadline(run.clock, timeoutSeconds * 1000, endAtLimit);
  // When other runs have used up the shared budget, this run ends at once, even during a call.
  const stopWatching = run.budget.onUsedUp(() => ending.abort(new RunAborted('budget', run.budget.usedUp)));
  const signal = AbortSignal.any([run.signal, ending.signal]);
  const started = {
    ...run,
    signal,
    deadline,
    // The time limit of a prompt holds while the account is at its limit; the time limit of a run does not.
    ownDeadline: run.deadline ? undefined : deadline,
    progress: run.progress ?? new ProgressGuard(),
    refused: new RefusedHistory(run.history),
  };
  try {
    const ended = await runTurns(started, tally).catch((error) => endFailedRun(error, started, tally));
    return {...ended, tools: await Promise.all(ended.tools.map(withLaterFacts))};
  } finally {
    if (!run.deadline) deadline.stop();
    stopWatching();
    reportRepairs(run);
  }
}

async function runTurns(run: StartedRun, tally: Tally): Promise<RunResult> {
  const specs = new ToolSpecs();
  const answer = run.answerSchema && new StructuredAnswer(run.answerSchema);
  if (answer && run.model.offline) return tally.result(NO_DATA_OFFLINE);
  // Reports the repairs of the restored history. Repairs during the run are reported at its end.
  reportRepairs(run);
  await run.moreTools?.ready(run.signal);
  for (const text of (await run.hooks?.started(run.signal)) ?? [])
    run.history.appendCompanion(text, 'a SubagentStart hook');
  for (;;) {
    run.signal.throwIfAborted();
    await deliverMessages(run);
    const usedUp = findUsedUp(run);
    if (usedUp) return tally.result(usedUp);
    const stuck = run.progress.ending;
    if (stuck) return tally.joinAllTexts().result(stuck);
    const advice = run.progress.takeAdvice();
    if (advice !== undefined) appendUserText(run, advice);
    const nearLimit = findNearLimit(run, tally.turns + 1);
    if (nearLimit) appendUserText(run, answer ? `${REPORT_NOW} ${ANSWER_AS_TEXT}` : REPORT_NOW);
    const tools = specs.create(listTools(run), answer?.spec);
    const sent = await requestReply(run, tools, tally, nearLimit === undefined);
    const reply = await appendReply(run, sent, tally);

    const taken = takeAnswer(answer, run, reply, tally);
    if (taken === 'again') {
      const limit = nearLimit ?? findReachedLimit(run, tally.turns);
      if (limit) return tally.result(limit);
      continue;
    }
    if (taken) {
      const mayStop = nearLimit !== undefined || taken.outcome !== 'success' || (await mayEnd(run, tally.text));
      if (mayStop) return tally.result(nearLimit ?? taken);
      continue;
    }
    const calls = getCalls(reply.content);
    if (calls.length > 0) {
      const limit = nearLimit ?? findReachedLimit(run, tally.turns);
      const ended = await answerCalls(run, reply, calls, limit !== undefined, tally);
      if (ended) return tally.result(ended);
      if (limit) return tally.joinAllTexts().result(limit);
      continue;
    }
    if (nearLimit) return tally.result(nearLimit);

    const ended = await endAfterText(run, reply, tally);
    if (ended) return tally.result(ended);
  }
}

/** @returns how the run ends with this reply, which has no tool calls; undefined when it continues */
async function endAfterText(run: StartedRun, reply: AppendedReply, tally: Tally): Promise<Ending | undefined> {
  switch (reply.stopReason) {
    case 'pause_turn':
      run.progress.record('pause');
      return undefined;
    case 'max_tokens':
      return continueAnswer(run, tally, 'output tokens');
    case 'model_context_window_exceeded':
      // The reply filled the rest of the window, so the next request must be shorter.
      run.history.window.recordFull();
      return continueAnswer(run, tally, "the model's context window");
    case 'unable':
      return {outcome: 'error', code: 'UNABLE', error: findReason(getText(reply.content))};
    case 'refusal':
      return takeOutRefusedTurn(run, reply);
    default:
      if (run.inbox.size > 0) return undefined;
      return (await mayEnd(run, getText(reply.content))) ? {outcome: 'success'} : undefined;
  }
}

/** The line of the offline model that says what it could not do. */
function findReason(text: string): string {
  const reason = /^I cannot do this offline: (.+)$/m.exec(text)?.[1];
  return reason === undefined ? 'the offline model could not do this' : `the offline model: ${reason}`;
}

/** Lets the model continue an answer that was cut. @param limit what the run ends with when that happens too often */
function continueAnswer(run: StartedRun, tally: Tally, limit: string): Ending | undefined {
  tally.joinNextText();
  if (run.progress.record('cut') > MAX_CONTINUATIONS) return {outcome: 'limit', limit};
  appendUserText(run, CONTINUE);
  return undefined;
}

/** Says whether the run may end. If not, the model reads why. */
async function mayEnd(run: StartedRun, answer: string): Promise<boolean> {
  const why = answer === '' ? ANSWER_NOW : await run.hooks?.beforeEnd(answer, run.signal);
  run.signal.throwIfAborted();
  if (why === undefined) return true;
  run.progress.record(answer === '' ? 'empty' : 'hook');
  appendUserText(run, why);
  return false;
}

/**
 * Makes one model call. When the server refuses the history, parts of it are left out.
 * @throws what `callModel` of `model-request.ts` throws
 */
async function requestReply(
  run: StartedRun,
  tools: readonly ToolSpec[],
  tally: Tally,
  mayCallTools: boolean,
): Promise<ModelReply> {
  const {history, emit, refused} = run;
  history.answerOpenCalls('Cut off before it ended.');
  await waitUntilWritten(run);
  const account: Account = {
    budget: run.budget,
    onUsage(usage, model) {
      tally.addCall(usage, model);
      history.recordUsage(usage, model);
    },
  };
  const size = await makeRoom(run, tools, account);
  let overflows = 0;
  for (;;) {
    try {
      const messages = history.joinAnnouncements(refused.messages);
      const reply = await streamReply(run, messages, tools, tally, {mayCallTools, size, account});
      const content = {system: run.system, tools, messages};
      history.window.record(reply.usage, content);
      const used = history.window.count(content) + reply.usage.output_tokens;
      emit({type: 'context', tokens: used, ...(size && {limit: size.limit})});
      const text = refused.commit();
      if (text !== undefined) emit({type: 'notice', level: 'warning', text});
      history.markAccepted();
      return reply;
    } catch (error) {
      if (isTooLong(error) && overflows < MAX_OVERFLOWS && (await recoverFromOverflow(run, tools, error, account))) {
        overflows += 1;
        refused.drop();
        continue;
      }
      if (!isHistoryRefused(error, history)) throw error;
      run.progress.record('refusal');
      if (refused.repair(error)) continue;
      const text = history.setTurnAside(error.message);
      if (text !== undefined) emit({type: 'notice', level: 'warning', text});
      throw error;
    }
  }
}

interface CallOptions {
  readonly mayCallTools: boolean;
  readonly size: WindowSize | undefined;
  readonly account: Account;
}

/** Makes one model call and emits its reply while it streams. */
async function streamReply(
  run: StartedRun,
  messages: readonly Message[],
  tools: readonly ToolSpec[],
  tally: Tally,
  {mayCallTools, size, account}: CallOptions,
): Promise<ModelReply> {
  const {model, history, signal} = run;
  const {window} = history;
  const system = run.system.toWellFormed();
  const streamed = new StreamedReply(history, run.clock);
  const used = streamed.follow(account);
  // The server ends a reply that would exceed the budget or the window.
  const limits = size ? {maxOutputTokens: size.reserve} : {};
  const request = {system, tools, messages, mayCallTools, ...limits, signal, thinkerOf: history.thinkerOf};
  const counted = {tokens: window.count({system, tools, messages}), isCounted: !window.isEstimate};
  tally.beginCall();
  const pausing = new Pausing(run);
  const coming = new ComingCalls(run);
  try {
    const reply = await callModel(model, request, counted, used, (progress) => {
      let isKnown = false;
      pausing.set(progress.type === 'retry' ? progress.pause : undefined);
      if (progress.type === 'retry') {
        isKnown = progress.fallback !== undefined && !tally.addWarning(formatRetry(progress));
        tally.takeStreamedText();
        streamed.restart();
      } else if (progress.type === 'usage') {
        coming.wait();
        streamed.count(progress);
      } else if (progress.type === 'text') {
        tally.addStreamedText(progress.text);
        streamed.add(progress.text);
      } else if (progress.type === 'raw') coming.take(progress.event);
      const event = isKnown ? undefined : toProgressEvent(progress, run.rawStream);
      if (event) run.emit(event);
    }).finally(() => coming.end());
    streamed.settle();
    return reply;
  } catch (error) {
    await endExpected(run);
    throw error;
  } finally {
    pausing.set(undefined);
    streamed.end();
    tally.endCall();
  }
}

/** Ends what a tool got ready for a call that did not come, or was refused. */
async function endExpected({tools, workspace}: StartedRun): Promise<void> {
  for (const tool of tools) await tool.expectNothing?.(workspace);
}

/** Stops the time of a run while its account is at a limit, and records that on disk. */
class Pausing {
  #isPaused = false;

  constructor(private readonly run: Pick<StartedRun, 'history' | 'ownDeadline'>) {}

  /** @param pause undefined when the call goes on */
  set(pause: AccountPause | undefined): void {
    const {history, ownDeadline} = this.run;
    if (pause) history.recordPause(pause);
    if (this.#isPaused === (pause !== undefined)) return;
    this.#isPaused = pause !== undefined;
    if (pause) ownDeadline?.pause();
    else ownDeadline?.resume();
  }
}

/**
 * Appends the queued messages. Prompts come last, so that no other message waits while the files that they name are
 * read.
 */
async function deliverMessages(run: StartedRun): Promise<void> {
  const messages = run.inbox.deliver();
  if (messages.some(({kind}) => kind === 'announcement')) run.progress.recordAnnouncement();
  if (messages.some(({kind}) => kind === 'prompt')) run.progress.recordProgress(true);
  for (const message of messages.filter(({kind}) => kind !== 'prompt')) appendDelivered(run, message);
  for (const message of messages.filter(({kind}) => kind === 'prompt')) await appendPrompt(run, message);
}

/**
 * Appends a prompt. If a person typed it, the files that it names come before it. Never rejects because of these files.
 * @param mentioning the part of its text that may name files
 */
export async function appendPrompt(
  run: AgentRun,
  {content, typed = false, messageId}: Pick<QueuedMessage, 'content' | 'typed' | 'messageId'>,
  mentioning: string = getText(content),
): Promise<void> {
  if (typed) await attachFiles(mentioning, run, run.signal);
  appendDelivered(run, {kind: 'prompt', content, messageId});
}

/** Appends a queued message or a new prompt to the history and emits it. */
export function appendDelivered(
  {history, emit}: Pick<AgentRun, 'history' | 'emit'>,
  {kind, content, announcement, label = '', messageId}: Omit<QueuedMessage, 'id' | 'startsTurn'>,
): void {
  if (kind === 'prompt') history.appendPrompt(content, messageId);
  else if (kind === 'companion') history.appendCompanion(content, label);
  else if (announcement) history.appendAnnouncement(toUserMessage(content), announcement);
  else history.append(toUserMessage(content));
  emit({type: 'message', role: 'user', content});
}

/** Appends a text of the runtime for the model, and emits it. */
export function appendUserText(run: AgentRun, text: string): void {
  run.history.appendNote(text);
  run.emit({type: 'message', role: 'user', content: text});
}

type AppendedReply = ModelReply & {readonly badInputs: ReadonlyMap<string, string>};

/** @throws what `waitUntilWritten` throws */
async function appendReply(run: AgentRun, reply: ModelReply, tally: Tally): Promise<AppendedReply> {
  tally.addReply(reply);
  const {model, asked, usage, stopReason} = reply;
  const facts = {model, ...(asked !== undefined && asked !== model && {asked}), usage, stopReason};
  const {content, badInputs} = run.history.appendReply(reply.content, facts, reply.garbledInputs);
  await waitUntilWritten(run);
  // An empty reply leaves no message in the history.
  if (content.length > 0) run.emit({type: 'message', role: 'assistant', id: reply.id, content, ...facts});
  return {...reply, content, badInputs};
}

function reportRepairs({history, emit}: AgentRun): void {
  const text = history.takeRepairs();
  if (text !== undefined) emit({type: 'notice', level: 'warning', text});
}

/**
 * Runs the calls of a reply, or refuses them at a limit, and appends their results.
 * @returns how a hook ends the run, if one does
 */
async function answerCalls(
  run: StartedRun,
  reply: AppendedReply,
  calls: readonly ToolUse[],
  isAtLimit: boolean,
  tally: Tally,
): Promise<Ending | undefined> {
  const refusal = isAtLimit ? AT_LIMIT : run.refused.areRepeated(calls) ? RAN_ALREADY : undefined;
  const outcomes =
    refusal === undefined ? await runToolCalls(calls, run, run.signal, reply.badInputs) : refuseCalls(calls, refusal);
  await endExpected(run);
  if (!isAtLimit) run.progress.recordCalls(outcomes.flatMap(({seen}) => seen ?? []));
  tally.addToolRecords(outcomes.flatMap(({record, inner = []}) => [...inner, record]));
  for (const {usage, model} of outcomes.flatMap(({record}) => record.used ?? [])) run.history.recordUsage(usage, model);
  const content = outcomes.map(({block}) => block);
  run.history.append({role: 'user', content}, getCallsShown(outcomes));
  await waitUntilWritten(run);
  run.emit({type: 'message', role: 'user', content});
  const stops = outcomes.find((outcome) => outcome.stops !== undefined)?.stops;
  return stops === undefined ? undefined : {outcome: 'error', code: 'HOOK', error: formatHookStop(stops)};
}
