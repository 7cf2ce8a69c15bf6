/** The lines of a transcript, and where they are written. */

import type {Message, Usage} from './model.ts';
import type {NamedLimits, Outcome} from './results.ts';
import type {Isolation} from './worktree.ts';

/** Version of the transcript's format, in its first line. */
export const TRANSCRIPT_VERSION = 1;

/** How a background run ended, as the main agent and the screen are told. In the history once for each end of a run. */
export interface Announcement {
  readonly runId: string;
  /** 1, or how often the run has gone on after its end. */
  readonly round: number;
  readonly agent: string;
  /** Absent in transcripts of earlier versions. */
  readonly description?: string;
  readonly outcome: Outcome;
  /** Why it did not succeed; empty for a success. */
  readonly reason: string;
  /** The run's final answer, cut to the length that a result may have. */
  readonly text: string;
}

/** A message of a conversation that is continued. */
export interface RestoredMessage {
  readonly message: Message;
  /** The message is this announcement. */
  readonly announcement?: Announcement;
}

/** One line of a transcript. The first is always `session`. */
export type TranscriptEntry =
  | {
      readonly type: 'session';
      readonly version: number;
      readonly id: string;
      readonly agent: string;
      readonly cwd: string;
      readonly at: string;
      /** Of a subagent's run: the session that dispatched it, its task, and how it was dispatched. */
      readonly parent?: string;
      readonly description?: string;
      readonly model?: string;
      readonly background?: boolean;
      readonly cleanup?: 'keep' | 'delete';
      readonly label?: string;
      readonly callId?: string;
      readonly limits?: NamedLimits;
      readonly onlyTools?: readonly string[];
      readonly isolation?: Isolation;
    }
  | {
      readonly type: 'message';
      readonly uuid: string;
      readonly at: string;
      readonly message: Message;
      /** A person wrote it: the conversation can be taken back to before it. */
      readonly prompt?: true;
      /** The message tells the end of a background run. */
      readonly announcement?: Announcement;
      /** Of a reply: who answered, and what it cost. */
      readonly model?: string;
      readonly usage?: Usage;
      readonly stopReason?: string | null;
    }
  /** A run was sent to the background while it was at work. */
  | {readonly type: 'background'; readonly at: string}
  /** A run that had ended goes on, in the background; `round` counts from 1. */
  | {readonly type: 'resumed'; readonly at: string; readonly round: number}
  /** The message with this uuid and what came after it, up to here, count no more. */
  | {readonly type: 'rewind'; readonly at: string; readonly to: string}
  | ({readonly type: 'end'; readonly at: string} & RunEnd);

/** How a run ended: all that its announcement needs, so that a crash right after it loses nothing. */
export interface RunEnd {
  readonly outcome: Outcome;
  readonly reason?: string;
  readonly receipt?: string;
  /** The final answer, or what there was. */
  readonly text?: string;
  readonly durationMs?: number;
  /** Tool calls that ended, over all rounds. */
  readonly tools?: number;
  /** Over all rounds. */
  readonly usage?: Usage;
  readonly background?: boolean;
  readonly round?: number;
}

/** Where lines go; `storage/` appends them to a file. Writing is synchronous: a returned call is on disk. */
export interface Journal {
  append(entry: TranscriptEntry): void;
}

export interface ReplyFacts {
  readonly model: string;
  readonly usage: Usage;
  readonly stopReason: string | null;
}
