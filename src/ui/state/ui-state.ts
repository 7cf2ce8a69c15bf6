/** What the screen shows, as data. `store.ts` makes it from events, components draw it. */
import type {AgentEventBody, Question, SessionInfo} from '../../core/contract/events.ts';
import type {Usage} from '../../core/contract/model.ts';
import type {Outcome, Todo, ToolDisplay} from '../../core/contract/results.ts';
import type {ProgressState} from '../../core/runs/progress-line.ts';
import {type AnswerStream, EMPTY_STREAM} from '../text/answer-stream.ts';
import type {Line, LinePlace} from '../text/lines.ts';
import type {RunTail} from './run-tail.ts';

/** One finished item. It is printed once; all its text is safe for the screen. */
export type FinishedItem = {readonly id: number; readonly gap: boolean} & FinishedBody;

export type FinishedBody =
  | {readonly kind: 'prompt'; readonly text: string}
  /** Markdown, from a place in its lines on: what is before is printed. `isCut`: its end is missing. */
  | {readonly kind: 'markdown'; readonly text: string; readonly from: LinePlace; readonly isCut?: true}
  /** A part of an answer, formatted while it grew. */
  | {readonly kind: 'lines'; readonly lines: readonly Line[]}
  /** The beginning of what the model thought. */
  | {readonly kind: 'thinking'; readonly text: string}
  | {readonly kind: 'tool'; readonly tool: FinishedTool}
  | {readonly kind: 'subagents'; readonly runs: readonly EndedRun[]}
  | {readonly kind: 'announcement'; readonly announcement: AnnouncementItem}
  | {readonly kind: 'notice'; readonly level: NoticeLevel; readonly text: string; readonly isDiff?: boolean}
  | {readonly kind: 'detail'; readonly question: Question}
  /** How long a turn took. */
  | {readonly kind: 'time'; readonly text: string}
  /** One line about a question that has ended. */
  | {readonly kind: 'answered'; readonly title: string; readonly answer: string}
  /** Was printed, and its text was freed. */
  | {readonly kind: 'printed'};

export type NoticeLevel = 'info' | 'warning' | 'error';

export interface FinishedTool {
  readonly call: string;
  /** It ran a command. */
  readonly isCommand: boolean;
  /** What the model says it is for; empty when it says nothing. */
  readonly description: string;
  readonly isError: boolean;
  /** `120 lines`, `exit code 1`; empty when there is nothing to say. */
  readonly summary: string;
  readonly preview: string;
  /** `preview` is the end of the result. */
  readonly isEnd: boolean;
  /** How many lines the whole result has; undefined when they were not counted. */
  readonly lines: number | undefined;
  readonly display?: ToolDisplay;
  /** The file with the whole output, where the model reads only a part of it. */
  readonly outputFile?: string;
  readonly durationMs: number;
  /** Its diff was printed with its question. */
  readonly isDiffPrinted?: true;
}

export interface RunningTool {
  /** The user typed it: it does not end with the turn. */
  readonly byUser?: true;
  readonly callId: string;
  /** As people read it: `Read src/a.ts`, `Bash(npm test)`. */
  readonly call: string;
  readonly description: string;
  /** When it was called, or allowed by a person. Milliseconds since the epoch. */
  readonly since: number;
  /** The end of its output so far. */
  readonly progress: string;
}

/** A run that has ended: one line, with its receipt. */
export interface EndedRun extends ProgressState {
  readonly color: number;
  /** What it did, in parts, as the runtime saw it. */
  readonly receipt: readonly string[];
}

/** How a background run ended, as the person reads it. */
export interface AnnouncementItem {
  readonly runId: string;
  readonly agent: string;
  /** The number of the run, which gives its colour. */
  readonly color: number;
  readonly state: Outcome;
  /** `[explore] look around - done (8 tools, 5.1s)` */
  readonly header: string;
  readonly receipt: readonly string[];
  /** The beginning of its result, as markdown. */
  readonly text: string;
  /** How many lines of the result are not shown. */
  readonly more: number;
}

