/** How a background run reports: one message in a tag of the runtime's, in the history once for each run. */
import type {Message, Usage} from '../contract/messages.ts';
import type {Outcome} from '../contract/run-result.ts';
import {formatDuration} from './progress-line.ts';
import {inputTokens, tokens} from './receipt.ts';

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

/** A part of a user message in the history: what the person typed, or how a background run ended. */
export type MessagePart =
  | {readonly kind: 'words'; readonly text: string}
  | {
      readonly kind: 'announcement';
      readonly runId: string;
      readonly agent: string;
      readonly outcome: Outcome;
      /** As `announcementText` made it. */
      readonly text: string;
    };

/** The parts of a user message in their order: it may hold several announcements and words, between blank lines. */
export function messagePartsOf(text: string): MessagePart[] {
  const parts: MessagePart[] = [];
  let end = 0;
  const addWords = (words: string) => {
    if (words.trim() !== '') parts.push({kind: 'words', text: words.replaceAll(/^\n+|\n+$/g, '')});
  };
  for (const match of text.matchAll(new RegExp(`^<${TAG} run="([^"]+)">\\n([\\s\\S]*?)\\n</${TAG}>$`, 'gm'))) {
    addWords(text.slice(end, match.index));
    parts.push(announcementPart(match[1]!, match[2]!));
    end = match.index + match[0].length;
  }
  addWords(text.slice(end));
  return parts;
}

function announcementPart(id: string, inner: string): MessagePart {
  const text = inner.replaceAll(new RegExp(`&lt;(/?)${TAG}`, 'gi'), `<$1${TAG}`);
  const {status, notes, stats} = announcementFields(text);
  const [, agent = 'subagent'] = /(?:^| • )sessionKey agent:(.+?):subagent:/.exec(stats) ?? [];
  return {kind: 'announcement', runId: id.replace(/#\d+$/, ''), agent, outcome: outcomeOf(status, notes), text};
}

/** What `announcementText` put together. Read from its end: the result may itself look like any of the parts. */
export function announcementFields(text: string): {status: string; result: string; notes: string; stats: string} {
  const [head, stats] = splitAtLast(text, '\nStats: ');
  const [said, notes] = splitAtLast(head, '\nNotes: ');
  const [, status = '', result = said] = /^Status: (\w+)\nResult: ([\s\S]*)$/.exec(said) ?? [];
  return {status, result, notes, stats};
}

function splitAtLast(text: string, mark: string): [string, string] {
  const at = text.lastIndexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)];
}

/** Of the outcomes that share the status `error`, the notes say which it was. */
function outcomeOf(status: string, notes: string): Outcome {
  if (status === 'success' || status === 'timeout' || status === 'unknown') return status;
  if (notes === '- Error: stopped by user') return 'stopped';
  return notes.startsWith('- Error: limit reached: ') ? 'limit' : 'error';
}
