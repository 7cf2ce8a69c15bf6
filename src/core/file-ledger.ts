/**
 * Guards against stale writes: an agent may overwrite only what it has read, and only while that is still there.
 * One ledger an agent; the log of who wrote what is shared by the agents of a session.
 */
import {createHash} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import {MiniCcError} from './errors.ts';

export class WriteLog {
  readonly #writers = new Map<string, {readonly agent: string; readonly hash: string}>();

  wrote(path: string, agent: string, hash: string): void {
    this.#writers.set(path, {agent, hash});
  }

  /** Who left the file with this content; undefined when no agent of this session did. */
  writerOf(path: string, hash: string): string | undefined {
    const last = this.#writers.get(path);
    return last?.hash === hash ? last.agent : undefined;
  }
}

export class FileLedger {
  /** Path to the hash of its content. Times of change are no proof: two writes may share one. */
  readonly #seen = new Map<string, string>();

  constructor(
    private readonly log: WriteLog,
    /** As errors name it: `main`, or `[code] refactor auth`. */
    private readonly agent: string,
  ) {}

  /** The agent has read this content of the file. `path` is absolute, links resolved. */
  sawRead(path: string, content: Buffer): void {
    this.#seen.set(path, hashOf(content));
  }

  /** The agent has written this content. */
  sawWrite(path: string, content: Buffer): void {
    const hash = hashOf(content);
    this.#seen.set(path, hash);
    this.log.wrote(path, this.agent, hash);
  }

  /**
   * Passes when the file is as this agent last saw it.
   * @throws MiniCcError `NOT_READ` when it never read it, `STALE` when it changed since; the message names who did it.
   */
  async assertFresh(path: string): Promise<void> {
    const seen = this.#seen.get(path);
    const hash = hashOf(await readFile(path));
    const agent = this.log.writerOf(path, hash);
    if (seen === undefined) {
      const by = agent === undefined ? '' : ` (${agent} wrote it)`;
      throw new MiniCcError('NOT_READ', `${path} exists${by} and you have not read it: read_file it first.`);
    }
    if (hash === seen) return;
    const writer = agent ?? 'a command, or outside mini-cc';
    throw new MiniCcError(
      'STALE',
      `${path} changed since you read it (by ${writer}). Nothing was written: read_file it again.`,
    );
  }
}

function hashOf(content: Buffer): string {
  return createHash('sha1').update(content).digest('base64');
}
