/** A session and its subagents as they are on disk: what an export is made of. */
import type {StoredRun} from '../../core/contract/runs.ts';
import type {RestoredMessage, TranscriptEntry} from '../../core/contract/transcript.ts';
import type {Redactor} from '../../core/secrets/redaction.ts';
import {UsageError} from '../../core/util/errors.ts';
import {getRestoredMessages} from '../../storage/sessions/conversation.ts';
import type {SessionStore} from '../../storage/sessions/session-store.ts';
import {readTranscript, type TranscriptHeader} from '../../storage/sessions/transcript.ts';

export interface StoredConversation {
  readonly header: TranscriptHeader;
  /** All lines but the first. */
  readonly entries: readonly TranscriptEntry[];
  /** The conversation as it is now. */
  readonly messages: readonly RestoredMessage[];
  /** In the order of their dispatch. */
  readonly runs: readonly ExportedRun[];
}

export interface ExportedRun extends StoredRun {
  readonly entries: readonly TranscriptEntry[];
}

/**
 * @param redactor takes out keys that were not known yet when the lines were written
 * @throws UsageError when there is no such session, or nothing of it on disk yet
 */
export function readStoredSession(store: SessionStore, id: string, redactor: Redactor): StoredConversation {
  if (!store.exists(id)) throw new UsageError('There is nothing to export yet: nothing was said in this session');
  const found = store.find(id);
  const transcript = readTranscript(found.transcript);
  const runStore = store.runStore(() => found.id);
  const runs = runStore.list().map((run) => ({...run, entries: runStore.read(run.runId)}));
  return redactor.values({...transcript, messages: getRestoredMessages(transcript), runs});
}
