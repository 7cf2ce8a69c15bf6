/** Implements `mini-cc agents test`: finds the cases, asks before it spends, runs the trials, and reports. */

import type {Model} from '../core/contract/model.ts';
import type {Limits} from '../core/contract/results.ts';
import {getWorstCase} from '../core/fan-out/plan.ts';
import {getErrorMessage, MiniCcError, UsageError} from '../core/util/errors.ts';
import {formatUsd} from '../core/util/messages.ts';
import {formatMeant} from '../core/util/names.ts';
import {formatProblem, hasError, type Problem} from '../core/util/problem.ts';
import {formatCount, showControls} from '../core/util/text.ts';
import type {FoundCases} from './case-file.ts';
import type {CaseSet} from './contract.ts';
import type {Judge} from './judge.ts';
import type {AgentTestResult} from './result-types.ts';
import {createTestResult, getExitCode} from './results.ts';
import type {JobResult, Tape, TestedAgent, TestPlan, TestRunner} from './run-tests.ts';

interface TestOptions {
  /** Agents; empty for all that have cases. */
  readonly names: readonly string[];
  /** Id of the only case. */
  readonly case?: string | undefined;
  readonly trials?: number | undefined;
  readonly failUnder?: number | undefined;
  readonly fresh?: boolean | undefined;
  readonly regrade?: boolean | undefined;
  /** Whether its question is answered with yes. */
  readonly sure: boolean;
  /** US dollars. */
  readonly maxBudgetUsd?: number | undefined;
}

/** What can be tested, agents or skills. */
export interface TestSubjects {
  readonly what: 'agent' | 'skill';
  readonly names: readonly string[];
  /** Lists what a test without names tests. */
  listWithCases(): readonly string[];
  find(name: string): Promise<FoundCases | undefined>;
  /** Returns the path of the file for its cases, as people write it. */
  getPlace(name: string): string;
  /** @throws UsageError for a baseline that is none */
  createTarget(name: string, set: CaseSet): Promise<TestedAgent>;
}

interface TestDeps {
  readonly subjects: TestSubjects;
  readonly runner: TestRunner;
  readonly judge?: Judge | undefined;
  readonly tape?: Tape | undefined;
  readonly signal: AbortSignal;
  say(line: string): void;
  shownPath(file: string): string;
  getLimits(target: TestedAgent, prompt: string): Limits;
  /** Whether the user trusts these commands of a file of cases. */
  mayRun(file: string, commands: readonly string[]): boolean;
  /** Asks a person; undefined where none can be asked. */
  readonly ask?: ((question: string) => Promise<boolean>) | undefined;
}

/** How a test ended that printed its problem already, or that has a result. */
export type TestEnd =
  | {readonly exitCode: number; readonly errors: readonly string[]}
  | {readonly exitCode: number; readonly result: AgentTestResult; readonly results: readonly JobResult[]};

/** @throws UsageError for names and files that are wrong, and where no person can be asked */
export async function runTest(options: TestOptions, deps: TestDeps): Promise<TestEnd> {
  const found = await findCases(options, deps);
  if ('errors' in found) return found;
  const {runner, signal, tape} = deps;
  const created: TestedAgent[] = [];
  for (const {agent, set} of found.sets) created.push(await deps.subjects.createTarget(agent, set));
  const {targets, trials = 1} = (await tape?.prepare(created, options.trials)) ?? {targets: created, ...options};
  try {
    if (options.regrade) {
      const results = await runner.regrade(targets, signal);
      return finish(targets, results, options, deps.judge);
    }
    // Only a run that is made can be recorded or replayed.
    const plan = await runner.plan(targets, {trials, isFresh: (options.fresh ?? false) || tape !== undefined, signal});
    if (!(await confirm(plan, options, deps))) return {exitCode: 2, errors: ['Nothing was run.']};
    const {results, limit} = await runner.run(plan, signal);
    const end = finish(targets, results, options, deps.judge);
    if (signal.aborted) return {...end, exitCode: 130};
    if (limit === undefined) return end;
    deps.say(
      `mini-cc: ended by its ${limit}: ${results.length} of ${formatCount(plan.jobs.length, 'run')} have a result`,
    );
    return {...end, exitCode: 3};
  } catch (error) {
    if (signal.aborted) return {exitCode: 130, errors: ['Interrupted.']};
    // The state that a case asks for cannot be laid out: its file is wrong.
    if (error instanceof MiniCcError && error.code === 'CASE') return {exitCode: 2, errors: [getErrorMessage(error)]};
    throw error;
  }
}

function finish(
  targets: readonly TestedAgent[],
  results: readonly JobResult[],
  {failUnder}: TestOptions,
  judge: Judge | undefined,
): TestEnd {
  const result = createTestResult(targets, results, judge ? judge.usd : 0);
  return {exitCode: getExitCode(result, failUnder), result, results};
}

interface FoundSets {
  readonly sets: readonly {readonly agent: string; readonly set: CaseSet}[];
}

