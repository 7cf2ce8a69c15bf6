/**
 * Transcripts: JSON lines, appended, one whole event a line.
 *
 * What survives what: a line is handed to the kernel by one write before `append` returns, so it survives the end of
 * the process by any signal, `kill -9` too. It is synced to the disk (fsync) when the transcript is closed: a run's at
 * its end, before anybody hears of that end; a session's when it is left. So a power cut may take the last moments of
 * a conversation, never a result that was told. A sync after every line would cost a turn some milliseconds for that.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  fsync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import {UsageError} from '../core/errors.ts';
import {type Journal, TRANSCRIPT_VERSION, type TranscriptEntry} from '../core/history.ts';
import type {Message} from '../core/messages.ts';

export type Header = Extract<TranscriptEntry, {type: 'session'}>;

/** Appends to one file. It comes into being with its first entry: a session without a word leaves nothing. */
export class TranscriptWriter implements Journal {
  #fd: number | undefined;

  constructor(
    readonly path: string,
    private readonly header: Omit<Header, 'type' | 'version' | 'at'>,
  ) {}

  append(entry: TranscriptEntry): void {
    this.#fd ??= this.#open();
    writeWhole(this.#fd, `${JSON.stringify(entry)}\n`);
  }

  /** Holds no file open until the next entry: hundreds of runs may wait for their turn. */
  park(): void {
    if (this.#fd === undefined) return;
    closeSync(this.#fd);
    this.#fd = undefined;
  }

  close(): void {
    if (this.#fd === undefined) return;
    fsyncSync(this.#fd);
    this.park();
  }

  /** The same, without holding up everything else while the disk works. */
  async closeBeside(): Promise<void> {
    const fd = this.#fd;
    if (fd === undefined) return;
    this.#fd = undefined;
    try {
      await promisify(fsync)(fd);
    } finally {
      closeSync(fd);
    }
  }

  #open(): number {
    mkdirSync(path.dirname(this.path), {recursive: true, mode: 0o700});
    const isNew = !existsSync(this.path);
    const fd = openSync(this.path, 'a+', 0o600);
    if (isNew) {
      const header: Header = {
        type: 'session',
        version: TRANSCRIPT_VERSION,
        at: new Date().toISOString(),
        ...this.header,
      };
      writeWhole(fd, `${JSON.stringify(header)}\n`);
    } else if (endsTorn(fd)) {
      // A crash tore the last line: what follows must not grow onto it.
      writeSync(fd, '\n');
    }
    return fd;
  }
}

/** The system may take a long line in parts. */
function writeWhole(fd: number, line: string): void {
  const bytes = Buffer.from(line);
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}

function endsTorn(fd: number): boolean {
  const {size} = fstatSync(fd);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}

export interface Transcript {
  readonly header: Header;
  readonly entries: readonly TranscriptEntry[];
}

/**
 * Reads a transcript; torn lines are skipped.
 * @throws UsageError when it has no header or comes from a newer version.
 */
export function readTranscript(file: string): Transcript {
  const entries: TranscriptEntry[] = [];
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const entry = parseLine(line);
    if (entry) entries.push(entry);
  }
  const [header, ...rest] = entries;
  if (header?.type !== 'session')
    throw new UsageError(`${file} is no transcript of mini-cc: its first line says no version`);
  if (header.version > TRANSCRIPT_VERSION) {
    throw new UsageError(
      `${file} was written by a newer mini-cc (format ${header.version}, this one knows ${TRANSCRIPT_VERSION}): it can be read, not continued`,
    );
  }
  return {header, entries: rest};
}

/** Undefined for a blank or torn line. */
export function parseLine(line: string): TranscriptEntry | undefined {
  if (line.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'type' in value ? (value as TranscriptEntry) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function messagesOf(transcript: Transcript): Message[] {
  return transcript.entries.flatMap((entry) => (entry.type === 'message' ? [entry.message] : []));
}
