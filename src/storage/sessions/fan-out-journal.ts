/** Stores the journals of fan-outs: `<session>/fan-outs.jsonl`, a line for each step. */
import {closeSync, existsSync, readdirSync} from 'node:fs';
import path from 'node:path';
import type {FanOutJournal, FanOutLine} from '../../core/contract/fan-out.ts';
import {createPrivateFolder} from '../../core/util/files/private-file.ts';
import {appendLine, openForAppending, parseLine, readLines} from '../json-lines.ts';
import {isLocked} from './session-lock.ts';
import type {SessionStore} from './session-store.ts';

const NAME = 'fan-outs.jsonl';
/** Limit of examined sessions, newest first. */
const MAX_SESSIONS = 20;

/** @param sessionId returns the id of the open session. @param redact removes keys from what is written */
export function createFanOutJournal(
  store: Pick<SessionStore, 'folder' | 'sessionFolder' | 'list'>,
  sessionId: () => string,
  redact: <T>(value: T) => T,
): FanOutJournal {
  const getFile = (session = sessionId()) => path.join(store.sessionFolder(session), NAME);
  return {
    read(session) {
      const file = getFile(session);
      if (!existsSync(file)) return [];
      return Array.from(readLines(file), parseLine).filter((line): line is FanOutLine => isLine(line));
    },
    append(line, session) {
      const file = getFile(session);
      createPrivateFolder(path.dirname(file));
      const fd = openForAppending(file, () => '');
      try {
        appendLine(fd, JSON.stringify(redact(line)));
      } finally {
        closeSync(fd);
      }
    },
    earlierSessions() {
      // Most projects have no journal, and then no session is read.
      const names = existsSync(store.folder) ? readdirSync(store.folder) : [];
      const found = new Set(names.filter((name) => existsSync(path.join(store.folder, name, NAME))));
      if (found.size === 0) return [];
      return store
        .list()
        .map(({id}) => id)
        .filter((id) => id !== sessionId() && found.has(id) && !isLocked(store.sessionFolder(id)))
        .slice(0, MAX_SESSIONS);
    },
  };
}

function isLine(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'type' in value && 'id' in value;
}
