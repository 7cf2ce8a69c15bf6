/**
 * Progress goes one way: core emits, front ends listen. Events are plain JSON, flat, tagged by agent.
 * What must last is in the transcript before it is emitted. Nothing waits for a listener.
 */

import type {AssistantBlock, StreamEvent, Usage, UserBlock} from './model.ts';
import type {Outcome, ToolDisplay} from './results.ts';
import type {RunState} from './runs.ts';
import type {Announcement, RestoredMessage} from './transcript.ts';

export interface EventBase {
  readonly agentId: string;
  /** The agent that dispatched this one; absent for the main agent. */
  readonly parent?: string;
  /** Counts up over the whole session. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface RunStart {
  readonly type: 'run_start';
  /** Agent name: `main`, `explore`, … */
  readonly agent: string;
  readonly description: string;
  /** The Task call that dispatched it, if a model did. */
  readonly callId?: string;
  readonly model: string;
  /** True while it waits for a free slot; `run_active` follows. */
  readonly queued: boolean;
  /** It runs in the background; its end is announced. */
  readonly background?: boolean;
  readonly label?: string;
  /** Above 1 for a run that goes on after its end: the same agentId starts again. */
  readonly round?: number;
}

export type AgentEventBody =
  | RunStart
  | {readonly type: 'run_active'}
  /** Each change of a subagent's state; `removed` when its transcript is archived. */
  | {readonly type: 'run_state'; readonly state: RunState}
  /** It was sent to the background while it was at work. */
  | {readonly type: 'run_background'}
  /** Of the main agent: how a background run ended. Its message is in the history by then, or waits for the next prompt. */
  | ({readonly type: 'announcement'} & Announcement)
  | {readonly type: 'text_delta'; readonly text: string}
  | {readonly type: 'thinking_delta'; readonly text: string}
  | {readonly type: 'stream'; readonly event: StreamEvent}
  | {
      readonly type: 'message';
      readonly role: 'assistant';
      readonly id: string;
      readonly content: readonly AssistantBlock[];
      readonly model: string;
      readonly usage: Usage;
      readonly stopReason: string | null;
    }
  | {readonly type: 'message'; readonly role: 'user'; readonly content: string | readonly UserBlock[]}
  | {readonly type: 'tool_start'; readonly callId: string; readonly tool: string; readonly title: string}
  | {readonly type: 'tool_progress'; readonly callId: string; readonly text: string}
  | {
      readonly type: 'tool_end';
      readonly callId: string;
      readonly tool: string;
      readonly isError: boolean;
      /** The result's text, at most 2,000 characters: enough for a few lines on the screen. */
      readonly preview: string;
      readonly display?: ToolDisplay;
      readonly durationMs: number;
    }
  | {readonly type: 'ask'; readonly question: Question}
  | {readonly type: 'ask_end'; readonly askId: string; readonly answer: string}
  | {readonly type: 'queued_prompt'; readonly id: string; readonly text: string}
  | {readonly type: 'queued_prompt_delivered'; readonly id: string}
  /** The person took it back: a front end has its content by the answer to `take_back`. */
  | {readonly type: 'queued_prompt_taken_back'; readonly id: string}
  /** It was stopped before it was taken up; `text` is what was lost. */
  | {readonly type: 'queued_prompt_dropped'; readonly id: string; readonly text: string}
  | {
      readonly type: 'notice';
      readonly level: 'info' | 'warning' | 'error';
      readonly text: string;
      /** The text is a unified diff, with lines around it. */
      readonly isDiff?: boolean;
    }
  | {readonly type: 'retry'; readonly waitMs: number; readonly reason: string; readonly attempt: number}
  | {readonly type: 'session'; readonly info: SessionInfo}
  | {readonly type: 'cleared'}
  /** The conversation is as it was before an earlier prompt. */
  | {readonly type: 'rewound'}
  | {
      readonly type: 'run_end';
      readonly outcome: Outcome;
      /** Why, in a few words, where the outcome is no success. */
      readonly reason?: string;
      readonly tools: number;
      readonly durationMs: number;
      readonly usage: Usage;
    };

export type AgentEvent = EventBase & AgentEventBody;

/** Emits for one agent: the session adds who, when and the count. */
export type Emit = (event: AgentEventBody) => void;

/** Gives each agent its `Emit`; the session's event bus is one. */
export interface Emitters {
  /** @param parent the agent that dispatched this one */
  emitFor(agentId: string, parent?: string): Emit;
}

/** A question to the person. The digit chooses; nothing is chosen beforehand. */
export interface Question {
  readonly id: string;
  /** Who asks: `main`, `[explore] look around`, or `mini-cc` for a command. */
  readonly agent: string;
  /** What it wants to do or know, in one line. */
  readonly title: string;
  /** The whole command or diff. */
  readonly detail: string;
  readonly detailType: 'command' | 'diff' | 'text';
  /** None: a line of text is asked for, and comes as the answer's `note`. */
  readonly options: readonly QuestionOption[];
  /** What Esc means. */
  readonly escape: string;
  /** What Enter means while nothing is marked; without it, nothing. */
  readonly enter?: string;
  /** Instead of a question: the front end opens `$EDITOR` on this file and answers `text` when it was left. */
  readonly editor?: {readonly file: string};
}

export interface QuestionOption {
  readonly digit: number;
  readonly choice: string;
  readonly label: string;
  /** A word may go with it. */
  readonly takesNote?: boolean;
}

export interface Answer {
  /** One of the options, `escape`, or `text` where a line was asked for. */
  readonly choice: string;
  readonly note?: string;
  /** Of a question about a tool call: the input that the call is to have instead. It is decided anew, once. */
  readonly input?: unknown;
  /** Of the choice `always`: the rule to keep, instead of the one that the question named. */
  readonly rule?: string;
}

/** What a front end shows of a session, and print mode's `init` object. */
export interface SessionInfo {
  readonly sessionId: string;
  readonly cwd: string;
  readonly model: string;
  readonly offline: boolean;
  readonly permissionMode: PermissionMode;
  readonly tools: readonly string[];
  readonly agents: readonly string[];
  readonly commands: readonly {readonly name: string; readonly description: string}[];
  readonly transcript: string;
  /** One line each, for the user: settings that were ignored and the like. */
  readonly warnings: readonly string[];
  /** What was said before, of a session that goes on. */
  readonly restored: readonly RestoredMessage[];
  /** Descriptions of that session's runs, by their ids: announcements of earlier versions have none. */
  readonly runDescriptions: Readonly<Record<string, string>>;
}

export type PermissionMode = 'default' | 'acceptEdits' | 'plan' | 'bypassPermissions';
export const PERMISSION_MODES: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan', 'bypassPermissions'];
