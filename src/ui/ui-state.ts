/** What the screen shows, as data. `store.ts` makes it from events; components draw it. */
import type {PermissionMode, Question, SessionInfo} from '../core/events.ts';
import type {ProgressState} from '../core/progress-line.ts';
import type {Todo, ToolDisplay} from '../core/tool.ts';
import {EMPTY_STREAM, type StreamState} from './stream-blocks.ts';

/** One finished thing. It is printed once and never again; all its text is safe for the screen. */
export type FinishedItem = {readonly id: number; readonly gap: boolean} & FinishedBody;

export type FinishedBody =
  | {readonly kind: 'prompt'; readonly text: string}
  | {readonly kind: 'markdown'; readonly text: string; readonly indent: number}
  | {readonly kind: 'tool'; readonly tool: FinishedTool}
  | {readonly kind: 'subagents'; readonly title: string; readonly runs: readonly ProgressState[]}
  | {readonly kind: 'notice'; readonly level: NoticeLevel; readonly text: string}
  | {readonly kind: 'detail'; readonly question: Question}
  /** Was printed: its text needn't be kept. */
  | {readonly kind: 'printed'};

export type NoticeLevel = 'info' | 'warning' | 'error';

export interface FinishedTool {
  readonly tool: string;
  readonly title: string;
  readonly isError: boolean;
  readonly preview: string;
  readonly display?: ToolDisplay;
}

export interface RunningTool {
  readonly callId: string;
  readonly tool: string;
  readonly title: string;
  /** The end of what it printed so far. */
  readonly progress: string;
}

/** One subagent's line. */
export interface SubagentRun {
  readonly agentId: string;
  readonly callId: string | undefined;
  readonly agent: string;
  readonly description: string;
  readonly state: ProgressState['state'];
  readonly tools: number;
  /** When it began to work, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Of an ended run. */
  readonly durationMs: number;
  readonly reason: string;
  /** What it waits for just now, e.g. `retrying in 4s (429)`. */
  readonly note: string;
}

export interface QueuedPrompt {
  readonly id: string;
  readonly text: string;
}

export interface UiState {
  /** Append-only: Ink prints each once. */
  readonly finished: readonly FinishedItem[];
  readonly session: SessionInfo | undefined;
  /** The main agent is at work. */
  readonly busy: boolean;
  /** When its turn began, in milliseconds since the epoch. */
  readonly busySince: number;
  readonly stream: StreamState;
  /** Text of the message under way came by deltas, so that the whole message brings nothing new. */
  readonly hasStreamed: boolean;
  readonly tools: readonly RunningTool[];
  readonly subagents: readonly SubagentRun[];
  /** Task calls under way that have dispatched a run: its line stands for the call. */
  readonly dispatched: readonly string[];
  readonly questions: readonly Question[];
  readonly queued: readonly QueuedPrompt[];
  readonly todos: readonly Todo[];
  /** Tokens in the main agent's window, as the last message counted them. */
  readonly contextTokens: number;
  /** True when a turn was run: there is something to resume. */
  readonly hasRun: boolean;
}

export const INITIAL_STATE: UiState = {
  finished: [],
  session: undefined,
  busy: false,
  busySince: 0,
  stream: EMPTY_STREAM,
  hasStreamed: false,
  tools: [],
  subagents: [],
  dispatched: [],
  questions: [],
  queued: [],
  todos: [],
  contextTokens: 0,
  hasRun: false,
};

export function modeOf(state: UiState): PermissionMode | undefined {
  return state.session?.permissionMode;
}
