/** Defines the content of the screen as data. `store.ts` makes it from events, and components draw it. */
import type {AgentEventBody, Question, SessionInfo, TextLook} from '../../core/contract/events.ts';
import type {Usage} from '../../core/contract/model.ts';
import type {Outcome, Todo, ToolDisplay} from '../../core/contract/results.ts';
import type {ProgressState} from '../../core/runs/progress-line.ts';
import {type AnswerStream, EMPTY_STREAM} from '../text/answer-stream.ts';
import type {Line, LinePlace} from '../text/lines.ts';
import type {RunTail} from './run-tail.ts';

/** One finished item. It is printed once, and all its text is safe for the screen. */
export type FinishedItem = {readonly id: number; readonly gap: boolean} & FinishedBody;

export type FinishedBody =
  | {readonly kind: 'prompt'; readonly text: string}
  /** Markdown that is printed from a place in its lines on. `isCut` is true when the end of the text is missing. */
  | {readonly kind: 'markdown'; readonly text: string; readonly from: LinePlace; readonly isCut?: true}
  /** A part of an answer that was formatted while it grew. */
  | {readonly kind: 'lines'; readonly lines: readonly Line[]}
  /** The beginning of the model's thinking. */
  | {readonly kind: 'thinking'; readonly text: string}
  | {readonly kind: 'tool'; readonly tool: FinishedTool}
  /** Runs that have ended. Each is shown as one line with its receipt. */
  | {readonly kind: 'subagents'; readonly runs: readonly SubagentRun[]}
  | {readonly kind: 'announcement'; readonly announcement: AnnouncementItem}
  | {readonly kind: 'notice'; readonly level: NoticeLevel; readonly text: string; readonly look?: TextLook}
  | {readonly kind: 'detail'; readonly question: Question}
  /** How long a turn took, or how a question was answered. */
  | {readonly kind: 'remark'; readonly text: string}
  /** An item that was printed and whose text was freed. */
  | {readonly kind: 'printed'};

export type NoticeLevel = 'info' | 'warning' | 'error';

export interface FinishedTool {
  readonly call: string;
  /** The file that the call is about. */
  readonly path?: string | undefined;
  /** True for a tool that runs commands. */
  readonly isCommand: boolean;
  /** The model's description of the call; empty when there is none. */
  readonly description: string;
  readonly isError: boolean;
  /** A short result, e.g. `120 lines` or `exit code 1`; may be empty. */
  readonly summary: string;
  readonly preview: string;
  /** True when `preview` is the end of the result. */
  readonly isEnd: boolean;
  /** Number of lines of the whole result; undefined when they were not counted. */
  readonly lines: number | undefined;
  readonly display?: ToolDisplay;
  /** Path of the file with the whole output, when the model reads only a part of it. */
  readonly outputFile?: string;
  readonly durationMs: number;
  /** True when the diff was printed with the question about the call. */
  readonly isDiffPrinted?: true;
}

export interface RunningTool {
  /** True when the user typed the command. It then does not end with the turn. */
  readonly byUser?: true;
  /** True for a command, which Ctrl+B sends to the background. */
  readonly isCommand?: true;
  readonly callId: string;
  /** The call as people read it, e.g. `Read src/a.ts` or `Bash(npm test)`. */
  readonly call: string;
  /** The file that the call is about. */
  readonly path?: string | undefined;
  readonly description: string;
  /** Milliseconds since the epoch when it was called, or when a person allowed it. */
  readonly since: number;
  /** The end of the output so far. */
  readonly progress: string;
}

/** The end of a background run, as the person reads it. */
export interface AnnouncementItem {
  readonly runId: string;
  readonly agent: string;
  /** Number of the run, which gives its colour. */
  readonly color: number;
  readonly state: Outcome;
  /** The first line, e.g. `[explore] look around - done (8 tools, 5.1s)`. */
  readonly header: string;
  readonly receipt: readonly string[];
  /** The beginning of the result, as markdown, or the end of what a command printed. */
  readonly text: string;
  readonly isEnd?: boolean;
  /** Number of rows of the result that are not shown. */
  readonly more: number;
}

