/** A fan-out: the same work on many files, done by several runs side by side. Its parts, its journal, its report. */
import type {Outcome} from './results.ts';

export const FAN_OUT_MODES = ['ask', 'auto', 'off'] as const;
/** Whether a prompt about many files is split: after a preview, at once, never. */
export type FanOutMode = (typeof FAN_OUT_MODES)[number];

/** The only files that an agent may write, in every mode: absolute, with links resolved. */
export interface WriteScope {
  readonly files: readonly string[];
  /** Those of them that a person allowed: no question comes about them. */
  readonly allowed: readonly string[];
}

/** What is to be done. */
export interface FanOutRequest {
  readonly instruction: string;
  /** Paths or patterns, relative to the workspace. Default: those that the instruction means. */
  readonly files?: readonly string[];
  /** Of the parts. Default: as the settings say. */
  readonly tools?: readonly string[];
  /** Seconds for each part, 0 = no limit. Default: by its number of files. */
  readonly timeoutSeconds?: number;
}

/** A change that a part needs outside of its files. */
export interface OutsideRequest {
  readonly path: string;
  readonly change: string;
}

/** The object `subagentResults` of the JSON result. */
export interface SubagentResults {
  readonly total: number;
  readonly successful: number;
  readonly failed: number;
  readonly filesModified: number;
}

export interface FanOutPart {
  /** Paths relative to the workspace. */
  readonly files: readonly string[];
  /** Absent until it is dispatched. */
  readonly runId?: string;
  /** Absent until it ends. */
  readonly outcome?: Outcome;
  /** Why it did not succeed. */
  readonly reason?: string;
}

/** One place of a file where a part replaces a name, decided for all files before any is changed. From 1 on. */
export interface PlannedEdit {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly newText: string;
}

export interface FanOutReport {
  readonly id: string;
  readonly instruction: string;
  readonly parts: readonly FanOutPart[];
  /** `fan-out: 3 agents · 3 ok · …` */
  readonly line: string;
  /** The line, and what else is to be said. */
  readonly text: string;
  readonly results: SubagentResults;
  /** Absolute paths of the files that are different now. */
  readonly changed: readonly string[];
}

/** A fan-out as its journal describes it. */
export interface StoredFanOut {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly instruction: string;
  readonly parts: readonly FanOutPart[];
  readonly tools: readonly string[];
  /** Absent: the parts decide by themselves what to change. */
  readonly edits?: readonly PlannedEdit[];
  /** A person allowed the parts to write their files. */
  readonly allowed: boolean;
  /** Ids of all agents that worked for it, also of those that verified. */
  readonly agents: readonly string[];
  readonly outside: readonly OutsideRequest[];
  /** Its parts that were done before are those of this fan-out, of an earlier session. */
  readonly continues?: FanOutName;
  /** Absent while it is at work, and for one that was cut off. */
  readonly report?: Pick<FanOutReport, 'line' | 'text' | 'results'>;
  readonly undone: boolean;
  /** Another session has continued it. */
  readonly continued: boolean;
}

export interface FanOutName {
  readonly session: string;
  readonly id: string;
}

export type FanOutLine = {readonly id: string} & (
  | ({readonly type: 'plan'; readonly version: number} & Pick<
      StoredFanOut,
      'at' | 'instruction' | 'tools' | 'edits' | 'allowed'
    > & {
        readonly parts: readonly FanOutPart[];
        readonly continues?: FanOutName;
      })
  | {readonly type: 'part'; readonly part: number; readonly runId: string}
  | {
      readonly type: 'part_end';
      readonly part: number;
      readonly outcome: Outcome;
      readonly reason?: string;
      readonly outside: readonly OutsideRequest[];
    }
  | {readonly type: 'agent'; readonly agentId: string}
  | {readonly type: 'end'; readonly report: NonNullable<StoredFanOut['report']>}
  | {readonly type: 'undone' | 'continued'}
);

/** The journals of fan-outs; `storage/` implements it. */
export interface FanOutJournal {
  /** The lines of the session that is open, and of another one. */
  read(session?: string): readonly FanOutLine[];
  /** On the disk when it returns. @throws the error of the file system */
  append(line: FanOutLine, session?: string): void;
  /** Sessions of this directory that are not open, the newest first, which have a journal. */
  earlierSessions(): readonly string[];
}
