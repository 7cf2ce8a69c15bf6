/** What a tool returns, and where outputs too long for a model are kept. */
import type {ToolResultBlock} from './messages.ts';

export interface ToolResult {
  readonly content: ToolResultBlock['content'];
  readonly isError?: boolean;
  /** What a person sees beside the tool's line; the model never reads it. */
  readonly display?: ToolDisplay;
  /** The sandbox kept a command from doing something: another attempt, with less confinement, may succeed. */
  readonly confinementHit?: boolean;
  /** What the runtime knows for the receipt. */
  readonly facts?: ToolFacts;
}

export type ToolDisplay =
  | {readonly type: 'diff'; readonly path: string; readonly patch: string}
  | {readonly type: 'todos'; readonly todos: readonly Todo[]}
  | {readonly type: 'text'; readonly text: string};

export interface ToolFacts {
  readonly read?: readonly string[];
  readonly changed?: readonly string[];
  /** Those of them that another agent may have changed. */
  readonly shared?: readonly string[];
  /** Why the files that it changed are not in `changed`. */
  readonly uncounted?: string;
  readonly exitCode?: number;
}

export interface Todo {
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
}

/** Keeps whole outputs; `storage/` puts them beside the transcript. */
export interface OutputStore {
  /** Opens the file for this call. The same call id gives the same path. */
  open(callId: string): OutputFile;
}

export interface OutputFile {
  readonly path: string;
  write(chunk: string): void;
  close(): void;
}
