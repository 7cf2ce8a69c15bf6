/**
 * Writes transcripts: JSON lines, appended, one whole event a line.
 *
 * Durability: `append` hands a line to the kernel before it returns, so the line survives the end of the process by any
 * signal, even `kill -9`. Closing syncs the file to the disk (fsync): a run's transcript at its end, before its end is
 * published; a session's when the session is left. So a power cut may lose the last moments of a conversation, but
 * never a published result. A sync after every line would cost each turn some milliseconds.
 *
 * A line that the disk refuses, for example because it is full, waits in memory with the lines after it. It is tried
 * again at each further line and by `flush`, so nothing is lost once there is space.
 */
import {closeSync, fsync, fsyncSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import type {AssistantBlock, Message} from '../../core/contract/model.ts';
import {
  type Journal,
  type JournalFault,
  type TotalsBefore,
  TRANSCRIPT_VERSION,
  type TranscriptEntry,
} from '../../core/contract/transcript.ts';
import {RedactingStream, type Redactor} from '../../core/secrets/redaction.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import {type DiskFault, describeDiskFault} from '../../core/util/files/disk-fault.ts';
import {createPrivateFolder} from '../../core/util/files/private-file.ts';
import {appendLine, openForAppending} from '../json-lines.ts';
import type {TranscriptHeader} from './transcript.ts';

const sync = promisify(fsync);

/** Shared by the transcripts of a session, so that a fault of their disk is reported once. */
export interface DiskState {
  isReported: boolean;
}

interface WriterOptions {
  readonly disk?: DiskState;
  /** Called before each line is written. An error that it throws counts as an error of writing. */
  readonly beforeLine?: () => void;
  /** Returns the totals for a line that replaces messages, when all lines before it are in the file. */
  readonly readTotals?: (entry: Extract<TranscriptEntry, {type: 'replace'}>) => TotalsBefore | undefined;
}

interface WaitingLine {
  readonly type: TranscriptEntry['type'];
  readonly line: string;
}

/** Appends to one file. The first entry creates it, so that a session without any message leaves nothing. */
export class TranscriptWriter implements Journal {
  #fd: number | undefined;
  /** Lines that are not written yet, in order. */
  #waiting: WaitingLine[] = [];
  /** Redacts the reply that is being streamed. */
  #streamed: RedactingStream | undefined;
  #closing: Promise<void> | undefined;
  readonly #disk: DiskState;

  constructor(
    readonly path: string,
    /** `at` defaults to the time of the first line. */
    private readonly header: Omit<TranscriptHeader, 'type' | 'version' | 'at'> & Partial<Pick<TranscriptHeader, 'at'>>,
    /** Removes the values of known keys from each line. */
    private readonly redactor: Redactor,
    private readonly options: WriterOptions = {},
  ) {
    this.#disk = options.disk ?? {isReported: false};
  }

  append(entry: TranscriptEntry): void {
    const redacted = this.#redact(this.#withTotals(entry));
    if (!redacted) return;
    const isReply = entry.type === 'message' && entry.message.role === 'assistant';
    // The whole reply replaces its streamed parts.
    if (isReply) this.#waiting = this.#waiting.filter(({type}) => type !== 'partial' && type !== 'usage_so_far');
    this.#waiting.push({type: entry.type, line: JSON.stringify(redacted)});
    try {
      this.#writeWaiting();
    } catch (error) {
      this.#waiting.pop();
      throw error;
    }
  }

  flush(): JournalFault | undefined {
    const fault = this.#writeWaiting();
    if (!fault) return undefined;
    const isNew = !this.#disk.isReported;
    this.#disk.isReported = true;
    return {...fault, isNew};
  }

  #writeWaiting(): DiskFault | undefined {
    while (this.#waiting.length > 0) {
      try {
        this.options.beforeLine?.();
        this.#fd ??= this.#open();
        appendLine(this.#fd, this.#waiting[0]!.line);
      } catch (error) {
        return this.#toFault(error);
      }
      this.#waiting.shift();
      this.#disk.isReported = false;
    }
    return undefined;
  }

  /** Closes the file until the next entry, without a sync, because hundreds of runs may wait for their turn. */
  park(): void {
    if (this.#fd === undefined) return;
    const fd = this.#fd;
    this.#fd = undefined;
    closeSync(fd);
  }

  /**
   * @throws MiniCcError when lines could not be written, and the error of the sync; the file is closed in both cases
   */
  close(): void {
    const fault = this.#writeWaiting();
    try {
      if (this.#fd !== undefined) fsyncSync(this.#fd);
    } finally {
      this.park();
    }
    if (fault) throw this.#createUnwritten(fault);
  }

  /**
   * Closes without blocking the process while the disk works. All lines are on the disk when this resolves.
   * @throws as `close`
   */
  closeInBackground(): Promise<void> {
    this.#closing ??= this.#closeInBackground().finally(() => {
      this.#closing = undefined;
    });
    return this.#closing;
  }

  async #closeInBackground(): Promise<void> {
    const fault = this.#writeWaiting();
    const fd = this.#fd;
    this.#fd = undefined;
    try {
      if (fd !== undefined) await sync(fd);
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
    if (fault) throw this.#createUnwritten(fault);
  }

  #createUnwritten({text}: DiskFault): MiniCcError {
    const count = this.#waiting.length;
    return new MiniCcError(
      'TRANSCRIPT_UNWRITTEN',
      `The last ${count === 1 ? 'line' : `${count} lines`} of ${this.path} ${count === 1 ? 'is' : 'are'} not written. ${text}`,
    );
  }

  /** @throws the error when it is not the file system's */
  #toFault(error: unknown): DiskFault {
    const fault = describeDiskFault(error, path.dirname(this.path));
    if (!fault) throw error;
    // Open the file again next time, which ends a line that was written in part.
    this.park();
    return fault;
  }

  #open(): number {
    createPrivateFolder(path.dirname(this.path));
    return openForAppending(this.path, () => {
      const start = {type: 'session', version: TRANSCRIPT_VERSION, at: new Date().toISOString()} as const;
      return JSON.stringify(redactEntry({...start, ...this.header}, this.redactor));
    });
  }

  #withTotals(entry: TranscriptEntry): TranscriptEntry {
    if (entry.type !== 'replace' || this.#waiting.length > 0) return entry;
    const totals = this.options.readTotals?.(entry);
    const {type, ...rest} = entry;
    // The totals are the first field, because readers find the line by it.
    return totals ? {type, totals, ...rest} : entry;
  }

  /** Undefined when no part of the entry can be written yet. */
  #redact(entry: TranscriptEntry): TranscriptEntry | undefined {
    if (entry.type === 'usage_so_far') return entry;
    if (entry.type !== 'partial') {
      this.#streamed = undefined;
      return redactEntry(entry, this.redactor);
    }
    if (entry.start) this.#streamed = undefined;
    // A key may lie across two pieces. The screen does not show the waiting end either.
    this.#streamed ??= new RedactingStream(this.redactor);
    const text = this.#streamed.push(entry.text);
    return text === '' && !entry.start ? undefined : {...entry, text};
  }
}

function redactEntry(entry: TranscriptEntry, redactor: Redactor): TranscriptEntry {
  if (redactor.isEmpty) return entry;
  if (entry.type !== 'message') return redactor.values(entry);
  return redactor.values({...entry, message: withoutRedactedThinking(entry.message, redactor)});
}

/**
 * Removes all thinking from a reply when one thought contains a key, because a server accepts the thinking of a reply
 * only as it was signed, or none.
 */
function withoutRedactedThinking(message: Message, redactor: Redactor): Message {
  const {content} = message;
  if (message.role !== 'assistant' || typeof content === 'string') return message;
  const blocks = content as readonly AssistantBlock[];
  const isChanged = (block: AssistantBlock) =>
    block.type === 'thinking' && redactor.text(block.thinking) !== block.thinking;
  if (!blocks.some(isChanged)) return message;
  const kept = blocks.filter(({type}) => type !== 'thinking' && type !== 'redacted_thinking');
  return {...message, content: kept.length > 0 ? kept : [{type: 'text', text: '(a thought that contained a key)'}]};
}
