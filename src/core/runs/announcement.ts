/**
 * Creates the announcement of a background run that has ended: the text for the main agent and the event for the
 * screen.
 */

import type {AgentEventBody} from '../contract/events.ts';
import type {Usage} from '../contract/model.ts';
import type {Outcome} from '../contract/results.ts';
import type {RunRecord} from '../contract/runs.ts';
import type {Announcement} from '../contract/transcript.ts';
import type {QueuedMessage} from '../turn/inbox.ts';
import {countInputTokens, countTokens, formatCost} from '../util/messages.ts';
import {formatLimit, formatTokens} from '../util/text.ts';
import {formatDuration} from './progress-line.ts';
import {cutAtParagraph, escapeReceipts} from './receipt.ts';

/** A run whose text is exactly this is not announced. */
export const ANNOUNCE_SKIP = 'ANNOUNCE_SKIP';
const TAG = 'task_announcement';
/** Reason of a run that `TaskStop` stopped. */
const BY_MAIN_AGENT = 'stopped by the main agent';

/** An announcement with the figures for its last line. */
export interface EndedRun extends Announcement {
  readonly durationMs: number;
  readonly usage: Usage;
  readonly sessionId: string;
  readonly transcript: string;
}

export function getSessionKey(agent: string, runId: string): string {
  return `agent:${agent}:subagent:${runId}`;
}

/** Returns the id for the tag: the run, followed by the number of the end from the second end on. */
export function getAnnouncementId(runId: string, round: number): string {
  return round === 1 ? runId : `${runId}#${round}`;
}

/** Returns one of four statuses. It depends only on the outcome, never on the text. */
function getStatus(outcome: Outcome): 'success' | 'error' | 'timeout' | 'unknown' {
  return outcome === 'success' || outcome === 'timeout' || outcome === 'unknown' ? outcome : 'error';
}

/** Formats the line after `Notes:`. */
function formatNote(run: Pick<Announcement, 'outcome' | 'reason'>): string {
  switch (run.outcome) {
    case 'success':
      return '- (none)';
    case 'stopped':
      return `- Error: ${run.reason === BY_MAIN_AGENT ? BY_MAIN_AGENT : 'stopped by user'}`;
    case 'limit':
      return `- Error: ${formatLimit(run.reason)}`;
    case 'unknown':
      return '- Error: mini-cc ended before this run did';
    default:
      return `- Error: ${run.reason || run.outcome}`;
  }
}

/** Formats the text of an announcement, without its tag. */
export function formatAnnouncement(run: EndedRun): string {
  const {usage} = run;
  const into = formatTokens(countInputTokens(usage));
  const stats = [
    `runtime ${formatDuration(run.durationMs)}`,
    `tokens ${formatTokens(countTokens(usage))} (in ${into} / out ${formatTokens(usage.output_tokens)})`,
    `est ${formatCost(usage)}`,
    `sessionKey ${getSessionKey(run.agent, run.runId)}`,
    `sessionId ${run.sessionId}`,
    `transcript ${run.transcript}`,
  ];
  const result = run.text.trim() === '' ? '(not available)' : run.text.trim();
  return `Status: ${getStatus(run.outcome)}\nResult: ${result}\nNotes: ${formatNote(run)}\nStats: ${stats.join(' • ')}`;
}

/**
 * Formats the message for the main agent's history. Tag delimiters in the text are escaped, so that no text can end the
 * tag.
 */
export function formatAnnouncementMessage(run: EndedRun): string {
  const inner = formatAnnouncement(run).replaceAll(new RegExp(`<(/?)\\s*${TAG}`, 'gi'), `&lt;$1${TAG}`);
  return `<${TAG} run="${getAnnouncementId(run.runId, run.round)}">\n${inner}\n</${TAG}>`;
}

/** End of a background run that has not reached the main agent and the screen yet. */
export interface PendingAnnouncement {
  /** Message for the main agent's inbox. */
  readonly message: QueuedMessage;
  /** Event for the screen. */
  readonly event: AgentEventBody & {type: 'announcement'};
}

/**
 * @param resultTokens length that the run's prompt asks for. Text beyond twice that length is cut
 * @returns undefined for a foreground run, and for one whose text is `ANNOUNCE_SKIP`
 */
export function createAnnouncement(
  record: RunRecord,
  whole: string,
  durationMs: number,
  resultTokens: number,
): PendingAnnouncement | undefined {
  const {runId, round, agent, description, usage, sessionId, transcript, outcome = 'unknown'} = record;
  const reason = outcome === 'stopped' && record.stoppedBy === 'agent' ? BY_MAIN_AGENT : (record.reason ?? '');
  if (!record.background || isSilent(record, whole)) return undefined;
  // The changes of a background command are only in its receipt.
  const own = escapeReceipts(whole);
  const result = record.tool === undefined ? own : [own, record.receipt ?? ''].join('\n').trim();
  const text = cutAtParagraph(result, 2 * resultTokens, transcript);
  const announcement: Announcement = {runId, round, agent, description, outcome, reason, text};
  return {
    message: {
      id: getAnnouncementId(runId, round),
      content: formatAnnouncementMessage({...announcement, durationMs, usage, sessionId, transcript}),
      kind: 'announcement',
      announcement,
      // The end of a stopped run starts no turn.
      startsTurn: outcome !== 'stopped',
    },
    event: {type: 'announcement', ...announcement},
  };
}

export function isSilent(record: Pick<RunRecord, 'outcome'>, text: string): boolean {
  return record.outcome === 'success' && text === ANNOUNCE_SKIP;
}
