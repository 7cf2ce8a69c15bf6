/** Types of a fan-out: the same work on many files, done by several runs side by side. */
import type {Outcome} from './results.ts';

export const FAN_OUT_MODES = ['ask', 'auto', 'off'] as const;
/** Whether mini-cc splits a prompt about many files: after a preview, at once, or never. */
export type FanOutMode = (typeof FAN_OUT_MODES)[number];

export const SPLITS = ['ceil', 'balanced'] as const;
/** `ceil`: all parts but the last have the same size. `balanced`: sizes differ by at most one. */
export type Split = (typeof SPLITS)[number];

/** The only files that an agent may write, in every mode. Paths are absolute, with links resolved. */
export interface WriteScope {
  readonly files: readonly string[];
  /** Files of `files` that a person allowed. The agent writes them without a question. */
  readonly allowed: readonly string[];
}

export interface FanOutRequest {
  readonly instruction: string;
  /** Paths or patterns, relative to the workspace. Default: the files that the instruction means. */
  readonly files?: readonly string[];
  /** Tools of the parts. Default: the tools that the settings name. */
  readonly tools?: readonly string[];
  /** Seconds for each part; 0 means no limit. Default: it depends on the number of files. */
  readonly timeoutSeconds?: number;
}

/** A change that a part needs outside its files. */
export interface OutsideRequest {
  readonly path: string;
  readonly change: string;
}

/** Object `subagentResults` of the JSON result. */
export interface SubagentResults {
  readonly total: number;
  readonly successful: number;
  readonly failed: number;
  readonly filesModified: number;
}

export interface FanOutPart {
  /** Paths relative to the workspace. */
  readonly files: readonly string[];
  /** Absent until the part is dispatched. */
  readonly runId?: string;
  /** Absent until the part ends. */
  readonly outcome?: Outcome;
  readonly reason?: string;
}

/**
 * One place of a file where a part replaces a name. All edits are planned before any file is changed. Lines and columns
 * count from 1.
 */
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
  /** For example `fan-out: 3 agents · 3 ok · …`. */
  readonly line: string;
  /** `line` and all other lines of the report. */
  readonly text: string;
  readonly results: SubagentResults;
  /** Absolute paths of the files that differ from before the fan-out. */
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
  /** Absent when the parts decide themselves what to change. */
  readonly edits?: readonly PlannedEdit[];
  /** True when a person allowed the parts to write their files. */
  readonly allowed: boolean;
  /** Ids of all agents that worked for the fan-out, including those that verified. */
  readonly agents: readonly string[];
  readonly outside: readonly OutsideRequest[];
  /** The fan-out of an earlier session that this one continues. The parts that it finished are not in this one. */
  readonly continues?: FanOutName;
  /** Absent while the fan-out is at work, and when it was cut off. */
  readonly report?: Pick<FanOutReport, 'line' | 'text' | 'results'>;
  readonly undone: boolean;
  /** True when another session has continued the fan-out. */
  readonly continued: boolean;
}

export interface FanOutName {
  readonly session: string;
  readonly id: string;
}

export type FanOutLine = {readonly id: string} & (
  | ({readonly type: 'plan'; readonly version: number} & Pick<
      StoredFanOut,
      'at' | 'instruction' | 'parts' | 'tools' | 'edits' | 'allowed' | 'continues'
    >)
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

/** Journals of fan-outs. `storage/` implements it. */
export interface FanOutJournal {
  /** @param session id of another session. Default: the open one. */
  read(session?: string): readonly FanOutLine[];
  /** The line is on disk when this returns. @throws the error of the file system */
  append(line: FanOutLine, session?: string): void;
  /** Ids of this directory's sessions that are not open and have a journal, newest first. */
  earlierSessions(): readonly string[];
}
