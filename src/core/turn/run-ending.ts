/** Why a run was aborted, how it ended as text for people, and sums of results. */

import type {RunResult, RunTotals} from '../contract/results.ts';
import {getErrorMessage, MiniCcError} from '../util/errors.ts';
import {addUsage, NO_USAGE} from '../util/messages.ts';

/** The reason of the abort signal that ends a run. */
export class RunAborted extends Error {
  constructor(
    /**
     * `user`: a person interrupted the turn. `stop`: a person or the main agent stopped the run. `close`: the session
     * ends. `timeout`: the wall time is used up. `budget`: other runs have used up what there was for all.
     */
    readonly reason: 'user' | 'stop' | 'close' | 'timeout' | 'budget',
    /** Of a `timeout` and of a `budget`: the limit in words. */
    limit = '',
  ) {
    super(limit || (reason === 'user' ? 'interrupted by the user' : 'stopped'));
    this.name = 'RunAborted';
  }
}

/** The text for a wall time that is used up. The model call itself writes the text for its idle time. */
export function formatTimeout(seconds: number): string {
  return `timed out after ${seconds} s`;
}

/** The reason where it stands alone, e.g. `limit reached: 50 turns`. Empty for a success. */
export function formatEnding(result: RunResult): string {
  return result.outcome === 'limit' ? `limit reached: ${result.limit}` : formatReason(result);
}

/** The reason in a few words, for progress lines and receipts, e.g. `50 turns`. Empty for a success. */
export function formatReason(result: RunResult): string {
  switch (result.outcome) {
    case 'success':
      return '';
    case 'limit':
      return result.limit;
    case 'timeout':
      return result.timeout;
    case 'stopped':
      return 'stopped';
    case 'error':
      return result.error;
  }
}

/** The result of a run that failed outside of the agent loop. */
export function createInternalError(error: unknown): RunResult {
  return {
    outcome: 'error',
    code: error instanceof MiniCcError ? error.code : 'INTERNAL',
    error: getErrorMessage(error),
    ...NO_TOTALS,
  };
}

/** Of a run that made no model call. */
export const NO_TOTALS: RunTotals = {
  ...{text: '', usage: NO_USAGE, usageByModel: {}, turns: 0, tools: [], durationMs: 0, modelMs: 0},
};

/** The totals of a result, without how it ended. */
export function getTotals(result: RunResult): RunTotals {
  const {text, structured, usage, usageByModel, turns, tools, durationMs, modelMs, warnings} = result;
  const totals = {text, usage, usageByModel, turns, tools, durationMs, modelMs};
  return {...totals, ...(structured !== undefined && {structured}), ...(warnings && {warnings})};
}

/** The result with further warnings before its own. */
export function withWarnings<T extends RunTotals>(result: T, warnings: readonly string[] = []): T {
  const all = [...new Set([...warnings, ...(result.warnings ?? [])])];
  return all.length > 0 ? {...result, warnings: all} : result;
}

/** Joins the results of two successive turns: the sums of both, how the second one ended, and the last text. */
export function joinTurns(first: RunResult, next: RunResult): RunResult {
  const usageByModel = {...first.usageByModel};
  for (const [model, usage] of Object.entries(next.usageByModel)) {
    usageByModel[model] = addUsage(usageByModel[model] ?? NO_USAGE, usage);
  }
  return {
    ...withWarnings(next, first.warnings),
    text: next.text === '' ? first.text : next.text,
    usage: addUsage(first.usage, next.usage),
    usageByModel,
    turns: first.turns + next.turns,
    tools: [...first.tools, ...next.tools],
    durationMs: first.durationMs + next.durationMs,
    modelMs: first.modelMs + next.modelMs,
  };
}
