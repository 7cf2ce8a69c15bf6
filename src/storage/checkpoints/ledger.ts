/**
 * `changes.jsonl` of a session: who changed what, oldest first. A line is handed to the kernel before the change that
 * it announces; a torn last line is skipped. A file of a newer version is left alone.
 */
import {closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, writeSync} from 'node:fs';
import path from 'node:path';
import type {Writer} from '../../core/contract/checkpoints.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import {appendLine} from '../json-lines.ts';
import type {FileState} from './file-state.ts';

export const LEDGER_VERSION = 1;

export interface Change {
  readonly type: 'change';
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** More than one: their commands ran at the same time, and any of them may have done it. */
  readonly by: readonly Writer[];
  /** Absolute, links resolved. */
  readonly path: string;
  readonly before: FileState;
  readonly after: FileState;
  /** Folders that came into being with it, outermost first. */
  readonly madeFolders?: readonly string[];
  /** The file is older than the command: it was ignored, too large or elsewhere. Its removal would lose it. */
  readonly unseen?: true;
  /** It puts back what these agents had changed. */
  readonly undoes?: readonly string[];
  /** mini-cc ended amid the work: `after` is what was found when it was started again. */
  readonly cutOff?: true;
}

export type LedgerLine =
  | {readonly type: 'checkpoints'; readonly version: number; readonly at: number}
  | Change
  /** A write is about to begin; a `change` or `unchanged` of the same agent and path ends it. */
  | {
      readonly type: 'writing';
      readonly at: number;
      readonly by: Writer;
      readonly path: string;
      readonly before: FileState;
      readonly madeFolders?: readonly string[];
    }
  | {readonly type: 'unchanged'; readonly at: number; readonly by: Writer; readonly path: string}
  /** A command is about to begin in the workspace that `tree` is the snapshot of; `ran` with the same id ends it. */
  | {readonly type: 'running'; readonly at: number; readonly id: string; readonly by: Writer; readonly tree: string}
  | {
      readonly type: 'ran';
      readonly at: number;
      readonly id: string;
      /** Names of files that the snapshots do not hold, besides ignored ones. */
      readonly leftOut?: readonly string[];
    }
  /** What a command of this agent changed is not known, or not all of it. */
  | {readonly type: 'uncounted'; readonly at: number; readonly by: Writer; readonly why: string};

export class Ledger {
  readonly #file: string;
  readonly #lines: LedgerLine[];
  #fd: number | undefined;

  /** @throws MiniCcError `NEWER_FORMAT` for one that a newer mini-cc wrote. */
  constructor(folder: string) {
    this.#file = path.join(folder, 'changes.jsonl');
    this.#lines = existsSync(this.#file) ? linesIn(readFileSync(this.#file, 'utf8')) : [];
    const [header] = this.#lines;
    if (header?.type === 'checkpoints' && header.version > LEDGER_VERSION) {
      throw new MiniCcError(
        'NEWER_FORMAT',
        `${this.#file} was written by a newer mini-cc (format ${header.version}, this one knows ${LEDGER_VERSION}): its checkpoints cannot be used`,
      );
    }
  }

  get lines(): readonly LedgerLine[] {
    return this.#lines;
  }

  get changes(): readonly Change[] {
    return this.#lines.filter((line) => line.type === 'change');
  }

  append(line: LedgerLine): void {
    this.#fd ??= this.#open();
    this.#write(this.#fd, line);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #open(): number {
    mkdirSync(path.dirname(this.#file), {recursive: true, mode: 0o700});
    const fd = openSync(this.#file, 'a+', 0o600);
    try {
      const {size} = fstatSync(fd);
      if (size === 0) this.#write(fd, {type: 'checkpoints', version: LEDGER_VERSION, at: Date.now()});
      else if (lastByte(fd, size) !== 0x0a) writeSync(fd, '\n');
      return fd;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  #write(fd: number, line: LedgerLine): void {
    appendLine(fd, JSON.stringify(line));
    this.#lines.push(line);
  }
}

function lastByte(fd: number, size: number): number | undefined {
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0];
}

function linesIn(text: string): LedgerLine[] {
  return text.split('\n').flatMap((line) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line) as LedgerLine];
    } catch (error) {
      // Torn by a crash: what it announced had not begun.
      if (error instanceof SyntaxError) return [];
      throw error;
    }
  });
}
