/** How a run ended. Results are return values: this is what `runAgent` returns, always. */
import {messageOf} from './errors.ts';
import {addUsage, NO_USAGE, type Usage} from './messages.ts';
import type {ToolFacts} from './tool.ts';

export type Outcome = 'success' | 'error' | 'timeout' | 'limit' | 'stopped' | 'unknown';

/** One tool call as the runtime saw it; receipts are made from these. */
export interface ToolRecord {
  readonly tool: string;
  readonly isError: boolean;
  readonly facts: ToolFacts;
  /** What the tool itself asked of a model. */
  readonly used?: readonly {readonly usage: Usage; readonly model: string}[];
}

interface RunTotals {
  /** The final answer, or what there was when the run was cut off. */
  readonly text: string;
  readonly usage: Usage;
  /** Tokens for each model that answered. */
  readonly usageByModel: Readonly<Record<string, Usage>>;
  /** Model calls made. */
  readonly turns: number;
  readonly tools: readonly ToolRecord[];
  readonly durationMs: number;
  /** Time within model calls. */
  readonly modelMs: number;
}

export type RunResult = RunTotals &
  (
    | {readonly outcome: 'success'}
    | {readonly outcome: 'limit'; readonly limit: string}
    /** `timeout` names which time was over, in words. */
    | {readonly outcome: 'timeout'; readonly timeout: string}
    | {readonly outcome: 'stopped'}
    | {readonly outcome: 'error'; readonly error: string; readonly code: string}
  );

/** Why a run was cut off: the reason its signal carries. The first one wins. */
export class CutOff extends Error {
  constructor(
    readonly why: 'user' | 'stop' | 'close' | 'timeout',
    /** For `timeout`: the limit in seconds. */
    readonly seconds = 0,
  ) {
    super(why === 'timeout' ? timeoutWords(seconds) : why === 'user' ? 'interrupted by the user' : 'stopped');
    this.name = 'CutOff';
  }
}

/** For the wall time. An idle time is worded by the model call that waited. */
export function timeoutWords(seconds: number): string {
  return `timed out after ${seconds} s`;
}

/** The reason as a sentence of its own begins: `limit reached: 50 turns`. Empty for a success. */
export function endingOf(result: RunResult): string {
  return result.outcome === 'limit' ? `limit reached: ${result.limit}` : reasonOf(result);
}

/** The reason in a few words, for progress lines and receipts; empty for a success. */
export function reasonOf(result: RunResult): string {
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
export function failedInside(error: unknown): RunResult {
  return {outcome: 'error', code: 'INTERNAL', error: messageOf(error), ...NOTHING};
}

export const NOTHING: RunTotals = {
  ...{text: '', usage: NO_USAGE, usageByModel: {}, turns: 0, tools: [], durationMs: 0, modelMs: 0},
};

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
