/** Sums up trials: the object of `--json`, the table of the terminal, and the exit code. */

import {hashJson} from '../core/util/hash.ts';
import {formatUsd} from '../core/util/messages.ts';
import {formatColumns, formatCount, formatTokens, toShortLine} from '../core/util/text.ts';
import {SAME} from './contract.ts';
import type {
  AgentResult,
  AgentTestResult,
  BaselineResult,
  GradedAssertion,
  Mark,
  Spread,
  TestedCase,
  TestedTrial,
  TestSummary,
} from './result-types.ts';
import type {Arm, JobResult, TestedAgent} from './run-tests.ts';
import {compareInPairs, getPercentile, getWilsonInterval} from './statistics.ts';

/** @param judgeUsd what the judge cost, in US dollars; undefined when its price is not known */
export function createTestResult(
  targets: readonly TestedAgent[],
  results: readonly JobResult[],
  judgeUsd: number | undefined,
): AgentTestResult {
  const made = results.filter(({isKept, record}) => !isKept && record.run !== '');
  const costs = [judgeUsd, ...made.map(({record}) => record.usd)];
  return {
    agents: targets.map((target) =>
      createAgentResult(
        target,
        results.filter((each) => each.target === target),
      ),
    ),
    runs_made: made.length,
    runs_kept: results.filter(({isKept}) => isKept).length,
    usd: costs.includes(undefined) ? null : costs.reduce((sum: number, usd) => sum + (usd ?? 0), 0),
  };
}

function createAgentResult(target: TestedAgent, results: readonly JobResult[]): AgentResult {
  const {agent, set, arms} = target;
  const [own, baseline] = arms;
  const listCases = (arm: Arm): TestedCase[] =>
    set.cases.flatMap((evalCase) => {
      const runs = results.filter((each) => each.arm === arm && each.evalCase === evalCase).map(toTrialResult);
      if (runs.length === 0) return [];
      const noChecks = evalCase.checks.length === 0 && evalCase.assertions.length === 0;
      const passed = runs.filter((run) => run.passed).length;
      const replays = results.flatMap((each) =>
        each.arm === arm && each.evalCase === evalCase ? (each.replay ?? []) : [],
      );
      const [replay] = [...replays.filter(({verdict}) => verdict !== SAME), ...replays];
      const {id} = evalCase;
      return [{id, trials: runs.length, passed, no_checks: noChecks, ...(replay && {replay: replay.verdict}), runs}];
    });
  const cases = listCases(own);
  return {
    agent,
    definition: hashJson(own.definition),
    model: own.model.name,
    cases,
    summary: summarize(cases),
    ...(baseline && {baseline: compare(baseline.name, cases, listCases(baseline))}),
  };
}

function toTrialResult({trial, isKept, record, verdicts, evalCase, assertions}: JobResult): TestedTrial {
  const {outcome, run, transcript, turns, tokens, usd = null, durationMs} = record;
  return {
    trial,
    passed: verdicts.every(({passed}) => passed),
    kept: isKept,
    outcome,
    run,
    transcript,
    turns,
    tokens,
    usd,
    duration_ms: durationMs,
    checks: verdicts,
    assertions: assertions ?? evalCase.assertions.map((text) => ({text, mark: 'not graded', quote: ''})),
  };
}

function summarize(cases: readonly TestedCase[]): TestSummary {
  const runs = cases.flatMap((each) => each.runs);
  const passed = runs.filter((run) => run.passed).length;
  const rate = runs.length === 0 ? 0 : passed / runs.length;
  const countMarks = (mark: Mark) => runs.flatMap((run) => run.assertions).filter((each) => each.mark === mark).length;
  return {
    cases: cases.length,
    runs: runs.length,
    passed,
    pass_rate: rate,
    interval: cases.length === 0 ? [0, 1] : getWilsonInterval(rate, cases.length),
    pass_hat_k: cases.length === 0 ? 0 : cases.filter((each) => each.passed === each.trials).length / cases.length,
    k: Math.max(0, ...cases.map(({trials}) => trials)),
    ...getSpreads(runs),
    assertions: {
      passed: countMarks('passed'),
      failed: countMarks('failed'),
      no_evidence: countMarks('no evidence'),
    },
  };
}

function getSpreads(runs: readonly TestedTrial[]) {
  return {
    turns: getSpread(runs.map((run) => run.turns)),
    tokens: getSpread(runs.map((run) => run.tokens)),
    usd: getSpread(runs.flatMap((run) => run.usd ?? [])),
    duration_ms: getSpread(runs.map((run) => run.duration_ms)),
  };
}

