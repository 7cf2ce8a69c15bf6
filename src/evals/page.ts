/** Formats the result of a test as one HTML page: rates with their intervals, cost against rate, and each trial. */
import {createTwoFilesPatch} from 'diff';
import {formatHtmlPage, type Html, html} from '../core/util/html.ts';
import {formatUsd} from '../core/util/messages.ts';
import {formatCount, formatTokens, toShortLine} from '../core/util/text.ts';
import {ignoreUnreadable, readEntries} from '../storage/sessions/transcript.ts';
import type {AgentResult, AgentTestResult, TestedCase, TestedTrial, TestSummary} from './result-types.ts';
import {
  formatMoney,
  formatPercent,
  formatPoints,
  formatRate,
  formatRuns,
  formatSpreads,
  formatTime,
} from './results.ts';
import type {JobResult} from './run-tests.ts';

/** Reads a file of the workspace as it was before a trial. @returns undefined when there was none */
export type ReadBefore = (of: JobResult, file: string) => Promise<string | undefined>;

/** What the page shows of a trial besides its result. */
interface Detail {
  readonly answer: string;
  readonly diffs: readonly string[];
  readonly calls: Calls;
}

/** By the id of the run. */
type Details = ReadonlyMap<string, Detail>;

/** Times in milliseconds since the run began. */
interface Calls {
  readonly length: number;
  readonly spans: readonly {readonly name: string; readonly from: number; readonly to: number}[];
}

/** Characters of an answer or a diff that are shown. */
const MAX_SHOWN = 20_000;
const WIDTH = 1000;
const LABEL = 260;

export async function formatResultPage(
  result: AgentTestResult,
  results: readonly JobResult[],
  readBefore: ReadBefore,
): Promise<string> {
  const details = new Map<string, Detail>();
  for (const job of results) {
    const {answer, run, transcript, durationMs} = job.record;
    const diffs = await Promise.all(formatDiffs(job, readBefore));
    details.set(run, {answer, diffs, calls: readCalls(transcript, durationMs)});
  }
  const title = `Tests of ${result.agents.map(({agent}) => agent).join(', ')}`;
  const body = html`<h1>${title}</h1>
<p class="dim">${formatRuns(result)}. Intervals hold the true value in 95 of 100 such tests.</p>
${result.agents.map((each) => formatAgent(each, details))}`;
  return formatHtmlPage(title, body, STYLE);
}

function formatDiffs({record, evalCase, ...rest}: JobResult, readBefore: ReadBefore): Promise<string>[] {
  return record.changed
    .filter(({bySetup}) => !bySetup)
    .map(async ({path: file, content, kind}) => {
      const before = await readBefore({record, evalCase, ...rest}, file);
      if (kind === 'other' || (kind === 'file' && content === undefined)) return `${file}: not kept`;
      const after = content === undefined ? '' : Buffer.from(content, 'base64').toString();
      return createTwoFilesPatch(before === undefined ? '/dev/null' : file, file, before ?? '', after);
    });
}

/** Reads when a run called tools. A transcript that is gone, or has lines that cannot be read, shows what it can. */
function readCalls(transcript: string, durationMs: number): Calls {
  const entries = ignoreUnreadable(() => readEntries(transcript)) ?? [];
  const messages = entries
    .filter((entry) => entry.type === 'message')
    .map(({at, message}) => ({at: Date.parse(at), message}));
  const began = messages[0]?.at ?? 0;
  const spans = messages.flatMap(({at, message: {role, content}}, index) => {
    if (role !== 'assistant' || typeof content === 'string') return [];
    const next = messages[index + 1]?.at ?? began + durationMs;
    const names = content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : []));
    return names.length === 0 ? [] : [{name: names.join(', '), from: at - began, to: Math.max(at, next) - began}];
  });
  return {length: Math.max(durationMs, ...spans.map(({to}) => to), 1), spans};
}

