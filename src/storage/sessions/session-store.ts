/**
 * Stores sessions on disk: `<home>/projects/<slug>/<session>/session.jsonl`, with subagents and cut outputs beside it.
 */
import {closeSync, existsSync, readdirSync, rmSync, statSync, writeSync} from 'node:fs';
import path from 'node:path';
import type {OutputStore} from '../../core/contract/results.ts';
import type {SessionSummary} from '../../core/contract/session-requests.ts';
import type {Journal} from '../../core/contract/transcript.ts';
import {RedactingStream, Redactor} from '../../core/secrets/redaction.ts';
import {UsageError} from '../../core/util/errors.ts';
import {describeDiskFault} from '../../core/util/files/disk-fault.ts';
import {readBranch} from '../../core/util/files/git-folder.ts';
import {createPrivateFolder, openPrivateFile} from '../../core/util/files/private-file.ts';
import {TRANSCRIPT} from './archive.ts';
import {MAIN_AGENT, readTotals} from './opening.ts';
import {RunFiles} from './run-files.ts';
import {findForeignLock, isLocked, type LockOptions, SessionLock} from './session-lock.ts';
import {
  assertContinuable,
  copyTranscript,
  describeProblem,
  mendHeader,
  readHeader,
  summarizeTranscript,
  type TranscriptHeader,
} from './transcript.ts';
import {type DiskState, TranscriptWriter} from './transcript-writer.ts';

interface OpenSession {
  readonly journal: Journal;
  readonly transcript: string;
  readonly output: OutputStore;
  close(): void;
}

export interface StoredSession {
  readonly id: string;
  readonly transcript: string;
  /** Undefined for a damaged session, of which nothing is known, not even its directory. */
  readonly header: TranscriptHeader | undefined;
  /** What is wrong with a damaged session that is not empty, and what the user can do. */
  readonly problem?: string;
  /** When the session was last written, in milliseconds since the epoch. */
  readonly mtimeMs: number;
}

export class SessionStore {
  /** Folder of this directory's sessions. Another directory whose path gives the same name shares it. */
  readonly folder: string;
  readonly #disk: DiskState = {isReported: false};

  constructor(
    home: string,
    private readonly cwd: string,
    /** Removes keys from everything that is written. */
    private readonly redactor = new Redactor([]),
  ) {
    this.folder = getProjectFolder(home, cwd);
  }

  /** Returns the folder of a session. @throws UsageError when the id would lead out of the project's folder */
  sessionFolder(id: string): string {
    assertSessionId(id);
    return path.join(this.folder, id);
  }

  /** Returns what agents may read of a session: its transcripts and cut outputs, not its checkpoints and worktrees. */
  getReadablePlaces(id: string): string[] {
    return [TRANSCRIPT, 'output', 'subagents'].map((name) => path.join(this.sessionFolder(id), name));
  }

  /**
   * Opens a session. An existing one is locked at once, a new one with its first line.
   * @throws UsageError when another mini-cc has it open, or it cannot be continued here
   */
  openSession(id: string, options: LockOptions = {}): OpenSession {
    const folder = this.sessionFolder(id);
    const header = this.#createHeader(id);
    const lock = new SessionLock(folder, id, options);
    const writer = new TranscriptWriter(path.join(folder, TRANSCRIPT), header, this.redactor, {
      disk: this.#disk,
      beforeLine: () => lock.acquire(),
      readTotals: (entry) => readTotals(writer.path, entry),
    });
    if (existsSync(writer.path)) {
      acquire(lock, folder);
      try {
        this.#assertContinuable(writer.path);
        mendHeader(writer.path, header);
      } catch (error) {
        lock.release();
        throw error;
      }
    }
    return {
      journal: writer,
      transcript: writer.path,
      output: this.#createOutputStore(folder),
      close() {
        try {
          writer.close();
        } finally {
          lock.release();
        }
      },
    };
  }

  /**
   * Copies a session's conversation into a new one. Subagents, cut outputs and checkpoints stay with the old one.
   * @throws UsageError when the new one exists already, or the old one cannot be continued
   */
  fork(id: string, newId: string): void {
    if (this.exists(newId)) throw new UsageError(`Session ${newId} exists already: choose another id`);
    const folder = this.sessionFolder(newId);
    createPrivateFolder(folder);
    copyTranscript(this.find(id).transcript, path.join(folder, TRANSCRIPT), this.#createHeader(newId));
  }

  #createHeader(id: string) {
    const branch = readBranch(this.cwd);
    return {id, agent: MAIN_AGENT, cwd: this.cwd, ...(branch !== undefined && {branch})};
  }

