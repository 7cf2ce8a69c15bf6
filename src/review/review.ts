/**
 * Reviews a change: finders side by side, each over groups of files; their claims merged and checked; one verifier for
 * each remaining claim. A review writes nothing.
 */
import {FINDERS, VERIFIER} from '../agents/shipped/shipped.ts';
import type {CodeIndex} from '../code-index/contract.ts';
import type {AgentDefinition} from '../core/agent-types.ts';
import type {Model} from '../core/contract/model.ts';
import type {SubagentSummary} from '../core/contract/results.ts';
import type {SubagentMark, SubagentResult} from '../core/contract/runs.ts';
import type {RunRequest} from '../core/runs/dispatch.ts';
import {formatEnding} from '../core/turn/run-ending.ts';
import {getErrorCode, getErrorMessage, UsageError} from '../core/util/errors.ts';
import {formatUsd, isBudget} from '../core/util/messages.ts';
import {findTypo} from '../core/util/names.ts';
import {quote} from '../core/util/problem.ts';
import {formatCount} from '../core/util/text.ts';
import type {Change, ChangeDeps, ChangedFile} from './change.ts';
import {type Claim, type Dropped, type Finding, findFault, mergeDoubles, rank, toClaims} from './claims.ts';
import {
  type Callers,
  countCallerLines,
  estimateTokens,
  findCallers,
  formatFinderPrompt,
  formatVerifierPrompt,
  groupFiles,
} from './prompts.ts';

export interface ReviewDeps extends ChangeDeps {
  /** Returns the code index of a folder. */
  readonly getIndex: (folder: string) => CodeIndex;
  readonly getAgent: (name: string) => AgentDefinition | undefined;
  readonly chooseModel: (agent: AgentDefinition) => {readonly model: Model; readonly warnings: readonly string[]};
  /** Runs an agent to its end. @throws MiniCcError `BUDGET` when nothing is left */
  readonly spawn: (request: RunRequest) => Promise<SubagentResult>;
  readonly log: {readonly mark: SubagentMark; summarize(since: SubagentMark): SubagentSummary | undefined};
}

export interface Review {
  /** False when a finder or a verifier failed. */
  readonly complete: boolean;
  readonly files: number;
  /** Lines added and removed. */
  readonly lines: number;
  /** In order of rank, the gravest first. */
  readonly findings: readonly Finding[];
  readonly dropped: Dropped;
  readonly errors: readonly string[];
  readonly finders: number;
  /** Distinct claims. */
  readonly claims: number;
  /** Whether a budget ended it. */
  readonly isAtLimit: boolean;
  readonly summary?: SubagentSummary | undefined;
}

/** What a review will do and cost, before it spends anything. */
interface Plan {
  readonly change: Change;
  readonly callers: Callers;
  readonly tasks: readonly Task[];
  readonly finders: number;
  /** Tokens of all calls, in and out, as they are expected. */
  readonly tokens: number;
  /** US dollars: as expected, and when every claim is verified. Absent where a price is not known. */
  readonly cost?: {readonly expected: number; readonly most: number} | undefined;
}

interface Task {
  readonly agent: AgentDefinition;
  readonly files: readonly ChangedFile[];
  readonly prompt: string;
}

/** @throws UsageError for a name that is none of them */
export function parseFinders(list: string | undefined): readonly string[] {
  if (list === undefined) return FINDERS;
  const names = list
    .split(',')
    .map((word) => (word.trim().startsWith('review-') ? word.trim() : `review-${word.trim()}`));
  const wrong = names.find((name) => !FINDERS.includes(name));
  if (wrong === undefined) return [...new Set(names)];
  const meant = findTypo(wrong, FINDERS);
  throw new UsageError(
    `--finders: there is no ${quote(wrong)}${meant === undefined ? '' : `, but ${meant}`}. There are: ${FINDERS.join(', ')}`,
  );
}

