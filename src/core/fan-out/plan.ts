/** Describes what a fan-out will do: parts, limits, tools, and the preview that shows them. */
import {randomUUID} from 'node:crypto';
import type {AgentDefinition} from '../agent-types.ts';
import type {Question} from '../contract/events.ts';
import type {FanOutMode, PlannedEdit, Split} from '../contract/fan-out.ts';
import type {Model, Usage} from '../contract/model.ts';
import type {Limits} from '../contract/results.ts';
import type {Where} from '../contract/worktree.ts';
import {formatSeconds} from '../runs/progress-line.ts';
import {countTokens, formatUsd, NO_USAGE} from '../util/messages.ts';
import {formatCount, formatTokens} from '../util/text.ts';

export interface FanOutSettings {
  /** Default: `ask` if a person can be asked, otherwise `off`. */
  readonly mode?: FanOutMode | undefined;
  readonly parts: number;
  readonly split: Split;
  /** Tools of the parts, by their names in mini-cc. */
  readonly tools: readonly string[];
  /** Machine on which the parts work. With a value other than `local`, each part has a worktree. */
  readonly where: Where;
}

export interface FanOutPlan {
  readonly instruction: string;
  readonly files: readonly string[];
  readonly parts: readonly (readonly string[])[];
  readonly agent: AgentDefinition;
  readonly tools: readonly string[];
  readonly model: Model;
  /** Edits that were decided for all files together, if they were. */
  readonly edits?: readonly PlannedEdit[] | undefined;
  /** Warnings about the choice of the model. */
  readonly warnings?: readonly string[];
  readonly timeoutSeconds?: number | undefined;
}

/** Model calls of a part, unless the agent's definition sets another number. */
const PART_TURNS = 50;
/** Seconds of a part: `perFile` for each file, and at least `least`. */
const PART_SECONDS = {least: 60, perFile: 20};
/** Tokens. With more, models on this machine are slow and need much memory. */
const LOCAL_CONTEXT = 8192;

/**
 * Splits a list into parts of similar size: each item is in exactly one part, in its order, and no part is empty.
 * @param parts maximum number of parts
 */
export function partition<T>(items: readonly T[], {parts, split}: Pick<FanOutSettings, 'parts' | 'split'>): T[][] {
  const count = Math.min(parts, items.length);
  const result: T[][] = [];
  for (let start = 0; start < items.length; ) {
    const left = split === 'ceil' ? items.length : items.length - start;
    const size = Math.ceil(left / (split === 'ceil' ? count : count - result.length));
    result.push(items.slice(start, start + size));
    start += size;
  }
  return result;
}

export function getPartLimits({agent, model, timeoutSeconds}: FanOutPlan, files: number): Limits {
  const byFiles = Math.max(PART_SECONDS.least, PART_SECONDS.perFile * files);
  return {
    maxTurns: agent.maxTurns ?? PART_TURNS,
    timeoutSeconds: timeoutSeconds ?? agent.timeoutSeconds ?? byFiles,
    contextTokens: agent.contextTokens ?? (model.local ? LOCAL_CONTEXT : undefined),
  };
}

/** Formats the prompt of one part: the instruction as it was written, the files, and the edits that were decided. */
export function formatPartPrompt(
  {instruction, edits}: Pick<FanOutPlan, 'instruction' | 'edits'>,
  files: readonly string[],
): string {
  const prompt = `${instruction}\n\nFiles:\n${files.map((file) => `- ${file}`).join('\n')}`;
  if (!edits) return prompt;
  const own = edits.filter(({path}) => files.includes(path));
  const places = own.map(({path, line, column, newText}) => `- ${path}:${line}:${column} ${newText}`);
  return `${prompt}\n\nPlaces:\n${places.length > 0 ? places.join('\n') : '(none)'}`;
}

/** Returns the cost of these tokens in US dollars; undefined if a price is not known. */
export type GetCost = (model: Model, usage: Usage) => number | undefined;

/** Creates the question by which a person sees a fan-out before it begins. @param no label of the answer no */
export async function createPreview(plan: FanOutPlan, no: string, getCost?: GetCost): Promise<Question> {
  const {parts, files, agent} = plan;
  return {
    id: randomUUID(),
    agent: 'mini-cc',
    title: `fan-out: ${formatCount(parts.length, 'agent')} (${agent.name}) for ${formatCount(files.length, 'file')}, each may write only its own`,
    detail: await formatPreview(plan, getCost),
    detailType: 'text',
    options: [
      {digit: 1, choice: 'yes', label: 'yes, and edits of these files need no further question'},
      {digit: 2, choice: 'no', label: no},
    ],
    escape: 'no',
  };
}

/** Formats for a person what will happen, and what it can cost at most. */
async function formatPreview(plan: FanOutPlan, getCost?: GetCost): Promise<string> {
  const {parts, model, tools} = plan;
  const limits = parts.map((files) => getPartLimits(plan, files.length));
  const {calls, usage} = await getWorstCase(limits, model);
  const cost = usage && getCost?.(model, usage);
  const context = limits[0]?.contextTokens;
  const seconds = [...new Set(limits.map(({timeoutSeconds}) => timeoutSeconds))];
  const time = seconds.map((each) => (each === 0 ? 'no time limit' : formatSeconds(each * 1000))).join(' or ');
  return [
    ...parts.map((files, index) => `${index + 1}  ${formatCount(files.length, 'file')}: ${nameFiles(files)}`),
    `model ${model.name} · tools ${tools.join(', ')}`,
    `limits of each: ${formatCount(limits[0]?.maxTurns ?? 0, 'turn')}, ${time}${context === undefined ? '' : `, ${context} tokens of context`}`,
    `worst case: ${formatCount(calls, 'model call')}, ${usage ? `${formatTokens(countTokens(usage))} tokens` : 'tokens unknown'}, cost ${cost === undefined ? 'n/a' : formatUsd(cost)}`,
  ].join('\n');
}

/**
 * Assumes that each call fills the context window and reads nothing from the cache. @returns no usage if the window is
 * not known
 * @param mayAsk whether the model's server may be asked for the window
 */
export async function getWorstCase(
  limits: readonly Pick<Limits, 'maxTurns' | 'contextTokens'>[],
  model: Model,
  mayAsk = false,
): Promise<{readonly calls: number; readonly usage?: Usage}> {
  const whole = await model.contextWindow(mayAsk);
  const calls = limits.reduce((sum, {maxTurns}) => sum + maxTurns, 0);
  const contextTokens = limits[0]?.contextTokens;
  if (whole === undefined && contextTokens === undefined) return {calls};
  const window = Math.min(whole ?? Number.POSITIVE_INFINITY, contextTokens ?? Number.POSITIVE_INFINITY);
  const out = Math.min(model.maxOutputTokens, window / 2);
  return {calls, usage: {...NO_USAGE, input_tokens: calls * (window - out), output_tokens: calls * out}};
}

/** Names at most three files, and says how many more there are. */
export function nameFiles(files: readonly string[]): string {
  const shown = files.slice(0, 3).join(', ');
  return files.length > 3 ? `${shown} and ${files.length - 3} more` : shown;
}
