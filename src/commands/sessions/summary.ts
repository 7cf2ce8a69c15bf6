/** What there is to know of a session without going on with it. */
import {textOf} from '../../core/messages.ts';
import {runFoldersOf} from '../../storage/run-files.ts';
import type {SessionStore, StoredSession} from '../../storage/session-store.ts';
import {messagesOf, readTranscript} from '../../storage/transcript.ts';

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
