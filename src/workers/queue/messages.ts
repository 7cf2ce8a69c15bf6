/** Defines the messages between a session and its workers. All of them are signed, see `signatures.ts`. */
import {z} from 'zod';
import type {AgentEventBody} from '../../core/contract/events.ts';
import type {RunResult} from '../../core/contract/results.ts';
import type {CallSize} from '../../core/contract/tool.ts';
import type {TranscriptEntry, UsedSoFar} from '../../core/contract/transcript.ts';
import {mapTexts} from '../../core/util/objects.ts';
import {treeSchema} from '../../storage/worktrees/shipped-trees.ts';

/** Milliseconds that jobs, results and their parts stay in Redis when no side removes them. */
export const LIFE_MS = 7 * 24 * 60 * 60 * 1000;

/** Bytes. Larger parts of a job or its result are stored separately. */
export const MAX_INLINE_BYTES = 64 * 1024;

/** Bytes of one chunk of a blob. */
export const CHUNK_BYTES = 1024 * 1024;
const MAX_BLOB_BYTES = 512 * CHUNK_BYTES;
/** Bytes of a task, and characters that an outcome may have when it is unpacked. */
export const MAX_TASK_BYTES = 16 * CHUNK_BYTES;
export const MAX_OUTCOME_BYTES = 256 * CHUNK_BYTES;

/** Ids of runs and jobs are parts of paths and keys. */
export const id = z.string().regex(/^[\w-]{1,100}$/);
/** A worker's name stands in progress lines and notices. */
export const workerName = z.string().regex(/^[\p{L}\p{N}][\p{L}\p{N}_-]{0,79}$/u);

export const blobSchema = z
  .object({
    id,
    chunks: z.int().min(0),
    bytes: z.int().min(0).max(MAX_BLOB_BYTES),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  })
  .refine(({chunks, bytes}) => chunks === Math.ceil(bytes / CHUNK_BYTES));
/** Bytes that are stored in Redis in chunks. */
export type BlobRef = z.output<typeof blobSchema>;

/** mini-cc stores larger parts separately, so a message with a longer text was not written by mini-cc. */
const inlineText = z.string().max(2 * MAX_INLINE_BYTES);

export const jobSchema = z.object({
  jobId: id,
  sessionId: id,
  runId: id,
  round: z.int().min(1),
  tree: treeSchema,
  /** The `RemoteTask` as JSON, with paths as `toRelative` gives, see `checkTask`. */
  work: z.union([inlineText, blobSchema]),
  traceparent: z
    .string()
    .regex(/^[\da-f-]{1,80}$/)
    .optional(),
});
export type Job = z.output<typeof jobSchema>;

/** Part that a worker without the tree asks the session for: what the base lacks (`patch`), or the base (`bundle`). */
export type TreePart = 'patch' | 'bundle';

/** Message of a worker to the session about the progress of a job. */
export interface JobEvent {
  readonly jobId: string;
  readonly attempt: number;
  readonly worker: string;
  readonly what:
    | {readonly type: 'begun' | 'ended'}
    | {readonly type: 'needs'; readonly part: TreePart}
    | {readonly type: 'delivered'; readonly id: string}
    | {readonly type: 'given_back'; readonly why: string}
    | {readonly type: 'reserve'; readonly id: string; readonly call: CallSize}
    | {readonly type: 'release'; readonly id: string; readonly used: readonly UsedSoFar[]}
    | {readonly type: 'event'; readonly event: AgentEventBody};
}

/** Result of a job that ended, as it is stored in the queue. */
export const resultSchema = z.object({
  jobId: id,
  attempt: z.int().min(1),
  worker: workerName,
  /**
   * `RemoteOutcome`, compressed. A small one is included as base64, so that it exists exactly if the end of the job
   * does. `failed` says instead why no run ended.
   */
  outcome: z.union([inlineText, blobSchema, z.object({failed: z.string().max(10_000)})]),
});
export type JobResult = z.output<typeof resultSchema>;

/** Outcome of a run at a worker. */
export interface RemoteOutcome {
  /** Result with paths relative to the session's folder. */
  readonly result: RunResult;
  /** Lines of the transcript after the prompt. */
  readonly entries: readonly TranscriptEntry[];
  /** Notes for a person about what was not sent back. */
  readonly notes: readonly string[];
  /** Patch from the tree's start, in base64. `commits` is a bundle of the run's commits, also in base64. */
  readonly patch?: string;
  readonly commits?: string;
}

/** Placeholder for the path of the workspace in messages of the queue. */
const PLACE = '\u{F0000}workspace\u{F0000}';

/** Replaces this folder's path in all texts of the value. @param root absolute path */
export function toRelative<T>(value: T, root: string): T {
  return mapTexts(value, (text) => text.replaceAll(root, PLACE));
}

/** Inserts the path of this workspace into all texts of the value. */
export function fromRelative<T>(value: T, root: string): T {
  return mapTexts(value, (text) => text.replaceAll(PLACE, root));
}