async function findCases(
  {names, case: id}: TestOptions,
  {subjects, say, shownPath}: TestDeps,
): Promise<FoundSets | Exclude<TestEnd, {result: AgentTestResult}>> {
  const {what, names: all} = subjects;
  const unknown = names.find((name) => !all.includes(name));
  if (unknown !== undefined) {
    const there = all.length === 0 ? '' : `. There are: ${all.join(', ')}`;
    throw new UsageError(`No ${what} ${unknown}${formatMeant(unknown, all)}${there}`);
  }
  const asked = names.length > 0 ? [...new Set(names)] : subjects.listWithCases();
  if (asked.length === 0) throw new UsageError(`there are no cases: write ${subjects.getPlace('NAME')}`);
  const sets: {agent: string; set: CaseSet}[] = [];
  const errors: string[] = [];
  const format = (problem: Problem) => formatProblem({...problem, file: shownPath(problem.file)});
  for (const agent of asked) {
    const found = await subjects.find(agent);
    const place = subjects.getPlace(agent);
    if (!found) throw new UsageError(`${agent} has no cases: write ${place}`);
    for (const problem of found.problems) if (problem.severity !== 'error') say(`warning: ${format(problem)}`);
    errors.push(...found.problems.filter((each) => each.severity === 'error').map(format));
    if (!all.includes(agent)) errors.push(`${place}:1:1: there is no ${what} ${agent}${formatMeant(agent, all)}`);
    else if (found.set && !hasError(found.problems)) sets.push({agent, set: found.set});
  }
  if (errors.length > 0) return {exitCode: 2, errors};
  if (id === undefined) return {sets};
  const chosen = sets.map(({agent, set}) => ({
    agent,
    set: {...set, cases: set.cases.filter((each) => String(each.id) === id)},
  }));
  const filled = chosen.filter(({set}) => set.cases.length > 0);
  const ids = sets.flatMap(({set}) => set.cases.map((each) => String(each.id)));
  if (filled.length === 0)
    throw new UsageError(`there is no case ${id}${formatMeant(id, ids)}. There are: ${ids.join(', ')}`);
  return {sets: filled};
}

/** Says what will run and what it can cost, and asks. @throws UsageError where no person can be asked */
async function confirm({missing, ungraded}: TestPlan, options: TestOptions, deps: TestDeps): Promise<boolean> {
  if (missing.length === 0 && ungraded.length === 0) return true;
  const commands = new Map<string, Set<string>>();
  for (const {target, evalCase} of missing) {
    const own = commands.get(target.set.file) ?? new Set<string>();
    const checks = evalCase.checks.flatMap((check) => ('command' in check ? [check.command] : []));
    for (const command of [...evalCase.setup, ...checks]) own.add(command);
    if (own.size > 0) commands.set(target.set.file, own);
  }
  const isReplay = deps.tape?.isReplay ?? false;
  const most = isReplay ? 0 : await getMostUsd(missing, ungraded.length, options, deps);
  const models = [...new Set(missing.map(({arm}) => arm.model.name))].join(', ');
  const price =
    most === undefined
      ? 'cost unknown, as no price is known'
      : most === Number.POSITIVE_INFINITY
        ? 'cost unknown, as the size of its context window is not known'
        : `at most ${formatUsd(most)}`;
  const on = missing.length === 0 ? '' : ` on ${models}`;
  const graded = ungraded.length === 0 ? '' : `, ${ungraded.length} to grade by ${deps.judge!.model.name}`;
  const runs = formatCount(missing.length, 'run');
  deps.say(isReplay ? `${runs} replayed${on}: no model is asked` : `${runs}${on}${graded}, ${price}`);
  for (const [file, own] of commands) {
    deps.say(`${deps.shownPath(file)} runs, confined to the workspace of the trial:`);
    for (const command of own) deps.say(`  $ ${showControls(command)}`);
  }
  const untrusted = [...commands].filter(([file, own]) => !deps.mayRun(file, [...own]));
  if (commands.size === 0 && !most) return true;
  if (options.sure || !deps.ask) {
    if (!options.sure) throw new UsageError(`${deps.subjects.what}s test asks before it runs this: say --yes`);
    const [first] = untrusted;
    if (first)
      throw new UsageError(`the commands of ${deps.shownPath(first[0])} run only in a trusted directory: say --trust`);
    return true;
  }
  return deps.ask('Run this? 1 yes, 4 no: ');
}

/** @returns undefined when a price is not known, infinity when a context window is not known */
async function getMostUsd(
  jobs: TestPlan['missing'],
  questions: number,
  {maxBudgetUsd}: TestOptions,
  deps: TestDeps,
): Promise<number | undefined> {
  let sum = 0;
  for (const {target, arm, evalCase} of jobs) {
    const cost = await getMostOfRun(arm.model, deps.getLimits({...target, arms: [arm]}, evalCase.prompt));
    if (cost === undefined) return maxBudgetUsd;
    sum += Math.min(cost, arm.definition.maxBudgetUsd ?? cost);
  }
  if (questions > 0) {
    const cost = await getMostOfRun(deps.judge!.model, {maxTurns: questions});
    if (cost === undefined) return maxBudgetUsd;
    sum += cost;
  }
  return Math.min(sum, maxBudgetUsd ?? sum);
}

async function getMostOfRun(
  model: Model,
  limits: Pick<Limits, 'maxTurns' | 'contextTokens'>,
): Promise<number | undefined> {
  const {inputPrice, outputPrice} = model;
  if (inputPrice === 0 && outputPrice === 0) return 0;
  if (inputPrice === undefined || outputPrice === undefined) return undefined;
  const {usage} = await getWorstCase([limits], model, true);
  if (!usage) return Number.POSITIVE_INFINITY;
  return (usage.input_tokens * inputPrice + usage.output_tokens * outputPrice) / 1_000_000;
}
