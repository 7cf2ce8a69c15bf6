/** Stored sessions: the conversations that a session opens, and `mini-cc sessions …`. */

import {randomUUID} from 'node:crypto';
import {realpathSync} from 'node:fs';
import type {CommandLineOutcome, SubcommandArguments} from '../commands/command-line.ts';
import {runSessionsCommandLine} from '../commands/sessions.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import type {Conversation} from '../core/session/parts.ts';
import {History} from '../core/turn/history.ts';
import {UsageError} from '../core/util/errors.ts';
import {SessionStore} from '../storage/sessions/session-store.ts';
import {
  getAnnouncedIds,
  getRestoredMessages,
  readMessagesBefore,
  readRewindPoints,
  readTranscript,
  type Transcript,
} from '../storage/sessions/transcript.ts';
import type {SessionOptions} from './options.ts';

/** `mini-cc sessions …`, without opening one. @throws UsageError for bad usage or an unknown id. */
export function sessionsCommandLine(options: SessionOptions, args: SubcommandArguments): CommandLineOutcome {
  return runSessionsCommandLine(args, new SessionStore(options.home, realpathSync(options.cwd)));
}

/** A new conversation, or the one that the session goes on with. @throws UsageError when it cannot be found. */
export function openFirstConversation(store: SessionStore, options: SessionOptions, redactor: Redactor): Conversation {
  const {which} = options;
  if (which.type === 'new') {
    if (which.id !== undefined && store.exists(which.id)) {
      throw new UsageError(`Session ${which.id} exists already: go on with it by --resume ${which.id}`);
    }
    return openConversation(store, which.id ?? randomUUID(), redactor, () => undefined);
  }
  const found = which.type === 'resume' ? store.find(which.id) : store.latest();
  if (!found) throw new UsageError(`There is no session to continue in ${options.cwd}`);
  // An empty transcript has nothing to go on with.
  const read = () => (store.exists(found.id) ? readTranscript(found.transcript) : undefined);
  return openConversation(store, found.id, redactor, read);
}

/** A warning when a crash or a full disk came before the first line of the session. */
export function describeEmptySession(store: SessionStore, {which}: SessionOptions, {id}: Conversation): string[] {
  return which.type === 'resume' && !store.exists(id) ? [`session ${id} is empty: it starts from the beginning`] : [];
}

/** @param read the transcript so far. Called when the session is locked, so that no other process writes it. */
export function openConversation(
  store: SessionStore,
  id: string,
  redactor: Redactor,
  read: () => Transcript | undefined,
): Conversation {
  const {journal, transcript, output, close} = store.openSession(id);
  try {
    const transcriptSoFar = read();
    const restored = transcriptSoFar ? getRestoredMessages(transcriptSoFar) : [];
    const announced = transcriptSoFar ? getAnnouncedIds(transcriptSoFar) : new Set<string>();
    const history = new History(journal, restored);
    history.answerOpenCalls('Cut off: mini-cc ended before this call did.');
    const rewindPoints = () => readRewindPoints(transcript);
    const messagesBefore = (uuid: string) => readMessagesBefore(transcript, uuid);
    // The transcript may be older than the key that the redactor removes.
    return {
      ...{id, history, output, transcript, restored: redactor.values(restored), announced},
      ...{rewindPoints, messagesBefore, close},
    };
  } catch (error) {
    close();
    throw error;
  }
}
