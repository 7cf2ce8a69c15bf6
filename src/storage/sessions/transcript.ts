/**
 * Transcripts: JSON lines, appended, one whole event a line.
 *
 * What survives what: a line is handed to the kernel by one write before `append` returns, so it survives the end of
 * the process by any signal, `kill -9` too. It is synced to the disk (fsync) when the transcript is closed: a run's at
 * its end, before anybody hears of that end; a session's when it is left. So a power cut may take the last moments of
 * a conversation, never a result that was told. A sync after every line would cost a turn some milliseconds for that.
 */
import {closeSync, existsSync, fstatSync, fsync, fsyncSync, readFileSync, readSync, statSync, writeSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import type {AssistantBlock, Message} from '../../core/contract/messages.ts';
import type {RewindPoint} from '../../core/contract/requests.ts';
import {type Journal, TRANSCRIPT_VERSION, type TranscriptEntry} from '../../core/contract/transcript.ts';
import type {Redactor} from '../../core/secrets/redaction.ts';
import {UsageError} from '../../core/util/errors.ts';
import {textOf} from '../../core/util/messages.ts';
import {openPrivate, privateFolder} from '../../core/util/private-file.ts';
import {appendLine, firstAndLastLine, firstLineOf} from '../json-lines.ts';

export type Header = Extract<TranscriptEntry, {type: 'session'}>;

/** Appends to one file. It comes into being with its first entry: a session without a word leaves nothing. */
export class TranscriptWriter implements Journal {
  #fd: number | undefined;

  constructor(
    readonly path: string,
    /** `at`: when it began, where that is not when its first line is written. */
    private readonly header: Omit<Header, 'type' | 'version' | 'at'> & Partial<Pick<Header, 'at'>>,
    private readonly redactor: Redactor,
  ) {}

  append(entry: TranscriptEntry): void {
    this.#fd ??= this.#open();
    this.#write(this.#fd, entry);
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
    privateFolder(path.dirname(this.path));
    const fd = openPrivate(this.path, 'a+');
    // One that is there without a byte comes from a crash, or a full disk, before its first line.
    if (fstatSync(fd).size === 0) {
      const header: Header = {
        type: 'session',
        version: TRANSCRIPT_VERSION,
        at: new Date().toISOString(),
        ...this.header,
      };
      this.#write(fd, header);
    } else if (endsTorn(fd)) {
      // A crash tore the last line: what follows must not grow onto it.
      writeSync(fd, '\n');
    }
    return fd;
  }

  #write(fd: number, entry: TranscriptEntry): void {
    appendLine(fd, JSON.stringify(storedEntry(entry, this.redactor)));
  }
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
 * Reads a transcript, of a newer version too, as far as this one understands it; torn lines are skipped.
 * @throws UsageError when it has no header.
 */
export function readTranscript(file: string): Transcript {
  const [header, ...entries] = entriesIn(file);
  if (!isHeader(header)) throw new UsageError(noHeader(file));
  return {header, entries};
}

/** All lines that can be read, whatever the first one is. */
export function entriesIn(file: string): TranscriptEntry[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => parseLine(line) ?? []);
}

/** The header alone. Undefined when the first line is none, or the file cannot be read. */
export function headerOf(file: string): Header | undefined {
  return unlessUnreadable(() => asHeader(firstLineOf(file)));
}

/** First and last line; a torn last one is no entry. */
export function endsOf(file: string): {header: Header | undefined; last: TranscriptEntry | undefined} {
  const {first, last} = firstAndLastLine(file);
  return {header: asHeader(first), last: parseLine(last)};
}

/** What there is to say of a transcript whose first line is none. */
export function noHeader(file: string): string {
  return `${file} is no transcript of mini-cc: its first line says no version`;
}

export function isNewer(header: Header): boolean {
  return header.version > TRANSCRIPT_VERSION;
}

