/** The lines of a transcript, and the journal that writes them. */

import type {AccountPause, Message, Usage, UsageEntry} from './model.ts';
import type {Outcome, SubagentSummary, Todo, ToolDisplay} from './results.ts';
import type {RunSpec} from './run-spec.ts';

/** Version of the transcript's format, in its first line. */
export const TRANSCRIPT_VERSION = 1;

/** How a background run ended. The main agent's history has one for each end of the run. */
export interface Announcement {
  readonly runId: string;
  /** 1, plus one each time the run continued after its end. */
  readonly round: number;
  readonly agent: string;
  /** Absent in transcripts of earlier versions. */
  readonly description?: string;
  readonly outcome: Outcome;
  /** Reason why the run did not succeed. Empty for a success. */
  readonly reason: string;
  /** Final answer of the run, cut to the length that a result may have. */
  readonly text: string;
}

/** Facts about the part of a conversation that a summary replaced. */
export interface SummaryFacts {
  /** Files that were read or changed, the newest last. Paths are as the calls named them. */
  readonly files: readonly {readonly path: string; readonly isChanged: boolean}[];
  /** List of todos at that time. */
  readonly todos: readonly Todo[];
}

export interface Replacement {
  readonly message: Message;
  /** Present when the message is a summary of what it replaces. */
  readonly summary?: SummaryFacts;
  /** True when the message repeats the current prompt, which was replaced. */
  readonly repeated?: true;
  /** True when the runtime wrote the message. It is no prompt. Absent in transcripts of earlier versions. */
  readonly note?: true;
}

/** Lines that a person saw at the end of a tool call, besides its result. */
export interface CallEnd {
  /** True when the preview is the end of the result. Absent when it is the beginning. */
  readonly previewIsEnd?: true;
  /** Outcome of the call in a few words: `120 lines`, `exit code 1`. */
  readonly summary?: string;
  /** Number of all lines, including those that the model does not see. Absent when they were not counted. */
  readonly lines?: number;
  readonly display?: ToolDisplay;
  /** File with the whole output, when the output was too long for the model. */
  readonly outputFile?: string;
  /** Milliseconds since the call was allowed. */
  readonly durationMs?: number;
}

/** What a person saw of a tool call besides its name and its result. */
export interface CallShown extends CallEnd {
  /** Names the call for a person, e.g. by its path or command. */
  readonly title: string;
  /** Purpose of the call, in the model's words. */
  readonly description?: string;
}

/** What a person saw of calls, by the id of the call. */
export type CallsShown = Readonly<Record<string, CallShown>>;

/** A message of a conversation that is continued. */
export interface RestoredMessage extends Replacement {
  /** Id of its line. Absent when the message is only shown. */
  readonly uuid?: string;
  /** True when a person wrote it. The conversation can go back to the point before it. */
  readonly prompt?: true;
  /** Only for a reply: the model that was asked. */
  readonly model?: string;
  readonly announcement?: Announcement;
  /** Name of the message for a person, such as `!npm test`. Present when the message accompanied a prompt. */
  readonly companion?: string;
  /** Present when the message has results of calls, except in transcripts of earlier versions. */
  readonly calls?: CallsShown;
  /** Present when the message was the last one of a turn that had subagents. */
  readonly subagents?: SubagentSummary;
}

/** What a session that continues needs to know of all lines before a line. */
export interface TotalsBefore {
  /** Ids of announcements. */
  readonly announced: readonly string[];
  /** Usage by agent and model. Usage of a streamed reply counts once its end came, or a line showed that none will. */
  readonly used: readonly UsageEntry[];
  /** Sum of the `turn_end` lines. */
  readonly subagents: SubagentSummary;
  /** Number of damaged lines of messages. */
  readonly damaged: number;
  /** Number of replies of which only streamed text is left. It is a part of the ids of their messages. */
  readonly cutOff: number;
}

