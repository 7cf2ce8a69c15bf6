/** Draws the subagents of a session over time: when each waited, worked and called tools, and what it used. */

import {formatDuration, formatEnding} from '../../core/runs/progress-line.ts';
import {type Html, html} from '../../core/util/html.ts';
import {addUsage, countInputTokens, formatCost, NO_USAGE} from '../../core/util/messages.ts';
import {formatCount, formatTokens} from '../../core/util/text.ts';
import {listPauses} from '../shared/run-timeline.ts';
import {describeCall, formatEntries} from './exported-messages.ts';
import type {ExportedRun} from './stored-session.ts';

/** A time span in milliseconds since the epoch. */
interface Span {
  readonly from: number;
  readonly to: number;
}

interface Call extends Span {
  readonly name: string;
  readonly title: string;
}

/** A run with its times. From `created` to `began` it waited. */
interface TimedRun {
  readonly run: ExportedRun;
  readonly created: number;
  readonly began: number;
  readonly ended: number;
  readonly calls: readonly Call[];
}

/** Milliseconds. Runs that overlap or follow within this time share a scale, because a session may last for days. */
const GAP_MS = 60_000;
const WIDTH = 1000;
/** Minimal width of a bar, so that it can be seen. */
const MIN_BAR = 4;

export function formatTimeline(runs: readonly ExportedRun[]): Html {
  if (runs.length === 0) return html`<p class="dim">No subagent was dispatched.</p>`;
  const names = [...new Set(runs.map(({agent}) => agent))];
  const timed = runs.map(timeRun).sort((a, b) => a.created - b.created);
  return html`<p class="legend dim"><svg viewBox="0 0 10 10" preserveAspectRatio="none"><rect class="wait" width="10" height="10"/></svg> waited
<svg viewBox="0 0 10 10" preserveAspectRatio="none"><rect class="c0" width="10" height="10"/></svg> worked, the lighter parts in tools. Times are local to where this was exported.</p>
${groupRuns(timed).map((group) => formatGroup(group, names))}`;
}

function timeRun(run: ExportedRun): TimedRun {
  const created = run.createdAt;
  const messages = run.entries.filter((entry) => entry.type === 'message');
  const waited = run.entries.find((entry) => entry.type === 'began');
  const began = waited ? Date.parse(waited.at) : Math.max(created, Date.parse(messages[0]?.at ?? '') || created);
  const calls = messages.flatMap(({at, message}) => {
    if (message.role !== 'assistant' || typeof message.content === 'string') return [];
    return message.content.flatMap((block): Call[] => {
      if (block.type !== 'tool_use') return [];
      const end = messages.find(({message: {content}}) => hasResult(content, block.id));
      const from = Date.parse(at);
      return [{name: block.name, title: describeCall(block), from, to: end ? Date.parse(end.at) : run.lastAt}];
    });
  });
  return {run, created, began, ended: Math.max(began, run.lastAt), calls};
}

function hasResult(content: unknown, id: string): boolean {
  return Array.isArray(content) && content.some((block) => block.type === 'tool_result' && block.tool_use_id === id);
}

/** @param runs runs in the order of their dispatch */
function groupRuns(runs: readonly TimedRun[]): readonly (readonly TimedRun[])[] {
  const groups: TimedRun[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const run of runs) {
    if (run.created > end + GAP_MS) groups.push([]);
    groups.at(-1)!.push(run);
    end = Math.max(end, run.ended);
  }
  return groups;
}

function formatGroup(group: readonly TimedRun[], names: readonly string[]): Html {
  const scale = {from: group[0]!.created, to: Math.max(...group.map(({ended}) => ended))};
  const usage = group.reduce((sum, {run}) => addUsage(sum, run.usage), NO_USAGE);
  return html`<div class="scale"><span>${formatTime(scale.from)}</span><span>${formatDuration(scale.to - scale.from)} · est ${formatCost(usage)}</span><span>${formatTime(scale.to)}</span></div>
${group.map((run) => formatRun(run, scale, `c${names.indexOf(run.run.agent) % 8}`))}`;
}

function formatRun({run, created, began, ended, calls}: TimedRun, scale: Span, color: string): Html {
  const outcome = run.end?.outcome ?? 'unknown';
  const pauses = listPauses(run.entries, ended);
  const paused = pauses.reduce((sum, {from, to}) => sum + to - from, 0);
  const bars = [
    bar('wait', {from: created, to: began}, scale, `waited ${formatDuration(began - created)}`),
    bar(color, {from: began, to: ended}, scale, `worked ${formatDuration(ended - began)}`),
    ...calls.map((call) => bar('call', call, scale, `${call.title}, ${formatDuration(call.to - call.from)}`)),
    ...pauses.map((pause) =>
      bar('wait', pause, scale, `waited ${formatDuration(pause.to - pause.from)} for the limit of ${pause.provider}`),
    ),
  ];
  return html`<section class="run" id="run-${run.runId}">
<div class="who"><strong class="${color}">${run.agent}</strong> ${run.description}</div>
<svg viewBox="0 0 ${WIDTH} 20" preserveAspectRatio="none" role="img"><title>${run.agent}: ${run.description}</title>${bars}</svg>
<div class="figures"><span class="${outcome === 'success' ? '' : 'bad'}">${formatOutcome(run)}</span>${formatWait(began - created)} · worked ${formatDuration(ended - began - paused)}${paused > 0 ? ` · waited ${formatDuration(paused)} for a limit` : ''} · ${formatTools(calls)} · ${run.model}<br>${formatUse(run)}</div>
<details><summary class="dim">what it was asked and did</summary>${formatEntries(run.entries)}</details>
</section>`;
}

/** Formats the waiting time; empty for a run that began at once. */
function formatWait(ms: number): string {
  return ms < 100 ? '' : ` · waited ${formatDuration(ms)}`;
}

function bar(className: string, {from, to}: Span, scale: Span, title: string): Html {
  if (className === 'wait' && to <= from) return html``;
  const length = Math.max(1, scale.to - scale.from);
  const x = Math.min(WIDTH - MIN_BAR, Math.round(((from - scale.from) / length) * WIDTH));
  const width = Math.max(MIN_BAR, Math.round(((to - from) / length) * WIDTH));
  const [y, height] = className === 'call' ? [6, 8] : [2, 16];
  return html`<rect class="${className}" x="${x}" y="${y}" width="${Math.min(width, WIDTH - x)}" height="${height}"><title>${title}</title></rect>`;
}

function formatOutcome({end}: ExportedRun): string {
  const words = formatEnding(end?.outcome ?? 'unknown', '');
  if (!end?.reason) return words;
  return end.reason.startsWith(words) ? end.reason : `${words}: ${end.reason}`;
}

/** Formats the calls by tool, e.g. `4 tools: 3 read_file, 1 bash`. */
function formatTools(calls: readonly Call[]): string {
  if (calls.length === 0) return 'no tools';
  const counts = [...Map.groupBy(calls, ({name}) => name)].map(([name, each]) => `${each.length} ${name}`);
  return `${formatCount(calls.length, 'tool')}: ${counts.join(', ')}`;
}

/** Returns the receipt of the run, or its tokens when it has none. */
function formatUse({end, usage}: ExportedRun): string {
  return (
    end?.receipt ??
    `tokens in ${formatTokens(countInputTokens(usage))} out ${formatTokens(usage.output_tokens)} · est ${formatCost(usage)}`
  );
}

function formatTime(at: number): string {
  return new Date(at).toLocaleTimeString('en-GB');
}
