/** How a background run reports: one message in a tag of the runtime's, in the history once for each run. */
import type {Message, Usage} from './messages.ts';
import {formatDuration} from './progress-line.ts';
import {inputTokens, tokens} from './receipt.ts';
import type {Outcome} from './run-result.ts';

/** A run whose text is exactly this is not announced. */
export const ANNOUNCE_SKIP = 'ANNOUNCE_SKIP';
const TAG = 'task_announcement';

export interface EndedRun {
  readonly runId: string;
  /** A run that went on after its end is announced again; 1 unless it did. */
  readonly round?: number;
  readonly agent: string;
  readonly outcome: Outcome;
  /** Why it did not succeed. */
  readonly reason: string;
  readonly text: string;
  readonly durationMs: number;
  readonly usage: Usage;
  readonly sessionId: string;
  readonly transcript: string;
}

export function sessionKeyOf(agent: string, runId: string): string {
  return `agent:${agent}:subagent:${runId}`;
}

/** What stands in the tag: the run's id, and which of its ends it was. */
export function announcementId(runId: string, round = 1): string {
  return round === 1 ? runId : `${runId}#${round}`;
}

/** Four statuses, from the outcome alone; whatever the text claims. */
function statusOf(outcome: Outcome): 'success' | 'error' | 'timeout' | 'unknown' {
  return outcome === 'success' || outcome === 'timeout' || outcome === 'unknown' ? outcome : 'error';
}

function noteOf(run: EndedRun): string {
  switch (run.outcome) {
    case 'success':
      return '- (none)';
    case 'stopped':
      return '- Error: stopped by user';
    case 'limit':
      return `- Error: limit reached: ${run.reason}`;
    case 'unknown':
      return '- Error: mini-cc ended before this run did';
    default:
      return `- Error: ${run.reason || run.outcome}`;
  }
}

/** The words of an announcement, without its tag; for the screen. */
export function announcementText(run: EndedRun): string {
  const into = inputTokens(run.usage);
  const out = run.usage.output_tokens;
  const stats = [
    `runtime ${formatDuration(run.durationMs)}`,
    `tokens ${tokens(into + out)} (in ${tokens(into)} / out ${tokens(out)})`,
    'est n/a',
    `sessionKey ${sessionKeyOf(run.agent, run.runId)}`,
    `sessionId ${run.sessionId}`,
    `transcript ${run.transcript}`,
  ];
  const result = run.text.trim() === '' ? '(not available)' : run.text.trim();
  return `Status: ${statusOf(run.outcome)}\nResult: ${result}\nNotes: ${noteOf(run)}\nStats: ${stats.join(' • ')}`;
}

/** The message for the main agent's history. The tag's delimiters within are escaped, so that no text can end it. */
export function announcementMessage(run: EndedRun): string {
  const inner = announcementText(run).replaceAll(new RegExp(`<(/?)\\s*${TAG}`, 'gi'), `&lt;$1${TAG}`);
  return `<${TAG} run="${announcementId(run.runId, run.round)}">\n${inner}\n</${TAG}>`;
}

/** Ids of the announcements that this history holds. */
export function announcedRuns(messages: readonly Message[]): Set<string> {
  const runs = new Set<string>();
  for (const {role, content} of messages) {
    if (role !== 'user' || typeof content !== 'string') continue;
    for (const [, runId] of content.matchAll(new RegExp(`^<${TAG} run="([^"]+)">$`, 'gm'))) runs.add(runId!);
  }
  return runs;
}
