/** The types of evaluations: cases as their files have them, trials as they are stored, and the result for scripts. */
import type {Outcome} from '../core/contract/results.ts';

export interface TextTest {
  readonly contains?: string | undefined;
  /** A JavaScript expression. */
  readonly matches?: string | undefined;
  readonly lacks?: string | undefined;
}

export type Limit = 'turns' | 'tokens' | 'usd' | 'seconds';

/** A check of a case. The key that all checks have one of says its kind. */
export type Check =
  | {readonly outcome: Outcome}
  | {readonly answer: TextTest}
  | {readonly cites: string}
  | {readonly citations: 'all'}
  | {readonly command: string; readonly exit?: number | undefined}
  | {readonly changed: readonly string[]}
  | {readonly unchanged: readonly string[]}
  | {readonly file: TextTest & {readonly path: string; readonly exists?: boolean | undefined}}
  | {readonly reads: readonly string[]}
  | {readonly calls: Readonly<Record<string, {readonly min?: number | undefined; readonly max?: number | undefined}>>}
  | {readonly schema: Readonly<Record<string, unknown>>}
  | {readonly max: {readonly [Key in Limit]?: number | undefined}};

/** A file of a case. Its content is read once, before the first trial. */
export interface CaseFile {
  /** Path in the workspace of the trial. */
  readonly to: string;
  readonly content: Buffer;
}

export interface EvalCase {
  readonly id: string | number;
  readonly prompt: string;
  readonly expectedOutput?: string | undefined;
  readonly files: readonly CaseFile[];
  readonly commit?: string | undefined;
  readonly patch?: Buffer | undefined;
  /** Ignored folders of the workspace that a trial sees. */
  readonly link: readonly string[];
  readonly setup: readonly string[];
  readonly checks: readonly Check[];
  /** Sentences for a judge. */
  readonly assertions: readonly string[];
}

/** The cases of one agent or skill. */
export interface CaseSet {
  /** Absolute path of the file, for messages and for trust. */
  readonly file: string;
  readonly cases: readonly EvalCase[];
}

/** How a command of a case ended. */
export interface CommandRun {
  readonly command: string;
  /** Absent when the command was refused, cut off, or did not start. */
  readonly exitCode?: number | undefined;
  /** Last part of its output, or the reason why it was not run. */
  readonly output: string;
}

/** A file that differs from the start of the trial. */
export interface ChangedFile {
  readonly path: string;
  /** Content in base64; absent for a file that was deleted, is no regular file, or is too large to be kept. */
  readonly content?: string | undefined;
  readonly kind: 'file' | 'deleted' | 'other';
  readonly mode?: number | undefined;
  /** Whether only the commands of `setup` changed it. */
  readonly bySetup: boolean;
}

/** What the runtime saw of a trial. Checks judge it, at once or later. */
export interface TrialRecord {
  readonly outcome: Outcome | 'not run';
  /** Why it did not succeed. */
  readonly reason: string;
  readonly answer: string;
  readonly run: string;
  readonly transcript: string;
  readonly turns: number;
  readonly tokens: number;
  /** Absent when no price is known. */
  readonly usd?: number | undefined;
  readonly durationMs: number;
  /** Calls in their order. Paths are relative to the workspace. */
  readonly calls: readonly {readonly tool: string; readonly read: readonly string[]}[];
  readonly changed: readonly ChangedFile[];
  /** How the commands of its checks ended. */
  readonly commands: readonly CommandRun[];
}

/** The verdict of a replay in which nothing changed. */
export const SAME = 'same';

/** What the replay of a trial showed. */
export interface Replay {
  readonly verdict: typeof SAME | `differs at turn ${string}`;
  /** The first line that differs, as it was recorded and as it is now. */
  readonly recorded?: string | undefined;
  readonly now?: string | undefined;
}
