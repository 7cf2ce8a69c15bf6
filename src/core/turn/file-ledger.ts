/**
 * Prevents stale writes: an agent may overwrite a file only if it has read it and the file has not changed since. Each
 * agent has its own ledger. The agents of a session share the log of writers, whose names appear in errors.
 */
import {createHash} from 'node:crypto';
import {lstatSync} from 'node:fs';
import type {FileLedger, SeenContent} from '../contract/tool.ts';
import {MiniCcError} from '../util/errors.ts';
import {withRegularFile} from '../util/files/open-folder.ts';

interface LastWrite {
  /** Hash of the content that was written. */
  readonly hash: string;
  /** Several agents when their commands ran at the same time: any of them may have written the file. */
  readonly agents: ReadonlySet<string>;
  /** True when a tool wrote it, so that the writer is known. */
  readonly isCertain: boolean;
}

/** Records which agent of the session wrote a file last. Agents are named as in error messages. */
export class WriteLog {
  readonly #writers = new Map<string, LastWrite>();
  /** Files that an agent has read or written. Only writers of these files are logged. */
  readonly #known = new Set<string>();

  knows(path: string): boolean {
    return this.#known.has(path);
  }

  addKnown(path: string): void {
    this.#known.add(path);
  }

  /** Records that a tool of this agent wrote the file. */
  addWrite(path: string, agent: string, hash: string): void {
    this.#writers.set(path, {hash, agents: new Set([agent]), isCertain: true});
  }

  /** Records that the file got this content while a command of this agent ran. */
  addCommandWrite(path: string, agent: string, hash: string): void {
    const last = this.#writers.get(path);
    const isSame = last?.hash === hash;
    if (isSame && last.isCertain) return;
    this.#writers.set(path, {hash, agents: new Set([...(isSame ? last.agents : []), agent]), isCertain: false});
  }

  readStamps(): ReadonlyMap<string, string> {
    return new Map([...this.#known].map((path) => [path, readStamp(path)]));
  }

  /** Names the writer of this content. @returns undefined when no agent of this session wrote it */
  findWriter(path: string, hash: string): string | undefined {
    const last = this.#writers.get(path);
    return last?.hash === hash ? [...last.agents].join(' or ') : undefined;
  }
}

class AgentFileLedger implements FileLedger {
  /**
   * Identity of the content by path. Small files are known by their hash, because two writes may have the same time.
   */
  readonly #seen = new Map<string, string>();

  constructor(
    private readonly log: WriteLog,
    private readonly agent: string,
  ) {}

  recordRead(path: string, content: SeenContent): void {
    this.log.addKnown(path);
    this.#seen.set(path, identify(content));
  }

  recordWrite(path: string, content: SeenContent): void {
    const hash = identify(content);
    this.log.addKnown(path);
    this.#seen.set(path, hash);
    this.log.addWrite(path, this.agent, hash);
  }

  beginCommand(): () => Promise<void> {
    const before = this.log.readStamps();
    return async () => {
      const changed = [...before].filter(([path, stamp]) => readStamp(path) !== stamp);
      await this.recordCommandWrites(changed.map(([path]) => path));
    };
  }

  async recordCommandWrites(changed: readonly string[]): Promise<void> {
    for (const path of changed.filter((each) => this.log.knows(each))) {
      const hash = await readIdentity(path).catch(() => undefined);
      // A file that is deleted or cannot be read needs no entry: nothing can overwrite it unseen.
      if (hash !== undefined) this.log.addCommandWrite(path, this.agent, hash);
    }
  }

  assertFresh(path: string, now: SeenContent): void {
    const seen = this.#seen.get(path);
    const hash = identify(now);
    const agent = this.log.findWriter(path, hash);
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

/** @param agent name of the agent in error messages: `main`, or `[code] refactor auth` */
export function createFileLedger(log: WriteLog, agent: string): FileLedger {
  return new AgentFileLedger(log, agent);
}

/** Returns a text that differs after each change of the file. It may also differ when the content is the same. */
function readStamp(path: string): string {
  const stat = lstatSync(path, {bigint: true, throwIfNoEntry: false});
  return stat ? `${stat.mtimeNs} ${stat.ctimeNs} ${stat.size} ${stat.ino}` : '';
}

/** Bytes. Larger files are known by their stamp and never read into memory as a whole. */
export const MAX_WHOLE_BYTES = 10 * 1024 * 1024;

function identify(content: SeenContent): string {
  if (Buffer.isBuffer(content)) return createHash('sha1').update(content).digest('base64');
  const {dev, ino, size, mtimeNs, ctimeNs} = content;
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

/** Undefined for a missing file. @throws as `withRegularFile` */
function readIdentity(path: string): Promise<string | undefined> {
  return withRegularFile(path, async (handle) => {
    const stats = await handle.stat({bigint: true});
    return identify(stats.size > MAX_WHOLE_BYTES ? stats : await handle.readFile());
  });
}
