/** The messages between a session and its workers. All of them are signed, see `signatures.ts`. */
import {z} from 'zod';
import type {AgentEventBody} from '../../core/contract/events.ts';
import type {RunResult} from '../../core/contract/results.ts';
import type {TranscriptEntry} from '../../core/contract/transcript.ts';

/** How long jobs, results and all that belongs to them stay in Redis when no side takes them out. Milliseconds. */
export const LIFE_MS = 7 * 24 * 60 * 60 * 1000;

/** What of a job or its result is larger goes beside it. Bytes. */
export const MAX_INLINE_BYTES = 64 * 1024;

const blobSchema = z.object({
  id: z.string().regex(/^[\w-]{1,80}$/),
  chunks: z.int().min(0),
  bytes: z.int().min(0),
  sha256: z.string(),
});
/** Bytes that lie in Redis in chunks. */
export type BlobRef = z.output<typeof blobSchema>;

const treeSchema = z.object({
  /** The same for the same files, base, branch and folder. */
  key: z.string().regex(/^[0-9a-f]{64}$/),
  /** Of the repository on its machine: trees of one repository share their objects. */
  repository: z.string().regex(/^[0-9a-f]{64}$/),
  /** The name of its folder. */
  name: z.string().regex(/^[^/\0]{1,255}$/),
  /** The git tree of all its files, by their bytes. */
  start: z.string().regex(/^[0-9a-f]{40,64}$/),
  base: z
    .string()
    .regex(/^[0-9a-f]{40,64}$/)
    .optional(),
  branch: z
    .string()
    .regex(/^refs\/heads\/[^\s~^:?*[\\]+$/)
    .optional(),
  prefix: z.string(),
  objectFormat: z.enum(['sha1', 'sha256']),
  /** Addresses from which the base can be fetched. */
  remotes: z.array(z.string()),
});

export const jobSchema = z.object({
  jobId: z.string(),
  sessionId: z.string(),
  runId: z.string().regex(/^[\w-]{1,80}$/),
  round: z.int(),
  tree: treeSchema,
  /** The parts of the tree that lie in Redis. A worker asks for others. */
  patch: blobSchema.optional(),
  bundle: blobSchema.optional(),
  /** The `RemoteTask` as JSON, with paths as `paths.ts` says. It is signed, so its shape is that of `PROTOCOL`. */
  work: z.union([z.string(), blobSchema]),
  traceparent: z.string().optional(),
});
export type Job = z.output<typeof jobSchema>;

/** What a worker that does not have a tree asks for: what its base does not have, and the base. */
export type TreePart = 'patch' | 'bundle';

/** From a worker to the session: how a job goes on. */
export interface JobEvent {
  readonly jobId: string;
  readonly attempt: number;
  readonly worker: string;
  readonly what:
    | {readonly type: 'begun' | 'ended'}
    | {readonly type: 'needs'; readonly part: TreePart}
    | {readonly type: 'delivered'; readonly id: string}
    | {readonly type: 'given_back'; readonly why: string}
    | {readonly type: 'event'; readonly event: AgentEventBody};
}

/** From the session to the worker that has the job. */
export type JobControl =
  | {readonly type: 'stop'}
  | {readonly type: 'send'; readonly id: string; readonly text: string}
  | {readonly type: 'part'; readonly part: TreePart; readonly blob: BlobRef};

/** What the queue keeps of a job that ended. */
export const resultSchema = z.object({
  jobId: z.string(),
  attempt: z.int(),
  worker: z.string(),
  /** `RemoteOutcome`, compressed; base64 where it is small: then it is there, or is not, with the end of the job. */
  outcome: z.union([z.string(), blobSchema]),
});
export type JobResult = z.output<typeof resultSchema>;

/** What a run did. */
export interface RemoteOutcome {
  /** Its paths are relative to the session's folder. */
  readonly result: RunResult;
  /** The lines of its transcript after the prompt. */
  readonly entries: readonly TranscriptEntry[];
  /** What did not come along, for a person. */
  readonly notes: readonly string[];
  /** Base64 of the patch from the tree's start, and of a bundle of its commits. */
  readonly patch?: string;
  readonly commits?: string;
}
