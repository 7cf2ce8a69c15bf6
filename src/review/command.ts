/** Runs a review for its two front ends, `mini-cc review` and `/review`: target, estimate, question, review, report. */
import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import {SEVERITIES, type Severity} from '../agents/shipped/answers.ts';
import {UsageError} from '../core/util/errors.ts';
import {checkReportFile} from '../core/util/files/report-file.ts';
import {formatUsd} from '../core/util/messages.ts';
import {quote} from '../core/util/problem.ts';
import {reviewBySyntax} from './by-syntax.ts';
import {type Change, readChange, type Target} from './change.ts';
import type {Finding} from './claims.ts';
import {formatReview, toSarif} from './report.ts';
import {countChanged, formatPlan, parseFinders, planReview, type Review, type ReviewDeps, runReview} from './review.ts';

export interface ReviewArguments extends Target {
  readonly finders?: string | undefined;
  readonly all: boolean;
  /** File that gets the findings as SARIF. */
  readonly sarif?: string | undefined;
  readonly failOn?: string | undefined;
  /** Begins without a question. */
  readonly sure: boolean;
}

export interface ReviewFront {
  readonly version: string;
  /** Shows a line before the review ends. */
  readonly say: (line: string) => void;
  /** Asks the person. @returns undefined when no person can be asked */
  readonly ask: (question: string) => Promise<boolean | undefined>;
  readonly signal: AbortSignal;
}

interface ReviewOutcome {
  readonly exitCode: 0 | 1 | 3;
  readonly text: string;
  /** Absent when the person said no. */
  readonly review?: Review;
}

/** US dollars. A review that may cost more asks first. */
const ASKS_ABOVE = 0.5;
const FAIL_ON = [...SEVERITIES, 'never'] as const;

/** @throws UsageError for bad usage, and when a person must be asked and cannot be */
export async function review(args: ReviewArguments, deps: ReviewDeps, front: ReviewFront): Promise<ReviewOutcome> {
  const finders = parseFinders(args.finders);
  const failOn = parseFailOn(args.failOn);
  const report = args.sarif === undefined ? undefined : path.resolve(deps.root, args.sarif);
  if (report !== undefined) checkReportFile('--sarif', report);
  const change = await readChange(args, {...deps, report});
  for (const note of change.notes) front.say(note);
  if (change.files.length === 0) {
    await writeSarif(NOTHING, args, deps, front);
    const text = `Nothing to review: no change ${change.against === 'the diff' ? 'in' : 'against'} ${change.against}.`;
    return {exitCode: 0, text, review: NOTHING};
  }
  const isOffline = finders.every((name) => {
    const agent = deps.getAgent(name);
    return agent !== undefined && deps.chooseModel(agent).model.offline;
  });
  const done = isOffline ? await withoutReviewer(change, front) : await withFinders(change, finders, args, deps, front);
  if (!done) return {exitCode: 0, text: 'Not reviewed.'};
  await writeSarif(done, args, deps, front);
  return {exitCode: isOffline ? 0 : getExitCode(done, failOn), text: formatReview(done, args.all), review: done};
}

const NOTHING: Review = {
  complete: true,
  files: 0,
  lines: 0,
  findings: [],
  dropped: {no_such_lines: 0, outside: 0, doubles: 0, refuted: 0},
  errors: [],
  finders: 0,
  claims: 0,
  isAtLimit: false,
};

async function withoutReviewer(change: Change, front: ReviewFront): Promise<Review> {
  front.say('The offline model is no reviewer: this is what it finds by syntax. It does not understand the code.');
  const findings = await reviewBySyntax(change.files);
  const lines = countChanged(change.files);
  return {...NOTHING, files: change.files.length, lines, findings, claims: findings.length};
}

/** @returns undefined when the person said no */
async function withFinders(
  change: Change,
  names: readonly string[],
  {sure}: ReviewArguments,
  deps: ReviewDeps,
  front: ReviewFront,
): Promise<Review | undefined> {
  const plan = await planReview(change, names, deps, front.signal);
  const estimate = formatPlan(plan);
  front.say(estimate);
  if (!sure && plan.cost !== undefined && plan.cost.most > ASKS_ABOVE) {
    const answer = await front.ask(`${estimate}. Begin?`);
    const limit = formatUsd(ASKS_ABOVE);
    if (answer === undefined) throw new UsageError(`review: it may cost more than ${limit}: --yes begins all the same`);
    if (!answer) return undefined;
  }
  return runReview(plan, deps, front.signal);
}

async function writeSarif(done: Review, {sarif}: ReviewArguments, {root}: ReviewDeps, {version}: ReviewFront) {
  if (sarif !== undefined)
    await writeFile(path.resolve(root, sarif), `${JSON.stringify(toSarif(done, version), null, 2)}\n`);
}

function parseFailOn(word = 'high'): (typeof FAIL_ON)[number] {
  const found = FAIL_ON.find((each) => each === word);
  if (!found) throw new UsageError(`--fail-on takes ${FAIL_ON.join(', ')}, not ${quote(word)}`);
  return found;
}

function getExitCode({findings, complete, isAtLimit}: Review, failOn: Severity | 'never'): 0 | 1 | 3 {
  if (isAtLimit) return 3;
  const least = failOn === 'never' ? -1 : SEVERITIES.indexOf(failOn);
  return !complete || findings.some(({severity}) => SEVERITIES.indexOf(severity) <= least) ? 1 : 0;
}

/** Formats the task of the agent that fixes a finding. */
export function formatFix({file, line, endLine, title, why, failure, suggestion}: Finding): string {
  const lines = endLine > line ? `${line}-${endLine}` : `${line}`;
  return [
    `A review found this in ${file}:${lines}: ${title}`,
    `Why: ${why}`,
    `Failure: ${failure}`,
    ...(suggestion === undefined ? [] : [`Suggestion: ${suggestion}`]),
    'Mend it, and nothing else. Check first that it is true; if it is not, change nothing and say why.',
  ].join('\n');
}