/** One line of a transcript. The first line is always `session`. */
export type TranscriptEntry =
  | ({
      readonly type: 'session';
      readonly version: number;
      readonly id: string;
      readonly agent: string;
      readonly cwd: string;
      readonly at: string;
      /** Only for a session: the branch that git had checked out. */
      readonly branch?: string;
      /** Only for a subagent's run: the commit that git had checked out when it was dispatched. */
      readonly commit?: string;
      /** Only for a subagent's run: the session that dispatched it. The rest of its `RunSpec` follows. */
      readonly parent?: string;
    } & Partial<Omit<RunSpec, 'runId' | 'agent'>>)
  /** Only replies have `ReplyFacts`. A prompt has the id, if any, that the program that sent it gave it. */
  | ({readonly type: 'message'; readonly uuid: string; readonly at: string; readonly messageId?: string} & Pick<
      RestoredMessage,
      'message' | 'prompt' | 'note' | 'announcement' | 'companion' | 'calls'
    > &
      Partial<ReplyFacts>)
  /**
   * New text of a reply that is being streamed. It continues the text of the `partial` line before it, or replaces it
   * when `start` is set. The whole message replaces all of them.
   */
  | {readonly type: 'partial'; readonly at: string; readonly text: string; readonly start?: true}
  /**
   * What a reply that is being streamed has used so far. The whole message, a `usage` line of the same agent and a later
   * line of this type replace it. It counts only when mini-cc ended before they came.
   */
  | ({readonly type: 'usage_so_far'; readonly at: string} & UsedSoFar)
  /** Usage besides that of the replies: of a summary, a failed attempt, or a tool or command that asked a model. */
  | {
      readonly type: 'usage';
      readonly at: string;
      readonly model: string;
      readonly usage: Usage;
      /** Present when the usage belongs to another agent than that of this transcript. */
      readonly agent?: string;
    }
  /** A run that waited for a place in the pool began its work. */
  | {readonly type: 'began'; readonly at: string}
  | {readonly type: 'background'; readonly at: string}
  /** The run waits for the end of a limit of the account. It goes on in the same round. */
  | ({readonly type: 'paused'; readonly at: string} & AccountPause)
  /** An ended run continues in the background. `round` counts from 1. */
  | {readonly type: 'resumed'; readonly at: string; readonly round: number}
  /** The message with the uuid `to`, and all messages between it and this line, are dropped. */
  | {readonly type: 'rewind'; readonly at: string; readonly to: string}
  /**
   * The messages in `by` replace those of the lines from `from` to `to` (uuids, both included). The lines stay: a
   * `rewind` to one of them restores what was before it.
   */
  | {
      readonly type: 'replace';
      /**
       * Present in a session when the first messages of the conversation are replaced. A session that continues reads
       * the lines from `to` on and takes these totals for all lines before this one. Absent in transcripts of earlier
       * versions.
       */
      readonly totals?: TotalsBefore;
      readonly at: string;
      readonly from: string;
      readonly to: string;
      /** Reason for people, in a few words. */
      readonly because: string;
      readonly by: readonly (Replacement & {readonly uuid: string})[];
    }
  /** Shorter texts replaced these results, by the id of their call. */
  | {
      readonly type: 'shorten';
      readonly at: string;
      readonly results: readonly {readonly id: string; readonly text: string}[];
    }
  | ({readonly type: 'end'; readonly at: string} & RunEnd)
  /** A turn of the main agent ended, and subagents had ended since the line of this type before. */
  | {readonly type: 'turn_end'; readonly at: string; readonly subagents: SubagentSummary};

/**
 * How a run ended, with everything that its announcement needs, so that a crash right after this line loses nothing.
 */
export interface RunEnd {
  readonly outcome: Outcome;
  readonly reason?: string;
  readonly receipt?: string;
  /** Final answer, or the text so far. */
  readonly text?: string;
  readonly durationMs?: number;
  /** Number of tool calls that ended, in all rounds. */
  readonly tools?: number;
  /** Usage of all rounds. */
  readonly usage?: Usage;
  /** Tool of the last call. */
  readonly lastTool?: string;
  readonly usageByModel?: Readonly<Record<string, Usage>>;
  readonly background?: boolean;
  readonly round?: number;
  /** Worker of the last round, if it worked on another machine. */
  readonly worker?: string;
}

/** Reason why lines of a journal are not on disk yet. */
export interface JournalFault {
  /** Line for the user: what is wrong, where, and what to do. */
  readonly text: string;
  /** True when the disk is full: the work can wait for free space. */
  readonly mayPass: boolean;
  /** True when the user has not seen it yet. */
  readonly isNew: boolean;
}

/** Appends lines to a transcript. `storage/` implements it. */
export interface Journal {
  /**
   * Works synchronously. When it returns, the line is on disk, or waits in memory behind earlier lines because the disk
   * does not accept it at the moment.
   * @throws UsageError when the transcript may not be written at all because another mini-cc has it open
   */
  append(entry: TranscriptEntry): void;
  /**
   * Writes the lines that wait. A journal in memory does not have this function.
   * @returns why they cannot be written; undefined when none waits
   */
  flush?(): JournalFault | undefined;
}

/** What a reply has used so far. */
export interface UsedSoFar {
  readonly usage: Usage;
  readonly model: string;
}

/** The model that gave a reply, and what the reply cost. */
export interface ReplyFacts {
  readonly model: string;
  /** Model that was asked, when the server answers with another name. */
  readonly asked?: string;
  readonly usage: Usage;
  readonly stopReason: string | null;
}
