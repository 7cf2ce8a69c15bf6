/**
 * Stores each job of a session in a file beside its run's transcript, from before it is queued until its end is on disk
 * here. A session that closed or was killed finds the job again.
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
  /** Nonce of the job's message. Once the job has ended, no worker accepts a copy of that message. */
  readonly nonce: string;
  /** Signer of the job's message. With another secret or format the job cannot be found. */
  readonly signer: string;
  readonly tree: TreeState;
  /** Present when the changes of the job are in the workspace. */
  readonly brought?: BroughtBack;
}

export class JobFiles {
  /** @param folder returns the folder of a run, which has its transcript */
  constructor(private readonly folder: (runId: string) => string) {}

  async write(runId: string, job: StoredJob): Promise<void> {
    const folder = this.folder(runId);
    await mkdir(folder, {recursive: true, mode: 0o700});
    await writeWhole(path.join(folder, JOB_FILE), JSON.stringify(job), {mode: 0o600});
  }

  async remove(runId: string): Promise<void> {
    await rm(path.join(this.folder(runId), JOB_FILE), {force: true});
  }

  read(runId: string): StoredJob | undefined {
    try {
      return JSON.parse(readFileSync(path.join(this.folder(runId), JOB_FILE), 'utf8')) as StoredJob;
    } catch (error) {
      if (getErrorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }
}