/** Tokens. Without a known window, the smallest of hosted models counts. */
const DEFAULT_WINDOW = 100_000;
/** Tokens of a call besides its message: system prompt, tools, memory files. */
const CALL_OVERHEAD = 2_200;
/** Tokens that a finder and a verifier write. */
const OUT = {finder: 800, verifier: 400};
/** Calls that finders and verifiers make on average, measured in tokens of their first call. */
const CALLS = 1.3;
/** One claim is expected for so many lines. */
const LINES_PER_CLAIM = 150;

/** Reads callers, forms the groups, and estimates. Nothing is spent. */
export async function planReview(
  change: Change,
  names: readonly string[],
  deps: ReviewDeps,
  signal: AbortSignal,
): Promise<Plan> {
  const callers = await findCallers(change, deps.getIndex(change.top), deps.mayRead, signal);
  const tasks: Task[] = [];
  for (const name of names) {
    const agent = getAgent(name, deps);
    const window = (await deps.chooseModel(agent).model.contextWindow(true)) ?? DEFAULT_WINDOW;
    for (const files of groupFiles(change, callers, Math.min(window, agent.contextTokens ?? window))) {
      tasks.push({agent, files, prompt: formatFinderPrompt(change, files, callers, getMostClaims(files))});
    }
  }
  return {change, callers, tasks, finders: names.length, ...estimate(change, tasks, deps)};
}

function getAgent(name: string, deps: ReviewDeps): AgentDefinition {
  const agent = deps.getAgent(name);
  if (!agent) throw new UsageError(`review: there is no agent ${name}: see mini-cc agents lint`);
  return agent;
}

/** Returns the number of lines that were added or removed. */
export function countChanged(files: readonly ChangedFile[]): number {
  return sum(files.map(({added, removed}) => added + removed));
}

/** A finder may name more claims in a larger change. */
function getMostClaims(files: readonly ChangedFile[]): number {
  return Math.min(15, 2 + Math.floor(countChanged(files) / 30));
}