/** Returns the median and the 95th percentile. */
export function getSpread(values: readonly number[]): Spread {
  return {median: getPercentile(values, 0.5) ?? null, p95: getPercentile(values, 0.95) ?? null};
}

function compare(name: string, cases: readonly TestedCase[], before: readonly TestedCase[]): BaselineResult {
  const getRate = ({passed, trials}: TestedCase) => passed / trials;
  const differences = cases.flatMap((own) => {
    const other = before.find(({id}) => id === own.id);
    return other ? [getRate(own) - getRate(other)] : [];
  });
  const {difference, interval, verdict} = compareInPairs(differences);
  return {name, cases: before, summary: summarize(before), difference, interval, verdict};
}

/** @param failUnder rate below which the test fails; undefined when every trial must pass */
export function getExitCode({agents}: AgentTestResult, failUnder: number | undefined): number {
  const isGood = ({cases, summary, baseline}: AgentResult) =>
    [...cases, ...(baseline?.cases ?? [])].every(({replay = SAME}) => replay === SAME) &&
    summary.runs > 0 &&
    (failUnder === undefined ? summary.passed === summary.runs : summary.pass_rate >= failUnder) &&
    baseline?.verdict !== 'worse';
  return agents.every(isGood) ? 0 : 1;
}

/** Most failed checks of a case that the table shows. */
const MAX_SHOWN = 6;

/** Formats the result for a terminal of 80 columns. */
export function formatTestResult(result: AgentTestResult): string {
  const {agents} = result;
  const isReplay = agents.some(({cases}) => cases.some(({replay}) => replay !== undefined));
  if (isReplay) return [...agents.map(formatReplays), REPLAY_SHOWS].join('\n');
  return [...agents.map((each) => `${formatAgent(each)}\n`), formatRuns(result)].join('\n');
}

/** Formats `3 runs made ($0.12), 2 kept from before`. */
export function formatRuns({runs_made: made, runs_kept: kept, usd}: AgentTestResult): string {
  const cost = usd === null ? 'cost n/a' : formatUsd(usd);
  return `${formatCount(made, 'run')} made (${cost}), ${kept} kept from before`;
}

const REPLAY_SHOWS = `A replay shows whether anything changed that the model would see. It measures no quality.`;

function formatReplays({agent, model, cases, baseline}: AgentResult): string {
  const rows = [
    ...cases.map((each) => ({each, name: ''})),
    ...(baseline?.cases ?? []).map((each) => ({each, name: ` (baseline ${baseline!.name})`})),
  ];
  const lines = rows.flatMap(({each, name}) => [
    `  ${toShortLine(String(each.id), 28)}${name}: ${each.replay}`,
    // The checks of a replay that was cut off say nothing more.
    ...(each.replay === SAME ? formatFailures(each).map((line) => `  ${line}`) : []),
  ]);
  const same = rows.filter(({each}) => each.replay === SAME).length;
  return [`${agent} · ${model} · replayed: ${same} of ${formatCount(rows.length, 'case')} the same`, ...lines, ''].join(
    '\n',
  );
}

function formatAgent({agent, model, cases, summary, baseline}: AgentResult): string {
  if (cases.length === 0) return `${agent} · ${model} · ${NO_RESULT}`;
  const rows = [['case', 'passed', 'turns', 'tokens', 'cost', 'time'], ...cases.map(formatRow)];
  const table = formatColumns(rows, {isRight: (column) => column > 0, max: 34});
  const lines = [table[0]!, ...cases.flatMap((each, index) => [table[index + 1]!, ...formatFailures(each)])];
  const isOpen = ({mark}: GradedAssertion) => mark === 'not graded';
  const notGraded = cases.flatMap(({runs}) =>
    (runs.find((run) => run.assertions.some(isOpen))?.assertions ?? []).filter(isOpen),
  ).length;
  return [
    `${agent} · ${model} · ${formatCount(summary.cases, 'case')} × ${formatCount(summary.k, 'trial')}`,
    ...lines.map((line) => `  ${line}`),
    ...formatSummary(summary).map((line) => `  ${line}`),
    ...formatMarks(summary).map((line) => `  ${line}`),
    ...(notGraded > 0 ? [`  ${formatCount(notGraded, 'assertion')} not graded (--judge MODEL)`] : []),
    ...(baseline ? formatBaseline(baseline).map((line) => `  ${line}`) : []),
  ].join('\n');
}

