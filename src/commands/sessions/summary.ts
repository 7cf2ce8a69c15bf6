/** What there is to know of a session without going on with it. */
import {textOf} from '../../core/util/messages.ts';
import {runFoldersOf} from '../../storage/sessions/run-files.ts';
import type {SessionStore, StoredSession} from '../../storage/sessions/session-store.ts';
import {messagesOf, noHeader, readTranscript} from '../../storage/sessions/transcript.ts';

export interface SessionSummary {
  readonly id: string;
  readonly cwd: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly messages: number;
  readonly subagents: number;
  /** The first prompt. */
  readonly prompt: string;
  readonly transcript: string;
}

/** One that cannot be read: what is left is where it is. */
export interface DamagedSession {
  readonly id: string;
  /** ISO 8601. */
  readonly updatedAt: string;
  readonly transcript: string;
  readonly error: string;
}

/** For a list, which has a row for each session whatever became of it. */
export function rowOf(session: StoredSession, store: SessionStore): SessionSummary | DamagedSession {
  if (session.header) return summaryOf(session, store);
  const {id, transcript, mtimeMs} = session;
  return {id, updatedAt: new Date(mtimeMs).toISOString(), transcript, error: noHeader(transcript)};
}

/** @throws UsageError when it is damaged. */
export function summaryOf({id, transcript, mtimeMs}: StoredSession, store: SessionStore): SessionSummary {
  const read = readTranscript(transcript);
  const messages = messagesOf(read);
  return {
    id,
    cwd: read.header.cwd,
    createdAt: read.header.at,
    updatedAt: new Date(mtimeMs).toISOString(),
    messages: messages.length,
    subagents: runFoldersOf(store.sessionFolder(id)).length,
    prompt: textOf(messages[0]?.content ?? ''),
    transcript,
  };
}
