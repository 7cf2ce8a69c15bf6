/** What the screen shows, as data. `store.ts` makes it from events; components draw it. */
import type {PermissionMode, Question, SessionInfo} from '../../core/contract/events.ts';
import type {Outcome} from '../../core/contract/run-result.ts';
import type {Todo, ToolDisplay} from '../../core/contract/tool-result.ts';
import type {ProgressState} from '../../core/runs/progress-line.ts';
import {EMPTY_STREAM, type StreamState} from '../text/stream-blocks.ts';
import type {RunTail} from './run-tail.ts';

/** One finished thing. It is printed once and never again; all its text is safe for the screen. */
export type FinishedItem = {readonly id: number; readonly gap: boolean} & FinishedBody;

export type FinishedBody =
  | {readonly kind: 'prompt'; readonly text: string}
  | {readonly kind: 'markdown'; readonly text: string; readonly indent: number}
  | {readonly kind: 'tool'; readonly tool: FinishedTool}
  | {readonly kind: 'subagents'; readonly runs: readonly ProgressState[]}
  | {readonly kind: 'announcement'; readonly announcement: Announcement}
  | {readonly kind: 'notice'; readonly level: NoticeLevel; readonly text: string; readonly isDiff?: boolean}
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

/** How a background run ended, as the person reads it. */
export interface Announcement {
  readonly runId: string;
  readonly agent: string;
  readonly state: Outcome;
  /** `[explore] look around - done (8 tools, 5.1s)` */
  readonly header: string;
  /** The beginning of what it found, as markdown. */
  readonly text: string;
  /** How many lines of it are not shown. */
  readonly more: number;
  /** What went wrong; empty when nothing did. */
  readonly notes: string;
}

/** One subagent's run, until it is printed or announced. */
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
  /** Nobody awaits it: it has a row of the panel instead of a line, and its end is announced. */
  readonly isBackground: boolean;
  /** Its end is not to be announced: it said so itself. */
  readonly isSilent: boolean;
  /** Both ways, with what was cached. */
  readonly tokens: number;
  /** Its newest tool call, e.g. `grep "foo"`. */
  readonly lastTool: string;
  /** When it was last heard of, in milliseconds since the epoch. */
  readonly lastAt: number;
  readonly tail: RunTail;
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
  /** In order of dispatch. */
  readonly subagents: readonly SubagentRun[];
  /** The run whose transcript is looked at. */
  readonly openedRun: string | undefined;
  /** That run, when it has left `subagents`: what it did stays on the screen until the person leaves it. */
  readonly departed: SubagentRun | undefined;
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
  openedRun: undefined,
  departed: undefined,
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