function estimate({files}: Change, tasks: readonly Task[], deps: ReviewDeps): Pick<Plan, 'tokens' | 'cost'> {
  const finders = tasks.map(({agent, prompt}) => ({
    model: deps.chooseModel(agent).model,
    input: CALLS * (CALL_OVERHEAD + estimateTokens(prompt)),
  }));
  const verifier = deps.chooseModel(getAgent(VERIFIER, deps)).model;
  // A verifier reads the hunks of one file, and some lines around the claim.
  const verifierInput = CALLS * (CALL_OVERHEAD + 1_000);
  const claims = Math.ceil(countChanged(files) / LINES_PER_CLAIM);
  const mostClaims = sum(tasks.map((task) => getMostClaims(task.files)));
  const tokens = sum(finders.map(({input}) => input + OUT.finder)) + claims * (verifierInput + OUT.verifier);
  if ([verifier, ...finders.map(({model}) => model)].some(({inputPrice}) => inputPrice === undefined)) return {tokens};
  const found = sum(finders.map(({model, input}) => getCost(model, input, OUT.finder)));
  const verified = getCost(verifier, verifierInput, OUT.verifier);
  return {tokens, cost: {expected: found + claims * verified, most: found + mostClaims * verified}};
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function getCost({inputPrice = 0, outputPrice = 0}: Model, input: number, output: number): number {
  return (input * inputPrice + output * outputPrice) / 1_000_000;
}

/** Formats `40 files, 3,000 lines: about 310k tokens, about $0.93, at most $4.10`. */
export function formatPlan({change: {files}, tokens, cost}: Plan): string {
  const lines = `${countChanged(files).toLocaleString('en-US')} line${countChanged(files) === 1 ? '' : 's'}`;
  const money = cost ? `about ${formatUsd(cost.expected)}, at most ${formatUsd(cost.most)}` : 'cost unknown';
  return `${formatCount(files.length, 'file')}, ${lines}: about ${formatAbout(tokens)} tokens, ${money}`;
}

/** Formats with two digits: `1.2k`, `310k`, `2.1M`. */
function formatAbout(tokens: number): string {
  const [unit, divisor] = tokens >= 999_500 ? ['M', 1_000_000] : ['k', 1_000];
  return `${Number((tokens / divisor).toPrecision(2))}${unit}`;
}

type Errors = {readonly texts: string[]; isAtLimit: boolean};

/** Runs finders and verifiers. A failure of one of them is an error of the review, and the others go on. */
export async function runReview(plan: Plan, deps: ReviewDeps, signal: AbortSignal): Promise<Review> {
  const {change, callers, tasks, finders} = plan;
  const since = deps.log.mark;
  const errors: Errors = {texts: [], isAtLimit: false};
  const found = await Promise.all(
    tasks.map(async ({agent, files, prompt}) => {
      const description = `review ${files.length === 1 ? files[0]!.path : formatCount(files.length, 'file')}`;
      const answer = await ask({agent, prompt, description}, deps, errors, signal);
      return answer === undefined ? [] : toClaims(answer, agent.name, change.top);
    }),
  );
  const all = found.flat();
  const merged = mergeDoubles(all);
  const callerLines = countCallerLines(callers);
  const faults = merged.map((claim) => findFault(claim, change, callerLines));
  const count = (fault: string) => faults.filter((each) => each === fault).length;
  const checked = merged.filter((_, index) => faults[index] === undefined);
  const verified = await Promise.all(checked.map((claim) => verify(claim, plan, deps, errors, signal)));
  return {
    complete: errors.texts.length === 0,
    files: change.files.length,
    lines: countChanged(change.files),
    findings: rank(verified.filter((each) => typeof each === 'object')),
    dropped: {
      no_such_lines: count('no_such_lines'),
      outside: count('outside'),
      doubles: all.length - merged.length,
      refuted: verified.filter((each) => each === 'refuted').length,
    },
    errors: errors.texts,
    finders,
    claims: merged.length,
    isAtLimit: errors.isAtLimit,
    summary: deps.log.summarize(since),
  };
}

/** @returns the finding; undefined when the verifier failed, so that its verdict is unknown */
async function verify(
  claim: Claim,
  {change, callers}: Plan,
  deps: ReviewDeps,
  errors: Errors,
  signal: AbortSignal,
): Promise<Finding | 'refuted' | undefined> {
  const place = `${claim.file}:${claim.line}`;
  const agent = getAgent(VERIFIER, deps);
  const prompt = formatVerifierPrompt(claim, change, callers);
  const asked = {agent, prompt, description: `verify ${place}`};
  const answer = await ask(asked, deps, errors, signal, ` (not verified: ${place} ${claim.title})`);
  if (answer === undefined) return undefined;
  const {verdict} = answer as {readonly verdict: Finding['verified'] | 'refuted'};
  return verdict === 'refuted' ? verdict : {...claim, verified: verdict};
}

interface Asked {
  readonly agent: AgentDefinition;
  readonly prompt: string;
  readonly description: string;
}

/** Runs an agent. @returns its answer as data; undefined when it failed, which is then among the errors */
async function ask(
  {agent, prompt, description}: Asked,
  deps: ReviewDeps,
  errors: Errors,
  signal: AbortSignal,
  about = '',
): Promise<unknown> {
  try {
    const chosen = deps.chooseModel(agent);
    const {result} = await deps.spawn({
      ...chosen,
      agent,
      prompt,
      description,
      // A late message must not make a run of the review continue.
      endsForGood: true,
      signal,
    });
    signal.throwIfAborted();
    if (result.outcome === 'success' && result.structured !== undefined) return result.structured;
    errors.texts.push(`${agent.name}: ${formatEnding(result) || 'no answer'}${about}`);
    errors.isAtLimit ||= result.outcome === 'limit' && isBudget(result.limit);
  } catch (error) {
    signal.throwIfAborted();
    errors.texts.push(`${agent.name}: ${getErrorMessage(error)}${about}`);
    errors.isAtLimit ||= getErrorCode(error) === 'BUDGET';
  }
  return undefined;
}
