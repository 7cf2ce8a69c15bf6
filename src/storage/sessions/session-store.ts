/** Where sessions live: `<home>/projects/<slug>/<session>/session.jsonl`, their subagents and cut outputs beside. */
import {closeSync, existsSync, readdirSync, rmSync, statSync, writeSync} from 'node:fs';
import path from 'node:path';
import type {OutputStore} from '../../core/contract/tool-result.ts';
import type {Journal} from '../../core/contract/transcript.ts';
import {RedactingStream} from '../../core/secrets/redacting-stream.ts';
import {Redactor} from '../../core/secrets/redaction.ts';
import {UsageError} from '../../core/util/errors.ts';
import {openPrivate, privateFolder} from '../../core/util/private-file.ts';
import {RunFiles, TRANSCRIPT} from './run-files.ts';
import {isLocked, SessionLock} from './session-lock.ts';
import {assertContinuable, type Header, headerOf, TranscriptWriter} from './transcript.ts';

export interface OpenSession {
  readonly journal: Journal;
  readonly transcript: string;
  readonly output: OutputStore;
  close(): void;
}

export interface StoredSession {
  readonly id: string;
  readonly transcript: string;
  /** Absent when it is damaged: it tells nothing of itself, not even its directory. */
  readonly header: Header | undefined;
  /** When it was written to last, in milliseconds since the epoch. */
  readonly mtimeMs: number;
}

export class SessionStore {
  /** Holds the sessions of this working directory, and of others whose paths make the same name. */
  readonly folder: string;

  constructor(
    home: string,
    private readonly cwd: string,
    /** Takes keys out of all that is written. */
    private readonly redactor = new Redactor([]),
  ) {
    this.folder = path.join(home, 'projects', slugOf(cwd));
  }

  /** The folder of a session. @throws UsageError when the id would leave it. */
  sessionFolder(id: string): string {
    assertPlainName(id);
    return path.join(this.folder, id);
  }

  /**
   * A session that is there already is locked now, a new one with its first line.
   * @throws UsageError when another mini-cc has it open, or it cannot go on here.
   */
  openSession(id: string): OpenSession {
    const folder = this.sessionFolder(id);
    const header = {id, agent: 'main', cwd: this.cwd};
    const writer = new TranscriptWriter(path.join(folder, TRANSCRIPT), header, this.redactor);
    const lock = new SessionLock(folder, id);
    if (existsSync(writer.path)) {
      lock.acquire();
      try {
        this.#assertOurs(writer.path);
      } catch (error) {
        lock.release();
        throw error;
      }
    }
    return {
      journal: {
        append(entry) {
          lock.acquire();
          writer.append(entry);
        },
      },
      transcript: writer.path,
      output: this.#outputsIn(folder),
      close() {
        writer.close();
        lock.release();
      },
    };
  }

  /** Runs of subagents of a session; `sessionId` is asked at each call, since /clear begins a new one. */
  runStore(sessionId: () => string): RunFiles {
    const session = () => ({id: sessionId(), folder: this.sessionFolder(sessionId())});
    const outputsIn = (folder: string) => this.#outputsIn(folder);
    return new RunFiles({session, cwd: this.cwd, outputsIn, redactor: this.redactor});
  }

  /** The transcript of a session by its id or the unique beginning of one. @throws UsageError when there is none. */
  find(id: string): {id: string; transcript: string} {
    assertPlainName(id);
    const matches = this.#ids().filter((candidate) => candidate === id || candidate.startsWith(id));
    const match = matches.includes(id) ? id : matches[0];
    if (match === undefined) {
      throw new UsageError(`No session ${id} in ${this.cwd}. Sessions of this directory are in ${this.folder}`);
    }
    if (matches.length > 1 && match !== id)
      throw new UsageError(`Ambiguous session id: ${id} (${matches.length} begin so)`);
    return {id: match, transcript: path.join(this.folder, match, TRANSCRIPT)};
  }

  /** An empty file is no session yet: a crash left it before its first line. */
  exists(id: string): boolean {
    assertPlainName(id);
    return this.#ids().includes(id) && statSync(path.join(this.folder, id, TRANSCRIPT)).size > 0;
  }

  /** The session of this directory that was written to last. A damaged one cannot go on, so it is passed over. */
  latest(): StoredSession | undefined {
    return this.list().find(({header}) => header !== undefined);
  }

  /** The sessions of this directory, the one that was written to last first, with those that are damaged. */
  list(): StoredSession[] {
    return this.#found()
      .map((session) => ({...session, mtimeMs: statSync(session.transcript).mtimeMs}))
      .sort((a, b) => b.mtimeMs - a.mtimeMs);
  }

  /**
   * Erases a session with its subagents and cut outputs: the one way besides retention.
   * @throws UsageError when there is none, or a live mini-cc has it open.
   */
  erase(id: string): void {
    const found = this.find(id);
    const folder = this.sessionFolder(found.id);
    if (isLocked(folder)) throw new UsageError(`Session ${found.id} is open in another mini-cc: leave that one first`);
    rmSync(folder, {recursive: true});
  }

  #ids(): string[] {
    return this.#found().map(({id}) => id);
  }

  /** Two directories may share the folder, `a/b` and `a-b`: whose a session is, its header says. */
  #found(): Omit<StoredSession, 'mtimeMs'>[] {
    if (!existsSync(this.folder)) return [];
    return readdirSync(this.folder)
      .map((id) => ({id, transcript: path.join(this.folder, id, TRANSCRIPT)}))
      .filter(({transcript}) => existsSync(transcript))
      .map((session) => ({...session, header: headerOf(session.transcript)}))
      .filter(({header}) => header === undefined || header.cwd === this.cwd);
  }

  #outputsIn(folder: string): OutputStore {
    return {
      open: (callId) => {
        const dir = path.join(folder, 'output');
        privateFolder(dir);
        const file = path.join(dir, `${callId.replaceAll(/[^\w-]/g, '_').slice(0, 120)}.txt`);
        const fd = openPrivate(file, 'w');
        const stream = new RedactingStream(this.redactor);
        return {
          path: file,
          write: (chunk) => void writeSync(fd, stream.push(chunk)),
          close() {
            writeSync(fd, stream.end());
            closeSync(fd);
          },
        };
      },
    };
  }

  #assertOurs(transcript: string): void {
    const cwd = headerOf(transcript)?.cwd ?? this.cwd;
    if (cwd !== this.cwd) {
      throw new UsageError(`${transcript} is a session of another directory, ${cwd}: choose another session id`);
    }
    assertContinuable(transcript);
  }
}

/** A working directory as a folder's name: readable, and short enough for any file system. */
function slugOf(cwd: string): string {
  const slug = cwd.replaceAll(/[^A-Za-z0-9]/g, '-');
  return slug.length <= 200 ? slug : `${slug.slice(0, 100)}-${slug.slice(-99)}`;
}

function assertPlainName(id: string): void {
  if (id === '') throw new UsageError('session directory cannot be empty');
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(id) || id.includes('..')) {
    throw new UsageError(`Not a session id: ${JSON.stringify(id)}`);
  }
}
