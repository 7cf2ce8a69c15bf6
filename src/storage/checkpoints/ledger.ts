/**
 * Reads and writes `changes.jsonl` of a session, which says which agent changed which file, oldest first. A line that
 * announces a change reaches the kernel before the change. A torn last line is skipped. A file of a newer format is not
 * changed.
 */
import {closeSync, existsSync, statSync} from 'node:fs';
import path from 'node:path';
import type {Writer} from '../../core/contract/checkpoints.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import {appendLine, openForAppending, parseLine, readLines} from '../json-lines.ts';
import type {FileState} from '../trees/file-state.ts';

const LEDGER_VERSION = 1;

export interface FileChange {
  readonly type: 'change';
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Several agents when their commands ran at the same time and any of them may have made the change. */
  readonly by: readonly Writer[];
  /** Absolute path, with links resolved. */
  readonly path: string;
  readonly before: FileState;
  readonly after: FileState;
  /** Folders that were created for the file, outermost first. */
  readonly madeFolders?: readonly string[];
  /**
   * True when the file is older than the command with which it appeared. It was ignored, too large or elsewhere before,
   * so no checkpoint has it, and removing it would lose it.
   */
  readonly unseen?: true;
  /** Ids of the agents whose changes this change undoes. */
  readonly undoes?: readonly string[];
  /** True when mini-cc ended during the change; `after` is what the next start found. */
  readonly cutOff?: true;
}

interface RestoringLine {
  readonly type: 'restoring';
  readonly at: number;
  readonly id: string;
  readonly files: number;
  /** Folders of the files, where a kill may leave drafts. */
  readonly folders: readonly string[];
  readonly by: RestoreCommand;
}

/** The command that a person gave. For `/rewind`: the time of the prompt, in milliseconds since the epoch. */
export type RestoreCommand = {readonly undo: string} | {readonly rewind: number; readonly scope: 'files' | 'both'};

export type LedgerLine =
  | {readonly type: 'checkpoints'; readonly version: number; readonly at: number}
  | FileChange
  /** A write begins. A `change` or `unchanged` line of the same agent and path ends it. */
  | {
      readonly type: 'writing';
      readonly at: number;
      readonly by: Writer;
      readonly path: string;
      readonly before: FileState;
      readonly madeFolders?: readonly string[];
    }
  | {readonly type: 'unchanged'; readonly at: number; readonly by: Writer; readonly path: string}
  /** A command begins; `tree` is the snapshot of the workspace. A `ran` line with the same id ends it. */
  | {readonly type: 'running'; readonly at: number; readonly id: string; readonly by: Writer; readonly tree: string}
  | {
      readonly type: 'ran';
      readonly at: number;
      readonly id: string;
      /** Names of files that the snapshots leave out, beside ignored ones. */
      readonly leftOut?: readonly string[];
    }
  /** A restore of files begins. A `restored` line with the same id ends it. */
  | RestoringLine
  | {readonly type: 'restored'; readonly at: number; readonly id: string}
  /** The changes of a command of this agent are not fully known. */
  | {readonly type: 'uncounted'; readonly at: number; readonly by: Writer; readonly why: string};

/** Name of the file in the folder of the checkpoints. */
export const LEDGER = 'changes.jsonl';

export class Ledger {
  readonly #file: string;
  readonly #lines: LedgerLine[];
  #fd: number | undefined;

  /** @throws MiniCcError `NEWER_FORMAT` when a newer mini-cc wrote the file */
  constructor(folder: string) {
    this.#file = path.join(folder, LEDGER);
    this.#lines = existsSync(this.#file) ? parseLines(readLines(this.#file)) : [];
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

  get changes(): readonly FileChange[] {
    return this.#lines.filter((line) => line.type === 'change');
  }

  append(line: LedgerLine): void {
    this.#fd ??= openForAppending(this.#file, () =>
      JSON.stringify({type: 'checkpoints', version: LEDGER_VERSION, at: Date.now()} satisfies LedgerLine),
    );
    appendLine(this.#fd, JSON.stringify(line));
    this.#lines.push(line);
  }

  /** Returns when the file was last written, in milliseconds since the epoch by the clock of its file system. */
  writtenAt(): number {
    return statSync(this.#file).mtimeMs;
  }

  /** Returns the last restore when mini-cc ended during it. */
  findCutRestore(): RestoringLine | undefined {
    const last = this.#lines.findLast((line) => line.type === 'restoring');
    return last && this.#lines.some(({type, ...line}) => type === 'restored' && 'id' in line && line.id === last.id)
      ? undefined
      : last;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** Returns the folders of files that mini-cc was writing or restoring when these lines were written. */
export function listWrittenFolders(lines: readonly string[]): string[] {
  return parseLines(lines).flatMap((line) => {
    if (line.type === 'restoring') return line.folders;
    return line.type === 'writing' ? [path.dirname(line.path)] : [];
  });
}

/** Returns the ids of the agents of a session whose changes were undone. @param folder the session's */
export function listUndoneAgents(folder: string): ReadonlySet<string> {
  const file = path.join(folder, 'checkpoints', LEDGER);
  const lines = existsSync(file) ? parseLines(readLines(file)) : [];
  return new Set(lines.flatMap((line) => (line.type === 'change' ? (line.undoes ?? []) : [])));
}

function parseLines(lines: Iterable<string>): LedgerLine[] {
  // Skip a line that a crash cut off. The change that it announces had not begun.
  return Array.from(lines, parseLine).filter((line): line is LedgerLine => line !== undefined);
}
