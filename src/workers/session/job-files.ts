/**
 * Stores each job of a session in a file beside its run's transcript, from before it is queued until its end is on disk
 * here. A session that closed or was killed finds the job again. Reads what a worker sent back, and applies its changes
 * to the workspace once.
 */
import {readFileSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import path from 'node:path';
import {gunzipSync} from 'node:zlib';
import type {Job} from 'bullmq';
import type {BroughtBack} from '../../core/contract/worktree.ts';
import {getErrorCode, MiniCcError, tryOr} from '../../core/util/errors.ts';
import {writePrivate} from '../../core/util/files/whole-file.ts';
import type {ShippedTrees, TreeState} from '../../storage/worktrees/shipped-trees.ts';
import type {Blobs} from '../queue/blobs.ts';
import {check, checkOutcome} from '../queue/checked-contents.ts';
import {MAX_OUTCOME_BYTES, type RemoteOutcome, resultSchema} from '../queue/messages.ts';
import type {Signatures} from '../queue/signatures.ts';

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
    await writePrivate(this.#getFile(runId), JSON.stringify(job));
  }

  async remove(runId: string): Promise<void> {
    await rm(this.#getFile(runId), {force: true});
  }

  read(runId: string): StoredJob | undefined {
    try {
      return JSON.parse(readFileSync(this.#getFile(runId), 'utf8')) as StoredJob;
    } catch (error) {
      if (getErrorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  #getFile(runId: string): string {
    return path.join(this.folder(runId), JOB_FILE);
  }
}

interface ResultsDeps {
  readonly blobs: Blobs;
  readonly signatures: Signatures;
  readonly trees: ShippedTrees;
  readonly files: JobFiles;
}

export class Results {
  constructor(private readonly deps: ResultsDeps) {}

  /**
   * @returns the outcome; `failed` says instead why no run ended
   * @throws MiniCcError when the result is not signed, not of its form, belongs to another run, or is no longer in the
   * queue
   */
  async read(job: Job) {
    const {blobs, signatures} = this.deps;
    const {body} = signatures.verify('result', job.returnvalue);
    const {jobId, outcome: ref, worker} = check('result', resultSchema, body);
    if (jobId !== job.id) throw new MiniCcError('WORKER', 'it is that of another run');
    if (typeof ref === 'object' && 'failed' in ref) return {worker, failed: ref.failed};
    const bytes = typeof ref === 'string' ? Buffer.from(ref, 'base64') : await blobs.read(ref);
    return {ref, worker, outcome: checkOutcome(unpack(bytes))};
  }

  /** Applies the changes once, even if this process was interrupted in between. */
  async bringBack(runId: string, job: StoredJob, outcome: RemoteOutcome, label: string): Promise<BroughtBack> {
    if (job.brought) return job.brought;
    const {trees, files} = this.deps;
    const patch = Buffer.from(outcome.patch ?? '', 'base64');
    const commits = outcome.commits === undefined ? undefined : Buffer.from(outcome.commits, 'base64');
    // Changes that are already in the workspace, because a crash interrupted this step, stay as they are.
    const brought = await trees.bringBack({agentId: runId, label}, job.tree, patch, commits);
    await files.write(runId, {...job, brought});
    return brought;
  }
}

/** @returns undefined when the bytes are no compressed JSON, or more than a result may have */
function unpack(bytes: Buffer): unknown {
  return tryOr(() => JSON.parse(gunzipSync(bytes, {maxOutputLength: MAX_OUTCOME_BYTES}).toString()), undefined);
}
