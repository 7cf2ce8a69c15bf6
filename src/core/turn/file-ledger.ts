/**
 * Guards against stale writes: an agent may overwrite only what it has read, and only while that is still there.
 * One ledger an agent; the log of who wrote what is shared by the agents of a session.
 */
import {createHash} from 'node:crypto';
import {lstatSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import type {FileLedger} from '../contract/tool.ts';
import {MiniCcError} from '../util/errors.ts';

interface LastWrite {
  readonly hash: string;
  /** More than one where commands ran at the same time: any of them may have been it. */
  readonly agents: ReadonlySet<string>;
  /** A tool wrote it, so there is no doubt. */
  readonly isCertain: boolean;
}

export class WriteLog {
  readonly #writers = new Map<string, LastWrite>();
  /** Files that an agent has read or written: who changed one of these may be asked for. */
  readonly #known = new Set<string>();

  knows(path: string): boolean {
    return this.#known.has(path);
  }

  saw(path: string): void {
    this.#known.add(path);
  }

  wrote(path: string, agent: string, hash: string): void {
    this.#writers.set(path, {hash, agents: new Set([agent]), isCertain: true});
  }

  /** The file was changed so while a command of this agent ran. */
  commandWrote(path: string, agent: string, hash: string): void {
    const last = this.#writers.get(path);
    const isSame = last?.hash === hash;
    if (isSame && last.isCertain) return;
    this.#writers.set(path, {hash, agents: new Set([...(isSame ? last.agents : []), agent]), isCertain: false});
  }

  /** The files that agents have seen, as they are now: only these can be written by somebody who does not know. */
  stamps(): ReadonlyMap<string, string> {
    return new Map([...this.#known].map((path) => [path, stampOf(path)]));
  }

  /** Who left the file with this content; undefined when no agent of this session did. */
  writerOf(path: string, hash: string): string | undefined {
    const last = this.#writers.get(path);
    return last?.hash === hash ? [...last.agents].join(' or ') : undefined;
  }
}

class AgentFileLedger implements FileLedger {
  /** Path to the hash of its content. Times of change are no proof: two writes may share one. */
  readonly #seen = new Map<string, string>();

  constructor(
    private readonly log: WriteLog,
    /** As errors name it: `main`, or `[code] refactor auth`. */
    private readonly agent: string,
  ) {}

  sawRead(path: string, content: Buffer): void {
    this.log.saw(path);
    this.#seen.set(path, hashOf(content));
  }

  sawWrite(path: string, content: Buffer): void {
    const hash = hashOf(content);
    this.log.saw(path);
    this.#seen.set(path, hash);
    this.log.wrote(path, this.agent, hash);
  }

  commandBegins(): () => Promise<void> {
    const before = this.log.stamps();
    return async () => {
      const changed = [...before].filter(([path, stamp]) => stampOf(path) !== stamp);
      await this.commandRan(changed.map(([path]) => path));
    };
  }

  async commandRan(changed: readonly string[]): Promise<void> {
    for (const path of changed.filter((each) => this.log.knows(each))) {
      const hash = await readFile(path).then(hashOf, () => undefined);
      // One that is gone, or cannot be read, cannot be overwritten unseen either.
      if (hash !== undefined) this.log.commandWrote(path, this.agent, hash);
    }
  }

  async assertFresh(path: string): Promise<void> {
    const seen = this.#seen.get(path);
    const hash = hashOf(await readFile(path));
    const agent = this.log.writerOf(path, hash);
    if (seen === undefined) {
      const by = agent === undefined ? '' : ` (${agent} wrote it)`;
      throw new MiniCcError('NOT_READ', `${path} exists${by} and you have not read it: read_file it first.`);
    }
    if (hash === seen) return;
    const how = agent === undefined ? 'outside mini-cc' : `by ${agent === this.agent ? 'a command of yours' : agent}`;
    throw new MiniCcError(
      'STALE',
      `${path} changed since you read it (${how}). Nothing was written: read_file it again.`,
    );
  }
}

/** @param agent as errors name it: `main`, or `[code] refactor auth`. */
export function createFileLedger(log: WriteLog, agent: string): FileLedger {
  return new AgentFileLedger(log, agent);
}

/** Changes whenever the file does, and sometimes when it does not. */
function stampOf(path: string): string {
  const about = lstatSync(path, {bigint: true, throwIfNoEntry: false});
  return about ? `${about.mtimeNs} ${about.ctimeNs} ${about.size} ${about.ino}` : '';
}

function hashOf(content: Buffer): string {
  return createHash('sha1').update(content).digest('base64');
}