function formatAgent(result: AgentResult, details: Details): Html {
  const {agent, model, definition, cases, summary, baseline} = result;
  const arms = [
    {name: agent, summary},
    ...(baseline ? [{name: `baseline ${baseline.name}`, summary: baseline.summary}] : []),
  ];
  const longest = Math.max(1, ...[...details.values()].map(({calls}) => calls.length));
  return html`<h2>${agent}</h2>
<dl class="facts"><dt>Model</dt><dd>${model}</dd><dt>Definition</dt><dd>${definition.slice(0, 12)}</dd>
<dt>Passed</dt><dd>${summary.passed} of ${summary.runs}: ${formatRate(summary)}</dd>
<dt>Median (p95)</dt><dd>${formatSpreads(summary).join(' · ')}</dd>
${baseline && html`<dt>Against ${baseline.name}</dt><dd><strong>${baseline.verdict}</strong> (${formatPoints(baseline.difference)} points, 95 %: ${formatPoints(baseline.interval[0])} to ${formatPoints(baseline.interval[1])})</dd>`}</dl>
${drawRates(arms)}
${drawCases(cases, baseline?.cases)}
${drawCosts(cases, baseline?.cases)}
${cases.map((each) => formatCase(each, details, longest))}`;
}

const toX = (rate: number) => LABEL + rate * (WIDTH - LABEL - 30);

/** Draws a scale of 0 to 100 % behind rows. */
function drawScale(height: number): Html {
  const marks = [0, 0.25, 0.5, 0.75, 1];
  return html`${marks.map(
    (mark) =>
      html`<line class="grid" x1="${toX(mark)}" x2="${toX(mark)}" y1="4" y2="${height - 22}"/><text class="tick" x="${toX(mark)}" y="${height - 6}">${formatPercent(mark)}</text>`,
  )}`;
}

function drawRates(arms: readonly {readonly name: string; readonly summary: TestSummary}[]): Html {
  const height = arms.length * 34 + 30;
  const rows = arms.map(({name, summary: {pass_rate: rate, interval}}, index) => {
    const y = index * 34 + 20;
    return html`<text x="0" y="${y + 5}">${shorten(name)}</text><line class="range c${index}" x1="${toX(interval[0])}" x2="${toX(interval[1])}" y1="${y}" y2="${y}"/><circle class="c${index}" cx="${toX(rate)}" cy="${y}" r="7"><title>${name}: ${formatPercent(rate)}</title></circle>`;
  });
  return drawFigure('Pass rate over all cases, with its 95 % interval', height, html`${drawScale(height)}${rows}`);
}

function drawCases(cases: readonly TestedCase[], before: readonly TestedCase[] = []): Html {
  const height = cases.length * 26 + 30;
  const rows = cases.map((own, index) => {
    const y = index * 26 + 8;
    const other = before.find(({id}) => id === own.id);
    const bar = (each: TestedCase, top: number, color: number) =>
      html`<rect class="c${color}" x="${LABEL}" y="${top}" height="${other ? 7 : 14}" width="${Math.max(2, toX(each.passed / each.trials) - LABEL)}"><title>${String(each.id)}: ${each.passed} of ${each.trials}</title></rect>`;
    return html`<text x="0" y="${y + 12}">${shorten(String(own.id))}</text>${bar(own, y, 0)}${other && bar(other, y + 8, 1)}`;
  });
  return drawFigure('Trials that passed, by case', height, html`${drawScale(height)}${rows}`);
}

/** Draws the mean cost of a case against its rate; tokens where no price is known, or all are free. */
function drawCosts(cases: readonly TestedCase[], before: readonly TestedCase[] = []): Html {
  const isPriced = [...cases, ...before].every(({runs}) => runs.every(({usd}) => usd !== null && usd > 0));
  const getCost = ({runs}: TestedCase) =>
    runs.reduce((sum, run) => sum + (isPriced ? run.usd! : run.tokens), 0) / Math.max(1, runs.length);
  const most = Math.max(...[...cases, ...before].map(getCost)) || 1;
  const height = 260;
  const draw = (each: TestedCase, color: number) => {
    const cost = isPriced ? formatUsd(getCost(each)) : `${formatTokens(getCost(each))} tokens`;
    const rate = each.passed / each.trials;
    const x = 70 + (getCost(each) / most) * (WIDTH - 100);
    return html`<circle class="c${color} dot" cx="${x.toFixed(1)}" cy="${(15 + (1 - rate) * 200).toFixed(1)}" r="8"><title>${String(each.id)}: ${formatPercent(rate)} at ${cost}</title></circle>`;
  };
  const top = isPriced ? formatUsd(most) : formatTokens(most);
  const axes = html`<line class="grid" x1="70" x2="${WIDTH - 30}" y1="215" y2="215"/><line class="grid" x1="70" x2="70" y1="15" y2="215"/><text x="0" y="20">100 %</text><text x="0" y="220">0 %</text><text class="tick" x="${WIDTH - 30}" y="242">${top}</text><text class="tick" x="70" y="242">0</text>`;
  const title = `Rate of each case against its mean ${isPriced ? 'cost' : 'number of tokens'}`;
  return drawFigure(
    title,
    height,
    html`${axes}${before.map((each) => draw(each, 1))}${cases.map((each) => draw(each, 0))}`,
  );
}