/**
 * Before lines are added to a transcript. One without a byte gets its header then, and is fine.
 * @throws UsageError when its first line is torn, or it comes from a newer version.
 */
export function assertContinuable(file: string): void {
  if (statSync(file).size === 0) return;
  const header = headerOf(file);
  if (!header) throw new UsageError(`${noHeader(file)}. It is damaged and cannot be continued`);
  if (isNewer(header)) {
    throw new UsageError(
      `${file} was written by a newer mini-cc (format ${header.version}, this one knows ${TRANSCRIPT_VERSION}): it can be read, not continued`,
    );
  }
}

/** Undefined for what the file system refuses: no rights, or not there any more. */
export function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return undefined;
    throw error;
  }
}

function asHeader(line: string): Header | undefined {
  const entry = parseLine(line);
  return isHeader(entry) ? entry : undefined;
}

function isHeader(entry: TranscriptEntry | undefined): entry is Header {
  return entry?.type === 'session';
}

/** Undefined for a blank or torn line, or one that lacks what its type has. */
function parseLine(line: string): TranscriptEntry | undefined {
  if (line.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isEntry(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** What readers rely on without asking: a newer version may have changed it, and a damaged disk anything. */
function isEntry(value: unknown): value is TranscriptEntry {
  if (!isObject(value) || typeof value.type !== 'string') return false;
  const {type, message} = value;
  if (type === 'session') {
    const {version, id, agent, cwd, at} = value;
    return typeof version === 'number' && [id, agent, cwd, at].every((word) => typeof word === 'string');
  }
  if (type !== 'message') return true;
  if (!isObject(message) || typeof message.role !== 'string') return false;
  const {content} = message;
  return typeof content === 'string' || (Array.isArray(content) && content.every(isObject));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** A line with a message. */
export type MessageLine = Extract<TranscriptEntry, {type: 'message'}>;

/** The messages that count: without those that were rewound. */
export function messagesOf(transcript: Transcript): Message[] {
  return messageLinesOf(transcript).map(({message}) => message);
}

function messageLinesOf({entries}: Transcript): MessageLine[] {
  const lines: MessageLine[] = [];
  for (const entry of entries) {
    if (entry.type === 'message') lines.push(entry);
    if (entry.type !== 'rewind') continue;
    const at = lines.findIndex(({uuid}) => uuid === entry.to);
    if (at >= 0) lines.length = at;
  }
  return lines;
}

/** The prompts to which the conversation can go back, newest first. None where nothing was said yet. */
export function readRewindPoints(file: string): readonly RewindPoint[] {
  const lines = existsSync(file) ? messageLinesOf(readTranscript(file)) : [];
  return lines
    .flatMap(({uuid, at, message, prompt}, kept) =>
      prompt ? [{uuid, at: Date.parse(at), text: textOf(message.content), kept, dropped: lines.length - kept}] : [],
    )
    .reverse();
}

/** Also those that count no more: what was told once was told. */
export function everyMessageOf({entries}: Transcript): Message[] {
  return entries.flatMap((entry) => (entry.type === 'message' ? [entry.message] : []));
}

function storedEntry(entry: TranscriptEntry, redactor: Redactor): TranscriptEntry {
  if (redactor.isEmpty) return entry;
  if (entry.type !== 'message') return redactor.values(entry);
  return redactor.values({...entry, message: withoutTouchedThinking(entry.message, redactor)});
}

/** A server takes thoughts back as they were signed or not at all: one that holds a key is left out. */
function withoutTouchedThinking(message: Message, redactor: Redactor): Message {
  const {content} = message;
  if (message.role !== 'assistant' || typeof content === 'string') return message;
  const kept = (content as readonly AssistantBlock[]).filter(
    (block) => block.type !== 'thinking' || redactor.text(block.thinking) === block.thinking,
  );
  if (kept.length === content.length) return message;
  return {...message, content: kept.length > 0 ? kept : [{type: 'text', text: '(a thought that held a key)'}]};
}