  /**
   * Returns the store of a session's subagent runs. `sessionId` is called each time, since /clear starts a new session.
   */
  runStore(sessionId: () => string): RunFiles {
    const session = () => ({id: sessionId(), folder: this.sessionFolder(sessionId())});
    const createOutputStore = (folder: string) => this.#createOutputStore(folder);
    return new RunFiles({session, cwd: this.cwd, createOutputStore, redactor: this.redactor, disk: this.#disk});
  }

  /** Finds a session by its id or a unique beginning of it. @throws UsageError when there is none */
  find(id: string): {id: string; transcript: string} {
    assertSessionId(id);
    const matches = this.#ids().filter((candidate) => candidate === id || candidate.startsWith(id));
    const match = matches.includes(id) ? id : matches[0];
    if (match === undefined) {
      throw new UsageError(`No session ${id} in ${this.cwd}. Sessions of this directory are in ${this.folder}`);
    }
    if (matches.length > 1 && match !== id)
      throw new UsageError(`Ambiguous session id: ${id} (${matches.length} sessions begin with it)`);
    return {id: match, transcript: path.join(this.folder, match, TRANSCRIPT)};
  }

  /** Whether the session exists. An empty file, which a crash before the first line leaves, is not a session yet. */
  exists(id: string): boolean {
    assertSessionId(id);
    return this.#ids().includes(id) && statSync(path.join(this.folder, id, TRANSCRIPT)).size > 0;
  }

  /**
   * Finds the session of this directory that was written last and is whole.
   * @returns `passedOver` has the damaged sessions that were written after it, the last one first. Empty sessions do
   * not count.
   */
  latest(): {readonly whole: StoredSession | undefined; readonly passedOver: readonly StoredSession[]} {
    const sessions = this.list().filter(({header, problem}) => header !== undefined || problem !== undefined);
    const at = sessions.findIndex(({header}) => header !== undefined);
    return {whole: sessions[at], passedOver: at < 0 ? sessions : sessions.slice(0, at)};
  }

  /** Says who has locked the session when that is a process of another machine or container. */
  findForeignLock(id: string): string | undefined {
    return findForeignLock(this.sessionFolder(id), id);
  }

  /** Lists the sessions of this directory, including damaged ones, the last written one first. */
  list(): StoredSession[] {
    // Only this list needs the problem of a damaged session, so it is examined here.
    return this.#listFound()
      .map((session) => ({...session, mtimeMs: statSync(session.transcript).mtimeMs, ...getProblem(session)}))
      .sort((a, b) => b.mtimeMs - a.mtimeMs);
  }

  /** @param withText also reads what was typed and answered */
  summaries(withText = false): SessionSummary[] {
    return this.list().map((session) => this.summarize(session, withText));
  }

  summarize({id, transcript, mtimeMs, header, problem}: StoredSession, withText = false): SessionSummary {
    const lockedBy = this.findForeignLock(id);
    return {
      id,
      at: mtimeMs,
      ...summarizeTranscript(transcript, withText),
      ...(header?.branch !== undefined && {branch: header.branch}),
      ...(!header && {problem: problem ?? 'it is empty'}),
      ...(lockedBy !== undefined && {lockedBy}),
    };
  }

  /**
   * Erases a session with its subagents and cut outputs.
   * @throws UsageError when it does not exist, or a live mini-cc has it open
   */
  erase(id: string): void {
    const found = this.find(id);
    const folder = this.sessionFolder(found.id);
    const foreign = findForeignLock(folder, found.id);
    if (foreign) throw new UsageError(`${foreign}. If that one has ended, delete ${path.join(folder, 'lock')} first`);
    if (isLocked(folder)) throw new UsageError(`Session ${found.id} is open in another mini-cc: leave that one first`);
    rmSync(folder, {recursive: true});
  }

  #ids(): string[] {
    return this.#listFound().map(({id}) => id);
  }

  /** Two directories may share the folder, e.g. `a/b` and `a-b`, so the header of a session names its own directory. */
  #listFound(): Omit<StoredSession, 'mtimeMs' | 'problem'>[] {
    if (!existsSync(this.folder)) return [];
    return readdirSync(this.folder)
      .map((id) => ({id, transcript: path.join(this.folder, id, TRANSCRIPT)}))
      .filter(({transcript}) => existsSync(transcript))
      .map((session) => ({...session, header: readHeader(session.transcript)}))
      .filter(({header}) => header === undefined || header.cwd === this.cwd);
  }

  #createOutputStore(folder: string): OutputStore {
    return {
      open: (callId) => {
        const dir = path.join(folder, 'output');
        createPrivateFolder(dir);
        const file = path.join(dir, `${callId.replaceAll(/[^\w-]/g, '_').slice(0, 120)}.txt`);
        const fd = openPrivateFile(file, 'w');
        const stream = new RedactingStream(this.redactor);
        return {
          path: file,
          write: (chunk) => writeSync(fd, stream.push(chunk)),
          close() {
            writeSync(fd, stream.end());
            closeSync(fd);
          },
        };
      },
    };
  }

  #assertContinuable(transcript: string): void {
    const cwd = readHeader(transcript)?.cwd ?? this.cwd;
    if (cwd !== this.cwd) {
      throw new UsageError(`${transcript} is a session of another directory, ${cwd}: choose another session id`);
    }
    assertContinuable(transcript);
  }
}

function getProblem({id, transcript, header}: Pick<StoredSession, 'id' | 'transcript' | 'header'>) {
  const problem = header ? undefined : describeProblem(transcript);
  if (!problem) return {};
  const remedy = problem.canGoOn
    ? `--resume ${id} goes on with what can be read`
    : `mini-cc sessions delete ${id} removes it`;
  return {problem: `${problem.text}: ${remedy}`};
}

/** @throws UsageError in one line, also when the lock cannot be written */
function acquire(lock: SessionLock, folder: string): void {
  try {
    lock.acquire();
  } catch (error) {
    const fault = describeDiskFault(error, folder);
    if (!fault) throw error;
    throw new UsageError(fault.text, {cause: error});
  }
}

/** Returns the folder with mini-cc's data of a working directory: its sessions, and the rules that were saved there. */
export function getProjectFolder(home: string, cwd: string): string {
  return path.join(home, 'projects', toSlug(cwd));
}

/** Makes a folder name for a working directory that is readable, and short enough for all file systems. */
function toSlug(cwd: string): string {
  const slug = cwd.replaceAll(/[^A-Za-z0-9]/g, '-');
  return slug.length <= 200 ? slug : `${slug.slice(0, 100)}-${slug.slice(-99)}`;
}

function assertSessionId(id: string): void {
  if (id === '') throw new UsageError('session directory cannot be empty');
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(id) || id.includes('..')) {
    throw new UsageError(`Not a session id: ${JSON.stringify(id)}`);
  }
}