function formatRow({id, trials, passed, no_checks: noChecks, runs}: TestedCase): readonly string[] {
  const {turns, tokens, usd, duration_ms: time} = getSpreads(runs);
  const isNotRun = runs.every(({outcome}) => outcome === 'not run');
  const name = toShortLine(String(id), 28) + (isNotRun ? ' (not run)' : noChecks ? ' (no checks)' : '');
  return [
    name,
    `${passed}/${trials}`,
    String(turns.median),
    formatTokens(tokens.median ?? 0),
    formatMoney(usd.median),
    formatTime(time.median),
  ];
}

function formatMarks({assertions: {passed, failed, no_evidence: unproven}}: TestSummary): readonly string[] {
  if (passed + failed + unproven === 0) return [];
  return [`assertions by the judge: ${passed} passed, ${failed} failed, ${unproven} without evidence`];
}

/** Shows what a person needs to repair a case: each failed check once, with the number of its trials. */
function formatFailures({runs}: TestedCase): readonly string[] {
  const failed = runs.flatMap((run) => run.checks.filter(({passed}) => !passed).map((check) => ({run, check})));
  const groups = [...Map.groupBy(failed, ({check}) => JSON.stringify([check.check, check.expected, check.where]))];
  const shown = groups.slice(0, MAX_SHOWN).flatMap(([, each]) => {
    const {check, run} = each[0]!;
    const times = runs.length > 1 ? ` (${each.length} of ${runs.length})` : '';
    return [
      `  ✗ ${check.check}${times}: expected ${check.expected}`,
      `    seen: ${check.seen}`,
      `    in ${check.where}${run.transcript === '' ? '' : ` · ${run.transcript}`}`,
    ];
  });
  const more = groups.length - MAX_SHOWN;
  const unmet = runs.flatMap(({assertions}) =>
    assertions.filter(({mark}) => mark === 'failed' || mark === 'no evidence'),
  );
  return [
    ...shown,
    ...(more > 0 ? [`  and ${more} more failed checks (--json shows all)`] : []),
    ...unmet.slice(0, MAX_SHOWN).map(({text, mark}) => `  ? ${mark}: ${toShortLine(text, 60)}`),
  ];
}

const NO_RESULT = 'no case has a result';

function formatSummary(summary: TestSummary): readonly string[] {
  const [turns, tokens, ...others] = formatSpreads(summary);
  return [`pass rate ${formatRate(summary)}`, `median (p95): ${turns} · ${tokens}`, others.join(' · ')];
}

/** Formats turns, tokens, cost and time, each as `turns 3 (5)`: the median, and the 95th percentile. */
export function formatSpreads({turns, tokens, usd, duration_ms: time}: TestSummary): readonly string[] {
  const format = (name: string, {median, p95}: Spread, show: (value: number) => string) =>
    `${name} ${median === null || p95 === null ? 'n/a' : `${show(median)} (${show(p95)})`}`;
  return [
    format('turns', turns, String),
    format('tokens', tokens, formatTokens),
    format('cost', usd, formatUsd),
    format('time', time, formatTime),
  ];
}

export function formatRate({pass_rate: rate, interval, pass_hat_k: hat, k, cases}: TestSummary): string {
  if (cases === 0) return NO_RESULT;
  const [low, high] = interval.map(formatPercent);
  return `${formatPercent(rate)} (95 %: ${low} to ${high}, ${formatCount(cases, 'case')}) · pass^${k} ${formatPercent(hat)}`;
}

function formatBaseline({name, summary, difference, interval, verdict}: BaselineResult): readonly string[] {
  if (summary.cases === 0) return [`baseline ${name}: ${NO_RESULT}`];
  return [
    `baseline ${name}: pass rate ${formatPercent(summary.pass_rate)}`,
    `difference ${formatPoints(difference)} points (95 %: ${formatPoints(interval[0])} to ${formatPoints(interval[1])})`,
    verdict,
  ];
}

export function formatPercent(rate: number): string {
  return `${Math.round(rate * 100)} %`;
}

export function formatPoints(difference: number): string {
  const points = Math.round(difference * 100);
  return `${points > 0 ? '+' : ''}${points}`;
}

export function formatMoney(usd: number | null): string {
  return usd === null ? 'n/a' : formatUsd(usd);
}

export function formatTime(ms: number | null): string {
  return ms === null ? 'n/a' : ms < 10_000 ? `${(ms / 1000).toFixed(1)}s` : `${Math.round(ms / 1000)}s`;
}
