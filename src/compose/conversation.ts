/** The conversations of a session: the first one, and those that /clear begins. */
import {randomUUID} from 'node:crypto';
import type {Redactor} from '../core/secrets/redaction.ts';
import type {Conversation} from '../core/session/parts.ts';
import {History} from '../core/turn/history.ts';
import {UsageError} from '../core/util/errors.ts';
import type {SessionStore} from '../storage/sessions/session-store.ts';
import {
  getAnnouncedIds,
  getRestoredMessages,
  readRewindPoints,
  readTranscript,
  type Transcript,
} from '../storage/sessions/transcript.ts';
import type {SessionOptions} from './options.ts';

/** The conversation that the session begins with, or goes on with. @throws UsageError when there is none such. */
export function openFirst(store: SessionStore, options: SessionOptions, redactor: Redactor): Conversation {
  const {which} = options;
  if (which.type === 'new') {
    if (which.id !== undefined && store.exists(which.id)) {
      throw new UsageError(`Session ${which.id} exists already: go on with it by --resume ${which.id}`);
    }
    return openConversation(store, which.id ?? randomUUID(), redactor, () => undefined);
  }
  const found = which.type === 'resume' ? store.find(which.id) : store.latest();
  if (!found) throw new UsageError(`There is no session to continue in ${options.cwd}`);
  // One without a byte holds nothing to go on with.
  const read = () => (store.exists(found.id) ? readTranscript(found.transcript) : undefined);
  return openConversation(store, found.id, redactor, read);
}

/** A crash, or a full disk, came before its first line. */
export function emptyNotice(store: SessionStore, {which}: SessionOptions, {id}: Conversation): string[] {
  return which.type === 'resume' && !store.exists(id) ? [`session ${id} holds nothing: it begins anew`] : [];
}

/** @param read what was said before; asked once the session is ours, so that nobody else still writes it. */
export function openConversation(
  store: SessionStore,
  id: string,
  redactor: Redactor,
  read: () => Transcript | undefined,
): Conversation {
  const {journal, transcript, output, close} = store.openSession(id);
  try {
    const told = read();
    const restored = told ? getRestoredMessages(told) : [];
    const announced = told ? getAnnouncedIds(told) : new Set<string>();
    const history = new History(
      journal,
      restored.map(({message}) => message),
    );
    history.settleOpenCalls('Cut off: mini-cc ended before this call did.');
    // A transcript may be older than this key, or than mini-cc's care for keys.
    const rewindPoints = () => readRewindPoints(transcript);
    return {id, history, output, transcript, restored: redactor.values(restored), announced, rewindPoints, close};
  } catch (error) {
    close();
    throw error;
  }
}
