/** Reasons why a run was aborted, how it ended as text for people, and sums of results. */

import type {Emit} from '../contract/events.ts';
import type {RunResult, RunTotals} from '../contract/results.ts';
import {getErrorMessage, MiniCcError, ModelError} from '../util/errors.ts';
import {addUsage, addUsageByModel, INTERRUPTED, NO_USAGE} from '../util/messages.ts';
import {formatLimit} from '../util/text.ts';
import {BudgetReached} from './budget.ts';
import type {History} from './history.ts';
import type {Ending, Tally} from './tally.ts';

/** Reason of the abort signal that ends a run. */
export class RunAborted extends Error {
  constructor(
    /**
     * `user`: a person interrupted the turn. `stop`: a person or the main agent stopped the run. `close`: the session
     * ends. `timeout`: the wall-clock time is used up. `budget`: other runs used up the shared budget. `hook`: a hook
     * ended the run.
     */
    readonly reason: 'user' | 'stop' | 'close' | 'timeout' | 'budget' | 'hook',
    /** For `timeout` and `budget` the limit as text; for `hook` the message of the hook. */
    words = '',
  ) {
    super(words || (reason === 'user' ? 'interrupted by the user' : 'stopped'));
    this.name = 'RunAborted';
  }
}

/** Text for a wall-clock time that is used up. The model call itself writes the text for its idle time. */
export function formatTimeout(seconds: number): string {
  return `timed out after ${seconds} s`;
}

/** Returns the reason as a text that stands alone, e.g. `limit reached: 50 turns`. Empty for a success. */
export function formatEnding(result: RunResult): string {
  return result.outcome === 'limit' ? formatLimit(formatReason(result)) : formatReason(result);
}

/** Returns the reason in a few words for progress lines and receipts, e.g. `50 turns`. Empty for a success. */
export function formatReason(result: RunResult): string {
  switch (result.outcome) {
    case 'success':
      return '';
    case 'limit':
      return result.reason ?? result.limit;
    case 'timeout':
      return result.timeout;
    case 'stopped':
      return 'stopped';
    case 'error':
      return result.error;
  }
}

/** Creates the result of a run that failed outside the agent loop. */
export function createInternalError(error: unknown): RunResult {
  return {...toErrorEnding(error), ...NO_TOTALS};
}

function toErrorEnding(error: unknown) {
  const code = error instanceof MiniCcError ? error.code : 'INTERNAL';
  return {outcome: 'error', code, error: getErrorMessage(error)} as const;
}

/** Returns how a run ends that was aborted. @param reason reason of its signal */
export function getAbortEnding(reason: unknown): Ending {
  const {reason: why, message = ''} = reason instanceof RunAborted ? reason : {};
  if (why === 'timeout') return {outcome: 'timeout', timeout: message};
  if (why === 'budget') return {outcome: 'limit', limit: message};
  return why === 'hook' ? {outcome: 'error', code: 'HOOK', error: message} : {outcome: 'stopped'};
}

/** Totals of a run that made no model call. */
export const NO_TOTALS: RunTotals = {
  text: '',
  usage: NO_USAGE,
  usageByModel: {},
  turns: 0,
  tools: [],
  durationMs: 0,
  modelMs: 0,
};

export function getTotals(result: RunResult): RunTotals {
  const {text, structured, returnedTokens} = result;
  const {usage, usageByModel, turns, model, tools, durationMs, modelMs, warnings} = result;
  const totals = {text, usage, usageByModel, turns, tools, durationMs, modelMs};
  return {
    ...totals,
    ...(model !== undefined && {model}),
    ...(returnedTokens !== undefined && {returnedTokens}),
    ...(structured !== undefined && {structured}),
    ...(warnings && {warnings}),
  };
}

/** Adds further warnings before those of the result. */
export function withWarnings<T extends RunTotals>(result: T, warnings: readonly string[] = []): T {
  const all = [...new Set([...warnings, ...(result.warnings ?? [])])];
  return all.length > 0 ? {...result, warnings: all} : result;
}

/** Joins the results of two successive turns: the sums of both, the outcome of the second one, and the last text. */
export function joinTurns(first: RunResult, next: RunResult): RunResult {
  return {
    ...withWarnings(next, first.warnings),
    text: next.text === '' ? first.text : next.text,
    usage: addUsage(first.usage, next.usage),
    usageByModel: addUsageByModel(first.usageByModel, next.usageByModel),
    turns: first.turns + next.turns,
    model: next.model ?? first.model,
    tools: [...first.tools, ...next.tools],
    durationMs: first.durationMs + next.durationMs,
    modelMs: first.modelMs + next.modelMs,
  };
}

interface FailedRun {
  readonly history: History;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/** Ends a run that was aborted or whose model failed. The text that the model has streamed stays in the history. */
export function endFailedRun(error: unknown, run: FailedRun, tally: Tally): RunResult {
  const {signal} = run;
  const partial = tally.takeStreamedText();
  tally.addCutOffText(partial.trim());
  const aborted: unknown = signal.aborted ? signal.reason : undefined;
  try {
    recordCutOff(run.history, partial, aborted instanceof RunAborted && aborted.reason === 'user');
  } catch (failure) {
    // When the disk is full, the result still has the text, and the next message answers the open calls.
    const text = `What the run had is not in the transcript: ${getErrorMessage(failure)}`;
    run.emit({type: 'notice', level: 'error', text});
  }
  if (signal.aborted) return tally.result(getAbortEnding(signal.reason));
  if (error instanceof BudgetReached) return tally.result({outcome: 'limit', limit: error.limit});
  if (error instanceof ModelError && error.kind === 'idle') {
    return tally.result({outcome: 'timeout', timeout: `timed out: ${error.message}`});
  }
  return tally.result(toErrorEnding(error));
}

/** @throws what the journal throws */
function recordCutOff(history: History, partial: string, byUser: boolean): void {
  history.answerOpenCalls('Cut off before it ended.');
  if (partial.trim() !== '') history.append({role: 'assistant', content: [{type: 'text', text: partial.trimEnd()}]});
  if (byUser) history.appendNote(INTERRUPTED);
}
