/**
 * The jobs of a session, each in a file beside its run's transcript: from before it is in the queue until its end is on disk
 * here. A session that leaves, or is killed, finds it again.
 */
import {readFileSync} from 'node:fs';
import {mkdir, rm} from 'node:fs/promises';
import path from 'node:path';
import type {BroughtBack} from '../../core/contract/worktree.ts';
import {getErrorCode} from '../../core/util/errors.ts';
import {writeWhole} from '../../core/util/files/whole-file.ts';
import type {TreeState} from '../../storage/worktrees/shipped-trees.ts';

export const JOB_FILE = 'job.json';

export interface StoredJob {
  readonly jobId: string;
  /** Of its message: once it has ended, no worker takes a copy of it. */
  readonly nonce: string;
  /** Of its message: with another one it is not found. */
  readonly signer: string;
  readonly tree: TreeState;
  /** Its changes are in the workspace. */
  readonly brought?: BroughtBack;
}

export class JobFiles {
  /** @param folder of a run, with its transcript */
  constructor(private readonly folder: (runId: string) => string) {}

  async write(runId: string, job: StoredJob): Promise<void> {
    const folder = this.folder(runId);
    await mkdir(folder, {recursive: true, mode: 0o700});
    await writeWhole(path.join(folder, JOB_FILE), JSON.stringify(job), {mode: 0o600});
  }

  async remove(runId: string): Promise<void> {
    await rm(path.join(this.folder(runId), JOB_FILE), {force: true});
  }

  /** Undefined when the run has none. */
  read(runId: string): StoredJob | undefined {
    try {
      return JSON.parse(readFileSync(path.join(this.folder(runId), JOB_FILE), 'utf8')) as StoredJob;
    } catch (error) {
      if (getErrorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }
}