/** One subagent's run, until it is printed or announced. */
export interface SubagentRun {
  readonly agentId: string;
  readonly callId: string | undefined;
  readonly agent: string;
  /** The worker that has it, of a run on another machine. */
  readonly worker?: string | undefined;
  /** Its number in the session, from 0: it gives the colour. */
  readonly color: number;
  readonly description: string;
  readonly state: ProgressState['state'];
  readonly tools: number;
  /** When it began its work, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Of an ended run. */
  readonly durationMs: number;
  readonly reason: string;
  /** Of an ended run: what it did, in parts, as the runtime saw it. */
  readonly receipt: readonly string[];
  /** What it waits for now, e.g. `retrying in 4s (429), attempt 2`. */
  readonly note: string;
  /** No turn waits for it: it has a row in the panel, and its end is announced. */
  readonly isBackground: boolean;
  /** Its answer was `ANNOUNCE_SKIP`: its end is not announced. */
  readonly isSilent: boolean;
  /** Input with cached tokens, and output. */
  readonly tokens: number;
  /** Its newest tool call, e.g. `grep "foo"`. */
  readonly lastTool: string;
  /** The time of its last event, in milliseconds since the epoch. */
  readonly lastAt: number;
  readonly tail: RunTail;
}

/** Its time is in milliseconds since the epoch. */
type LiveRetry = Omit<Extract<AgentEventBody, {type: 'retry'}>, 'type' | 'waitMs'> & {readonly until: number};

interface QueuedPrompt {
  readonly id: string;
  readonly text: string;
}

export interface UiState {
  /** Append-only: Ink prints each item once. */
  readonly finished: readonly FinishedItem[];
  readonly session: SessionInfo | undefined;
  /** A turn of the main agent is under way. */
  readonly busy: boolean;
  /** When its turn began, in milliseconds since the epoch. */
  readonly busySince: number;
  /** Tokens of its turn so far, in and out. */
  readonly turnTokens: number;
  /** A model call that failed is tried again: a live line, until the model answers. */
  readonly retry: LiveRetry | undefined;
  readonly stream: AnswerStream;
  /** What is printed as soon as no block of the answer is in the way. */
  readonly waiting: readonly FinishedBody[];
  /** Since when something waits. Monotonic, in milliseconds. */
  readonly waitingSince: number | undefined;
  /** What came by deltas of the message that the model is writing: the whole message brings nothing new of it. */
  readonly reply: {readonly thinking: string; readonly text: string};
  /** The end of `reply.thinking` that has no printed line yet; empty when the model does not think. */
  readonly thought: string;
  /** How many messages of the main agent's conversation have come. */
  readonly messages: number;
  readonly tools: readonly RunningTool[];
  /** In order of dispatch. */
  readonly subagents: readonly SubagentRun[];
  /** How many runs have begun. */
  readonly runCount: number;
  /** Id of the run whose transcript is shown. */
  readonly openedRun: string | undefined;
  /** The opened run, when it was removed from `subagents`: it stays on the screen until the person closes it. */
  readonly removedRun: SubagentRun | undefined;
  /** Task calls under way that have dispatched a run: the run's line is shown instead of the call's. */
  readonly dispatched: readonly string[];
  readonly questions: readonly Question[];
  /** Calls whose diff was printed with their question: it is not printed again. */
  readonly printedDiffs: readonly string[];
  readonly queued: readonly QueuedPrompt[];
  readonly todos: readonly Todo[];
  readonly context: ContextState;
  /** What the session has used since it was started or resumed; undefined: nothing yet. */
  readonly cost: Usage | undefined;
  /** A turn was run: the session can be resumed. */
  readonly hasRun: boolean;
}

/** How full the main agent's window is. */
export interface ContextState {
  /** 0: nothing was sent yet. */
  readonly tokens: number;
  /** What a request may have; absent: not known. */
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
  waitingSince: undefined,
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
  hasRun: false,
};
