/**
 * Guards against stale writes: an agent may overwrite only what it has read, and only while that is still there.
 * One ledger an agent; the log of who wrote what is shared by the agents of a session.
 */
import {createHash} from 'node:crypto';
import {readFile, stat} from 'node:fs/promises';
import {MiniCcError} from './errors.ts';

interface Version {
  readonly mtimeMs: number;
  readonly size: number;
  readonly hash: string;
}

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
  readonly #seen = new Map<string, Version>();

  constructor(
    private readonly log: WriteLog,
    /** As errors name it: `main`, or `[code] refactor auth`. */
    private readonly agent: string,
  ) {}

  /** The agent has read this content of the file. `path` is absolute, links resolved. */
  async sawRead(path: string, content: Buffer): Promise<void> {
    this.#seen.set(path, await versionOf(path, content));
  }

  /** The agent has written this content. */
  async sawWrite(path: string, content: Buffer): Promise<void> {
    const version = await versionOf(path, content);
    this.#seen.set(path, version);
    this.log.wrote(path, this.agent, version.hash);
  }

  /**
   * Passes when the file is as this agent last saw it.
   * @throws MiniCcError `NOT_READ` when it never read it, `STALE` when it changed since; the message names who did it.
   */
  async assertFresh(path: string): Promise<void> {
    const seen = this.#seen.get(path);
    if (!seen) throw new MiniCcError('NOT_READ', `${path} exists and you have not read it: read_file it first.`);
    const now = await stat(path);
    if (now.mtimeMs === seen.mtimeMs && now.size === seen.size) return;
    const hash = hashOf(await readFile(path));
    if (hash === seen.hash) return;
    const writer = this.log.writerOf(path, hash) ?? 'outside mini-cc';
    throw new MiniCcError(
      'STALE',
      `${path} changed since you read it (by ${writer}). Nothing was written: read_file it again.`,
    );
  }
}

async function versionOf(path: string, content: Buffer): Promise<Version> {
  const {mtimeMs, size} = await stat(path);
  return {mtimeMs, size, hash: hashOf(content)};
}

function hashOf(content: Buffer): string {
  return createHash('sha1').update(content).digest('base64');
}
