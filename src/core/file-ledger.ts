/**
 * Guards against stale writes: an agent may overwrite only what it has read, and only while that is still there.
 * One ledger an agent; the log of who wrote what is shared by the agents of a session.
 */
import {createHash} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import {MiniCcError} from './errors.ts';

export class WriteLog {
  readonly #writers = new Map<string, {readonly agent: string; readonly hash: string}>();
  /** Files that an agent has read or written: who changed one of these may be asked for. */
  readonly #known = new Set<string>();
  /** A command ran of which it is not known what it changed. */
  #lostTrack = false;

  knows(path: string): boolean {
    return this.#known.has(path);
  }

  saw(path: string): void {
    this.#known.add(path);
  }

  wrote(path: string, agent: string, hash: string): void {
    this.#writers.set(path, {agent, hash});
  }

  /** A command of this agent left the file so; of two that ran at the same time nobody knows which. */
  commandWrote(path: string, agent: string, hash: string): void {
    const last = this.#writers.get(path);
    const both = last?.hash === hash && last.agent !== agent;
    this.wrote(path, both ? `${last.agent} or ${agent}` : agent, hash);
  }

  loseTrack(): void {
    this.#lostTrack = true;
  }

  /** Who it was when it was no agent that is known to. */
  get others(): string {
    return this.#lostTrack ? 'by a command, or outside mini-cc' : 'outside mini-cc';
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
    this.log.saw(path);
    this.#seen.set(path, hashOf(content));
  }

  /** The agent has written this content. */
  sawWrite(path: string, content: Buffer): void {
    const hash = hashOf(content);
    this.log.saw(path);
    this.#seen.set(path, hash);
    this.log.wrote(path, this.agent, hash);
  }

  /**
   * A command of this agent has ended. The agent has not seen what it left: it reads a file again before it writes it.
   * @param changed absolute paths of the files that it changed; undefined when that is not known.
   */
  async commandRan(changed: readonly string[] | undefined): Promise<void> {
    if (changed === undefined) return this.log.loseTrack();
    for (const path of changed.filter((each) => this.log.knows(each))) {
      const hash = await readFile(path).then(hashOf, () => undefined);
      // One that is gone, or cannot be read, cannot be overwritten unseen either.
      if (hash !== undefined) this.log.commandWrote(path, this.agent, hash);
    }
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
    const how = agent === undefined ? this.log.others : `by ${agent === this.agent ? 'a command of yours' : agent}`;
    throw new MiniCcError(
      'STALE',
      `${path} changed since you read it (${how}). Nothing was written: read_file it again.`,
    );
  }
}

function hashOf(content: Buffer): string {
  return createHash('sha1').update(content).digest('base64');
}
