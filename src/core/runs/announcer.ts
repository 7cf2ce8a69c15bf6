/** From a background run that has ended to what the main agent reads and what the screen shows. */

import type {AgentEventBody} from '../contract/events.ts';
import type {RunRecord} from '../contract/runs.ts';
import type {Letter} from '../turn/inbox.ts';
import {ANNOUNCE_SKIP, announcementId, announcementMessage, announcementText, type EndedRun} from './announcement.ts';
import {cutAtParagraph} from './report.ts';

export interface Announcement {
  /** For the main agent's inbox. */
  readonly letter: Letter;
  /** For the screen. */
  readonly event: AgentEventBody & {type: 'announcement'};
}

/**
 * @param resultTokens what its prompt asks for; past twice that the text is cut.
 * @returns undefined when there is nothing to post: it was no background run, or it asked for silence.
 */
export function announcementOf(
  record: RunRecord,
  whole: string,
  durationMs: number,
  resultTokens: number,
): Announcement | undefined {
  const {runId, round, agent, description, usage, sessionId, transcript, outcome = 'unknown', reason = ''} = record;
  if (!record.background || isSilent(record, whole)) return undefined;
  const text = cutAtParagraph(whole, 2 * resultTokens, transcript);
  const run: EndedRun = {runId, round, agent, outcome, reason, text, durationMs, usage, sessionId, transcript};
  return {
    letter: {
      id: announcementId(runId, round),
      content: announcementMessage(run),
      kind: 'announcement',
      // Whoever stopped it knows.
      wakes: outcome !== 'stopped',
    },
    event: {type: 'announcement', runId, agent, description, outcome, text: announcementText(run)},
  };
}

export function isSilent(record: Pick<RunRecord, 'outcome'>, text: string): boolean {
  return record.outcome === 'success' && text === ANNOUNCE_SKIP;
}
