/** Describes what a fan-out will do: parts, limits, tools, and the preview that shows them. */
import type {AgentDefinition} from '../agent-types.ts';
import type {FanOutMode, PlannedEdit} from '../contract/fan-out.ts';
import type {Model, Usage} from '../contract/model.ts';
import type {Where} from '../contract/worktree.ts';
import {formatSeconds} from '../runs/progress-line.ts';
import {tokens as formatTokens} from '../runs/receipt.ts';
import {countTokens, NO_USAGE} from '../util/messages.ts';
import {formatUsd} from '../util/money.ts';
import {partition, type Split} from './partition.ts';
import {count, nameFiles} from './summary.ts';

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

interface PartLimits {
  readonly maxTurns: number;
  readonly timeoutSeconds: number;
  readonly contextTokens?: number;
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

export function splitFiles(
  files: readonly string[],
  {parts, split}: Pick<FanOutSettings, 'parts' | 'split'>,
): readonly (readonly string[])[] {
  return partition(files, parts, split);
}

export function getPartLimits({agent, model, timeoutSeconds}: FanOutPlan, files: number): PartLimits {
  const byFiles = Math.max(PART_SECONDS.least, PART_SECONDS.perFile * files);
  const contextTokens = agent.contextTokens ?? (model.local ? LOCAL_CONTEXT : undefined);
  return {
    maxTurns: agent.maxTurns ?? PART_TURNS,
    timeoutSeconds: timeoutSeconds ?? agent.timeoutSeconds ?? byFiles,
    ...(contextTokens === undefined ? {} : {contextTokens}),
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

/** Describes a part for its progress line. */
export function describePart(part: number, parts: number, files: number): string {
  return `part ${part} of ${parts}, ${count(files, 'file')}`;
}

/** Returns the cost of these tokens in US dollars; undefined if a price is not known. */
export type GetCost = (model: Model, usage: Usage) => number | undefined;

/** Formats for a person what will happen, and what it can cost at most. */
export async function formatPreview(plan: FanOutPlan, getCost?: GetCost): Promise<string> {
  const {parts, model, tools} = plan;
  const limits = parts.map((files) => getPartLimits(plan, files.length));
  const {calls, usage} = await getWorstCase(limits, model);
  const cost = usage && getCost?.(model, usage);
  const context = limits[0]?.contextTokens;
  const seconds = [...new Set(limits.map(({timeoutSeconds}) => timeoutSeconds))];
  const time = seconds.map((each) => (each === 0 ? 'no time limit' : formatSeconds(each * 1000))).join(' or ');
  return [
    ...parts.map((files, index) => `${index + 1}  ${count(files.length, 'file')}: ${nameFiles(files)}`),
    `model ${model.name} · tools ${tools.join(', ')}`,
    `limits of each: ${count(limits[0]?.maxTurns ?? 0, 'turn')}, ${time}${context === undefined ? '' : `, ${context} tokens of context`}`,
    `worst case: ${count(calls, 'model call')}, ${usage ? `${formatTokens(countTokens(usage))} tokens` : 'tokens unknown'}, cost ${cost === undefined ? 'n/a' : formatUsd(cost)}`,
  ].join('\n');
}

/**
 * Assumes that each call fills the context window and reads nothing from the cache. @returns no usage if the window is
 * not known
 */
async function getWorstCase(limits: readonly PartLimits[], model: Model) {
  const whole = await model.contextWindow(false);
  const calls = limits.reduce((sum, {maxTurns}) => sum + maxTurns, 0);
  const contextTokens = limits[0]?.contextTokens;
  if (whole === undefined && contextTokens === undefined) return {calls};
  const window = Math.min(whole ?? Number.POSITIVE_INFINITY, contextTokens ?? Number.POSITIVE_INFINITY);
  const out = Math.min(model.maxOutputTokens, window / 2);
  return {calls, usage: {...NO_USAGE, input_tokens: calls * (window - out), output_tokens: calls * out}};
}
