/** Reads and checks what a worker sent back, and applies its changes to the workspace once. */
import {gunzipSync} from 'node:zlib';
import type {Job} from 'bullmq';
import type {BroughtBack} from '../../core/contract/worktree.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import type {ShippedTrees} from '../../storage/worktrees/shipped-trees.ts';
import type {Blobs} from '../queue/blobs.ts';
import {type RemoteOutcome, resultSchema} from '../queue/messages.ts';
import type {Signatures} from '../queue/signatures.ts';
import type {JobFiles, StoredJob} from './job-files.ts';

interface ResultsDeps {
  readonly blobs: Blobs;
  readonly signatures: Signatures;
  readonly trees: ShippedTrees;
  readonly files: JobFiles;
}

export class Results {
  constructor(private readonly deps: ResultsDeps) {}

  /** @throws MiniCcError when the result is not signed, belongs to another run, or is no longer in the queue */
  async read(job: Job) {
    const {blobs, signatures} = this.deps;
    const {jobId, outcome: ref, worker} = resultSchema.parse(signatures.verify('result', job.returnvalue).body);
    if (jobId !== job.id) throw new MiniCcError('WORKER', 'it is that of another run');
    const {signal} = new AbortController();
    const bytes = typeof ref === 'string' ? Buffer.from(ref, 'base64') : await blobs.read(ref, {take: false, signal});
    return {ref, worker, outcome: JSON.parse(gunzipSync(bytes).toString()) as RemoteOutcome};
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
