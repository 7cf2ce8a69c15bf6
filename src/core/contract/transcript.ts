/** The lines of a transcript, and the journal that writes them. */

import type {Message, Usage} from './model.ts';
import type {Outcome, Todo, ToolDisplay} from './results.ts';
import type {RunSpec} from './run-spec.ts';

/** Version of the transcript's format, in its first line. */
export const TRANSCRIPT_VERSION = 1;

/** How a background run ended. It is in the main agent's history once for each end of the run. */
export interface Announcement {
  readonly runId: string;
  /** 1, and one more each time that the run continued after its end. */
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

/** What the runtime knows of the part of a conversation that a summary replaced. */
export interface SummaryFacts {
  /** Files that were read or changed, the newest last. Paths as the calls had them. */
  readonly files: readonly {readonly path: string; readonly isChanged: boolean}[];
  /** The list of todos as it was then. */
  readonly todos: readonly Todo[];
}

/** A message that takes the place of others. */
export interface Replacement {
  readonly message: Message;
  /** Present when it is a summary of what it replaces. */
  readonly summary?: SummaryFacts;
  /** It repeats the prompt that is worked on, which was replaced. */
  readonly repeated?: true;
}

/** How a tool call was shown besides its name and its result. */
export interface CallShown {
  /** Names the call for a person, e.g. by its path or command. */
  readonly title: string;
  /** These are as in the events of the call. */
  readonly description?: string;
  readonly previewIsEnd?: true;
  readonly summary?: string;
  readonly lines?: number;
  readonly display?: ToolDisplay;
  readonly outputFile?: string;
  readonly durationMs?: number;
}

/** By the id of the call. */
export type CallsShown = Readonly<Record<string, CallShown>>;

/** A message of a conversation that is continued. */
export interface RestoredMessage extends Replacement {
  /** Of its line. Absent where it is only shown. */
  readonly uuid?: string;
  /** A person wrote it. */
  readonly prompt?: true;
  /** Of a reply: the model that was asked for it. */
  readonly model?: string;
  /** Present when the message is an announcement. */
  readonly announcement?: Announcement;
  /** Present when the message went along with a prompt. What it is, for a person: `!npm test`. */
  readonly companion?: string;
  /** Present when the message has results of calls, but for transcripts of earlier versions. */
  readonly calls?: CallsShown;
}

/** One line of a transcript. The first is always `session`. */
export type TranscriptEntry =
  | ({
      readonly type: 'session';
      readonly version: number;
      readonly id: string;
      readonly agent: string;
      readonly cwd: string;
      readonly at: string;
      /** Of a session: the branch that git had checked out. */
      readonly branch?: string;
      /** Of a subagent's run: the session that dispatched it. The rest of its `RunSpec` follows. */
      readonly parent?: string;
    } & Partial<Omit<RunSpec, 'runId' | 'agent'>>)
  | {
      readonly type: 'message';
      readonly uuid: string;
      readonly at: string;
      readonly message: Message;
      /** A person wrote it: the conversation can be taken back to before it. */
      readonly prompt?: true;
      /** Present when the message is an announcement. */
      readonly announcement?: Announcement;
      /** Present when the message went along with a prompt. What it is, for a person: `!npm test`. */
      readonly companion?: string;
      /** Present when the message has results of calls. */
      readonly calls?: CallsShown;
      /** From here on only of a reply: see `ReplyFacts`. */
      readonly model?: string;
      readonly asked?: string;
      readonly usage?: Usage;
      readonly stopReason?: string | null;
    }
  /**
   * Text of a reply that is being streamed, as far as it is new. It follows that of the `partial` line before it, or with
   * `start` takes its place. The whole message, when it comes, replaces all of it.
   */
  | {readonly type: 'partial'; readonly at: string; readonly text: string; readonly start?: true}
  /** What was used beside the replies: by a summary, by an attempt that failed, by a tool or a command that asked a model. */
  | {
      readonly type: 'usage';
      readonly at: string;
      readonly model: string;
      readonly usage: Usage;
      /** For whom, where it is not the agent of this transcript. */
      readonly agent?: string;
    }
  /** A run that had waited for a place in the pool began its work. */
  | {readonly type: 'began'; readonly at: string}
  /** A run was sent to the background while it was at work. */
  | {readonly type: 'background'; readonly at: string}
  /** An ended run continues in the background; `round` counts from 1. */
  | {readonly type: 'resumed'; readonly at: string; readonly round: number}
  /** The message with the uuid `to`, and all messages between it and this line, no longer count. */
  | {readonly type: 'rewind'; readonly at: string; readonly to: string}
  /**
   * The messages of the lines from `from` to `to` (uuids, both included) no longer count; those of `by` take their place.
   * The lines stay: a `rewind` to one of them brings back what was before it.
   */
  | {
      readonly type: 'replace';
      readonly at: string;
      readonly from: string;
      readonly to: string;
      /** In a few words, for people. */
      readonly because: string;
      readonly by: readonly (Replacement & {readonly uuid: string})[];
    }
  /** These results, by the id of their call, were replaced by shorter texts. */
  | {
      readonly type: 'shorten';
      readonly at: string;
      readonly results: readonly {readonly id: string; readonly text: string}[];
    }
  | ({readonly type: 'end'; readonly at: string} & RunEnd);

/** How a run ended, with all that its announcement needs: a crash right after this line loses nothing. */
export interface RunEnd {
  readonly outcome: Outcome;
  readonly reason?: string;
  readonly receipt?: string;
  /** The final answer, or what there was. */
  readonly text?: string;
  readonly durationMs?: number;
  /** Tool calls that ended, in all rounds. */
  readonly tools?: number;
  /** In all rounds. */
  readonly usage?: Usage;
  readonly usageByModel?: Readonly<Record<string, Usage>>;
  readonly background?: boolean;
  readonly round?: number;
  /** Where its last round worked, if on another machine. */
  readonly worker?: string;
}

/** Why lines of a journal are not on disk yet. */
export interface JournalFault {
  /** One line for the user: what is wrong, where, and what to do. */
  readonly text: string;
  /** The disk is full: the work can wait for room. */
  readonly mayPass: boolean;
  /** The user was not told of it yet. */
  readonly isNew: boolean;
}

/** Appends lines to a transcript. `storage/` implements it. */
export interface Journal {
  /**
   * Synchronous: when it returns, the line is on disk, or waits in memory with those before it because the disk does not
   * take it now.
   * @throws UsageError when the transcript may not be written at all: another mini-cc has it open
   */
  append(entry: TranscriptEntry): void;
  /** Writes the lines that wait. @returns why they cannot be written; undefined when none waits. A journal in memory has none. */
  flush?(): JournalFault | undefined;
}

/** Which model gave a reply, and what it cost. */
export interface ReplyFacts {
  readonly model: string;
  /** The model that was asked, where the server names itself otherwise. */
  readonly asked?: string;
  readonly usage: Usage;
  readonly stopReason: string | null;
}