/** The run of one subagent, until it is printed or announced. */
export interface SubagentRun extends ProgressState {
  readonly agentId: string;
  readonly callId: string | undefined;
  /** Number of the run in the session, from 0. It gives the colour. */
  readonly color: number;
  /** Milliseconds since the epoch when the run began to work. */
  readonly startedAt: number;
  readonly reason: string;
  /** Parts of the receipt of an ended run, which the runtime counted. */
  readonly receipt: readonly string[];
  /** A short note on the current state, e.g. `retrying in 4s (429), attempt 2`. */
  readonly note: string;
  /** True for a command, which is a run without an agent. */
  readonly isCommand?: boolean;
  /** The last lines that an ended command printed. */
  readonly output?: string;
  /** True when no turn waits for the run. It then has a row in the panel, and its end is announced. */
  readonly isBackground: boolean;
  /** True when its answer was `ANNOUNCE_SKIP`. Its end is then not announced. */
  readonly isSilent: boolean;
  /** Tokens of input, cached ones counted, and of output. */
  readonly tokens: number;
  /** The newest tool call, e.g. `grep "foo"`. */
  readonly lastTool: string;
  /** Milliseconds since the epoch of the last event. */
  readonly lastAt: number;
  readonly tail: RunTail;
}

/** A retry of a model call. `until` is in milliseconds since the epoch. */
type LiveRetry = Extract<AgentEventBody, {type: 'retry'}> & {readonly until: number};

interface QueuedPrompt {
  readonly id: string;
  readonly text: string;
}

export interface UiState {
  /** Items are only appended, because Ink prints each item once. */
  readonly finished: readonly FinishedItem[];
  readonly session: SessionInfo | undefined;
  /** True while a turn of the main agent runs. */
  readonly busy: boolean;
  /** Milliseconds since the epoch when the turn began. */
  readonly busySince: number;
  /** Tokens of the turn so far, in and out. */
  readonly turnTokens: number;
  /** The retry of a failed model call, which is a live line until the model answers. */
  readonly retry: LiveRetry | undefined;
  readonly stream: AnswerStream;
  /** Items that are printed as soon as they can stand between two blocks of the answer. */
  readonly waiting: readonly FinishedBody[];
  /** The parts of the current message that came as deltas. The whole message does not repeat them. */
  readonly reply: {readonly thinking: string; readonly text: string};
  /** The end of `reply.thinking` that no printed line shows yet; empty when the model does not think. */
  readonly thought: string;
  /** Number of messages of the main agent's conversation that have arrived. */
  readonly messages: number;
  readonly tools: readonly RunningTool[];
  /** Runs in order of dispatch. */
  readonly subagents: readonly SubagentRun[];
  /** Number of runs that have begun. */
  readonly runCount: number;
  readonly openedRun: string | undefined;
  /** The opened run when it was removed from `subagents`. It stays on the screen until the person closes it. */
  readonly removedRun: SubagentRun | undefined;
  /** Ids of running Task calls that dispatched a run. The line of the run is shown instead of the call's. */
  readonly dispatched: readonly string[];
  readonly questions: readonly Question[];
  /** Ids of calls whose diff was printed with their question. It is not printed again. */
  readonly printedDiffs: readonly string[];
  readonly queued: readonly QueuedPrompt[];
  readonly todos: readonly Todo[];
  readonly context: ContextState;
  /** Tokens and cost of the session since it was started or resumed; undefined when there are none yet. */
  readonly cost: Usage | undefined;
  /** The part of it that earlier processes used for the conversation that continues. */
  readonly costBefore: Usage | undefined;
  /** True when a turn has run, so that the session can be resumed. */
  readonly hasRun: boolean;
}

/** How full the context window of the main agent is. */
export interface ContextState {
  /** Used tokens; 0 when nothing was sent yet. */
  readonly tokens: number;
  /** Tokens that a request may have; absent when unknown. */
  readonly limit?: number;
}

export const NO_CONTEXT: ContextState = {tokens: 0};

export const NO_REPLY: UiState['reply'] = {thinking: '', text: ''};

export const INITIAL_STATE: UiState = {
  finished: [],
  session: undefined,
  busy: false,
  busySince: 0,
  turnTokens: 0,
  retry: undefined,
  stream: EMPTY_STREAM,
  waiting: [],
  reply: NO_REPLY,
  thought: '',
  messages: 0,
  tools: [],
  subagents: [],
  runCount: 0,
  openedRun: undefined,
  removedRun: undefined,
  dispatched: [],
  questions: [],
  printedDiffs: [],
  queued: [],
  todos: [],
  context: NO_CONTEXT,
  cost: undefined,
  costBefore: undefined,
  hasRun: false,
};
