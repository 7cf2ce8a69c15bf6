/** How a run was cut off, and the reason of an ending in words. */

import type {RunResult, RunTotals} from '../contract/run-result.ts';
import {getErrorMessage} from '../util/errors.ts';
import {addUsage, NO_USAGE} from '../util/messages.ts';

/** Why a run was cut off: the reason its signal carries. The first one wins. */
export class RunAborted extends Error {
  constructor(
    readonly reason: 'user' | 'stop' | 'close' | 'timeout',
    /** For `timeout`: the limit in seconds. */
    readonly seconds = 0,
  ) {
    super(reason === 'timeout' ? formatTimeout(seconds) : reason === 'user' ? 'interrupted by the user' : 'stopped');
    this.name = 'RunAborted';
  }
}

/** For the wall time. An idle time is worded by the model call that waited. */
export function formatTimeout(seconds: number): string {
  return `timed out after ${seconds} s`;
}

/** The reason as a sentence of its own begins: `limit reached: 50 turns`. Empty for a success. */
export function formatEnding(result: RunResult): string {
  return result.outcome === 'limit' ? `limit reached: ${result.limit}` : formatReason(result);
}

/** The reason in a few words, for progress lines and receipts; empty for a success. */
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

/** The engine itself failed, before or beside the loop. */
export function createInternalError(error: unknown): RunResult {
  return {outcome: 'error', code: 'INTERNAL', error: getErrorMessage(error), ...NO_TOTALS};
}

export const NO_TOTALS: RunTotals = {
  ...{text: '', usage: NO_USAGE, usageByModel: {}, turns: 0, tools: [], durationMs: 0, modelMs: 0},
};

/** The result without how it ended. */
export function getTotals({text, usage, usageByModel, turns, tools, durationMs, modelMs}: RunResult): RunTotals {
  return {text, usage, usageByModel, turns, tools, durationMs, modelMs};
}

/** Several turns as one: the last one's answer and ending, the sums of all. */
export function joinTurns(first: RunResult, next: RunResult): RunResult {
  const usageByModel = {...first.usageByModel};
  for (const [model, usage] of Object.entries(next.usageByModel)) {
    usageByModel[model] = addUsage(usageByModel[model] ?? NO_USAGE, usage);
  }
  return {
    ...next,
    text: next.text === '' ? first.text : next.text,
    usage: addUsage(first.usage, next.usage),
    usageByModel,
    turns: first.turns + next.turns,
    tools: [...first.tools, ...next.tools],
    durationMs: first.durationMs + next.durationMs,
    modelMs: first.modelMs + next.modelMs,
  };
}
