/** Reads a session and its subagents from disk for an export. */
import type {StoredRun} from '../../core/contract/runs.ts';
import type {RestoredMessage, TranscriptEntry} from '../../core/contract/transcript.ts';
import type {Redactor} from '../../core/secrets/redaction.ts';
import {UsageError} from '../../core/util/errors.ts';
import {getRestoredMessages} from '../../storage/sessions/conversation.ts';
import type {SessionStore} from '../../storage/sessions/session-store.ts';
import {readTranscript, type TranscriptHeader} from '../../storage/sessions/transcript.ts';

export interface ExportDeps {
  readonly store: SessionStore;
  readonly redactor: Redactor;
  /** Folder in which relative paths begin. */
  readonly root: string;
}

export interface StoredConversation {
  readonly header: TranscriptHeader;
  /** All lines except the first. */
  readonly entries: readonly TranscriptEntry[];
  readonly messages: readonly RestoredMessage[];
  /** Runs in the order of their dispatch. */
  readonly runs: readonly ExportedRun[];
}

export interface ExportedRun extends StoredRun {
  readonly entries: readonly TranscriptEntry[];
}

/**
 * @param redactor removes keys that were unknown when the lines were written
 * @throws UsageError when the session does not exist or has nothing on disk yet
 */
export function readStoredSession(store: SessionStore, id: string, redactor: Redactor): StoredConversation {
  if (!store.exists(id)) throw new UsageError('There is nothing to export yet: nothing was said in this session');
  const found = store.find(id);
  const transcript = readTranscript(found.transcript);
  const runStore = store.runStore(() => found.id);
  const runs = runStore.list().map((run) => ({...run, entries: runStore.read(run.runId)}));
  const entries = transcript.entries.filter((entry) => entry.type !== 'unread');
  return redactor.values({header: transcript.header, entries, messages: getRestoredMessages(transcript), runs});
}