function drawFigure(title: string, height: number, content: Html): Html {
  return html`<figure><figcaption>${title}</figcaption><svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}">${content}</svg></figure>`;
}

function formatCase({id, trials, passed, runs}: TestedCase, details: Details, longest: number): Html {
  return html`<h3>${String(id)} <span class="${passed === trials ? 'dim' : 'bad'}">${passed} of ${trials}</span></h3>
${runs.map((run) => formatTrial(run, details, longest))}`;
}

function formatTrial(run: TestedTrial, details: Details, longest: number): Html {
  const {answer = '', diffs = [], calls = {length: run.duration_ms, spans: []}} = details.get(run.run) ?? {};
  const failed = run.checks.filter((check) => !check.passed);
  const scale = (ms: number) => ((ms / longest) * WIDTH).toFixed(1);
  const bars = calls.spans.map(
    ({name, from, to}) =>
      html`<rect class="call" x="${scale(from)}" width="${scale(Math.max(to - from, longest / 400))}" height="10"><title>${name}: ${formatTime(to - from)}</title></rect>`,
  );
  return html`<section class="run"><div class="who">trial ${run.trial} · <span class="${run.passed ? '' : 'bad'}">${run.passed ? 'passed' : 'failed'}</span>${run.kept ? ' · kept' : ''}</div>
<svg viewBox="0 0 ${WIDTH} 10" preserveAspectRatio="none" role="img" aria-label="timeline"><rect class="c0" width="${scale(Math.max(calls.length, longest / 200))}" height="10"/>${bars}</svg>
<div class="figures">${run.outcome} · ${formatCount(run.turns, 'turn')} · ${formatTokens(run.tokens)} tokens · cost ${formatMoney(run.usd)} · ${formatTime(run.duration_ms)}</div>
${failed.map(({check, expected, seen, where}) => html`<div class="note bad figures">${check}: expected ${expected}<br>seen: ${seen}<br>in ${where}</div>`)}
<details><summary>answer${diffs.length > 0 ? `, ${formatCount(diffs.length, 'changed file')}` : ''}</summary><pre>${cut(answer) || 'no answer'}</pre>${diffs.map((diff) => html`<pre>${cut(diff)}</pre>`)}${formatAssertions(run)}</details></section>`;
}

function formatAssertions({assertions}: TestedTrial): readonly Html[] {
  return assertions.map(({text, mark, quote}) => html`<p>${mark}: ${text}${quote === '' ? '' : ` (“${quote}”)`}</p>`);
}

function cut(text: string): string {
  return text.length <= MAX_SHOWN
    ? text
    : `${text.slice(0, MAX_SHOWN).toWellFormed()}\n(${text.length} characters in all)`;
}

/** Shortens the label of a row to what fits before the drawing. */
const shorten = (label: string) => toShortLine(label, 27);

const STYLE = `
h3{font-size:1rem;margin:1.6rem 0 .4rem}figure{margin:1.2rem 0}figcaption{font-size:.85rem;color:var(--dim)}
figure svg{width:100%;height:auto}figure text{fill:var(--fg);font-size:17px}figure text.tick{fill:var(--dim);font-size:14px;text-anchor:middle}
line.grid{stroke:var(--line)}line.range{stroke-width:4;stroke-linecap:round}
${[0, 1].map((n) => `line.c${n}{stroke:var(--a${n})}circle.c${n}{fill:var(--a${n})}`).join('')}circle.dot{opacity:.75}
.run>.note{grid-column:2;margin:.3rem 0}
`;
