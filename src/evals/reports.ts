/** Writes results in the forms that other programs read: JUnit XML, and the files of the Agent Skills guide. */

import {toFileName} from './kept-trials.ts';
import type {AgentResult, AgentTestResult, TestedCase, TestedTrial, TestSummary, Verdict} from './result-types.ts';

/** One suite an agent, one test case a trial. */
export function formatJunit({agents}: AgentTestResult): string {
  const suites = agents.map(({agent, cases, summary}) => {
    const runs = cases.flatMap((each) => each.runs.map((run) => ({id: each.id, run})));
    const counts = `tests="${summary.runs}" failures="${summary.runs - summary.passed}" errors="0"`;
    const time = runs.reduce((sum, {run}) => sum + run.duration_ms, 0);
    return [
      `  <testsuite name="${escapeXml(agent)}" ${counts} time="${seconds(time)}">`,
      ...runs.map(({id, run}) => formatTestCase(agent, id, run)),
      '  </testsuite>',
    ].join('\n');
  });
  const sum = (get: (summary: TestSummary) => number) => agents.reduce((total, {summary}) => total + get(summary), 0);
  const failures = sum(({runs, passed}) => runs - passed);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites tests="${sum(({runs}) => runs)}" failures="${failures}" errors="0">\n${suites.join('\n')}\n</testsuites>\n`;
}

function formatTestCase(agent: string, id: string | number, run: TestedTrial): string {
  const head = `    <testcase classname="${escapeXml(agent)}" name="${escapeXml(String(id))}" time="${seconds(run.duration_ms)}"`;
  const failed = run.checks.filter(({passed}) => !passed);
  if (failed.length === 0) return `${head}/>`;
  const message = failed.map(describe).join('; ');
  const text = [...failed.map((each) => `${describe(each)} (${each.where})`), run.transcript].join('\n');
  return `${head}>\n      <failure message="${escapeXml(message)}">${escapeXml(text)}</failure>\n    </testcase>`;
}

function describe({check, expected, seen}: Verdict): string {
  return `${check}: expected ${expected}, seen: ${seen}`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

/** Escapes text for XML 1.0, which cannot contain most control characters at all. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');
}

/** Lists the files of a results folder. */
export function listGuideFiles(
  {agents}: AgentTestResult,
  what: 'agent' | 'skill',
): readonly {readonly name: string; readonly text: string}[] {
  return agents.flatMap((each) => {
    const {baseline} = each;
    const [own, old] = [`with_${what}`, baseline?.name === 'none' ? `without_${what}` : `old_${what}`];
    return [
      ...listRunFiles(each.agent, own, each.cases),
      ...(baseline ? listRunFiles(each.agent, old, baseline.cases) : []),
      {name: `${each.agent}/benchmark.json`, text: toText(createBenchmark(each, own, old))},
    ];
  });
}

function listRunFiles(agent: string, arm: string, cases: readonly TestedCase[]) {
  return cases.flatMap(({id, runs}) =>
    runs.flatMap((run) => {
      const folder = `${agent}/eval-${toFileName(id)}/${arm}/trial-${run.trial}`;
      const results = run.checks.map((check) => ({
        text: `${check.check}: ${check.expected}`,
        passed: check.passed,
        evidence: `${check.seen} (${check.where})`,
      }));
      const passed = results.filter((each) => each.passed).length;
      const total = results.length;
      const summary = {passed, failed: total - passed, total, pass_rate: total === 0 ? 1 : passed / total};
      return [
        {name: `${folder}/grading.json`, text: toText({assertion_results: results, summary})},
        {name: `${folder}/timing.json`, text: toText({total_tokens: run.tokens, duration_ms: run.duration_ms})},
      ];
    }),
  );
}

function createBenchmark({cases, baseline}: AgentResult, name: string, old: string) {
  const own = createRunSummary(cases);
  if (!baseline) return {run_summary: {[name]: own}};
  const other = createRunSummary(baseline.cases);
  const delta = {
    pass_rate: own.pass_rate.mean - other.pass_rate.mean,
    time_seconds: own.time_seconds.mean - other.time_seconds.mean,
    tokens: own.tokens.mean - other.tokens.mean,
  };
  return {run_summary: {[name]: own, [old]: other, delta}};
}

function createRunSummary(cases: readonly TestedCase[]) {
  const runs = cases.flatMap((each) => each.runs);
  return {
    pass_rate: getMoments(cases.map(({passed, trials}) => passed / trials)),
    time_seconds: getMoments(runs.map((run) => run.duration_ms / 1000)),
    tokens: getMoments(runs.map((run) => run.tokens)),
  };
}

function getMoments(values: readonly number[]): {readonly mean: number; readonly stddev: number} {
  const n = values.length;
  if (n === 0) return {mean: 0, stddev: 0};
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return {mean, stddev: n < 2 ? 0 : Math.sqrt(squares / (n - 1))};
}

function toText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
