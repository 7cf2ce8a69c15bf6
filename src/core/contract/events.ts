/**
 * Events report progress one way: core emits, front ends listen. They are plain JSON, flat, and name their agent. What
 * must last is in the transcript before its event is emitted. Nothing waits for a listener.
 */

import type {AssistantBlock, Retry, StreamEvent, Usage, UserBlock} from './model.ts';
import type {Outcome, ToolDisplay} from './results.ts';
import type {RunSpec} from './run-spec.ts';
import type {RunRecord, RunState} from './runs.ts';
import type {ToolFacts} from './tool-facts.ts';
import type {Announcement, RestoredMessage} from './transcript.ts';

interface EventBase {
  readonly agentId: string;
  /** The agent that dispatched this one; absent for the main agent. */
  readonly parent?: string;
  /** Counts up over the whole session. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

type RunNames = 'agent' | 'description' | 'model';

/** A run begins. Of a subagent's run it carries the whole `RunSpec`, of the main agent's only its names. */
export interface RunStart extends Partial<Omit<RunSpec, RunNames>>, Pick<RunSpec, RunNames> {
  readonly type: 'run_start';
  /** True while it waits for a free slot; `run_active` follows. */
  readonly queued: boolean;
  /** Above 1 when an ended run continues: the same agentId starts again. */
  readonly round?: number;
}

export type AgentEventBody =
  | RunStart
  | {readonly type: 'run_active'}
  /** A subagent's state changed; `removed`: its transcript was archived. */
  | {readonly type: 'run_state'; readonly state: RunState}
  /** The run works at this worker, on another machine. */
  | {readonly type: 'run_place'; readonly worker: string}
  /** What a run does before or after its turns, for its progress line; empty when that is over. */
  | {readonly type: 'run_note'; readonly text: string}
  /** The run was sent to the background while it was at work. */
  /** `count`: how many went there at once, said by the first of them; 0 by the others. */
  | {readonly type: 'run_background'; readonly count: number}
  /** A background run ended. The message for the main agent waits in its inbox. */
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
  | {
      readonly type: 'tool_start';
      readonly callId: string;
      readonly tool: string;
      readonly title: string;
      /** What the call is for, as the model says. */
      readonly description?: string;
      /** A command that the user typed. It belongs to no turn, and its output goes out as a notice. */
      readonly byUser?: true;
    }
  /** The last lines that a running command has printed, as they are now: they take the place of those before. */
  | {readonly type: 'tool_progress'; readonly callId: string; readonly text: string}
  | {
      readonly type: 'tool_end';
      readonly callId: string;
      readonly tool: string;
      readonly isError: boolean;
      /** The result's text, at most 2,000 characters: enough for a few lines on the screen. */
      readonly preview: string;
      /** `preview` is the end of the result; absent: its beginning. */
      readonly previewIsEnd?: true;
      /** What came of the call, in a few words: `120 lines`, `exit code 1`. */
      readonly summary?: string;
      /** How many lines there are in all, also those that the model does not see. Absent: not counted. */
      readonly lines?: number;
      readonly display?: ToolDisplay;
      /** The file that has the whole output, where it was too long for the model. */
      readonly outputFile?: string;
      readonly byUser?: true;
      /** From when it was allowed. */
      readonly durationMs: number;
    }
  | {readonly type: 'ask'; readonly question: Question}
  | {readonly type: 'ask_end'; readonly askId: string; readonly answer: string}
  | {readonly type: 'queued_prompt'; readonly id: string; readonly text: string}
  | {readonly type: 'queued_prompt_delivered'; readonly id: string}
  /** The person took it back. The answer to the request `take_back` has its content. */
  | {readonly type: 'queued_prompt_taken_back'; readonly id: string}
  /** It was removed by a stop before it was delivered. `text` is what it said. */
  | {readonly type: 'queued_prompt_dropped'; readonly id: string; readonly text: string}
  | {
      readonly type: 'notice';
      readonly level: 'info' | 'warning' | 'error';
      readonly text: string;
      /** The text contains a unified diff, with other lines around it. */
      readonly isDiff?: boolean;
    }
  | ({readonly type: 'retry'} & Retry)
  | {readonly type: 'session'; readonly info: SessionInfo}
  /** How full the model's context window is after a reply. `limit`: what a request may have, where it is known. Tokens. */
  | {readonly type: 'context'; readonly tokens: number; readonly limit?: number}
  /** What the session has cost since it was started or resumed. */
  | {readonly type: 'cost'; readonly usage: Usage}
  /** A summary took the place of the older part of the conversation. Tokens of the next request. */
  | {
      readonly type: 'compacted';
      readonly trigger: 'auto' | 'manual';
      readonly preTokens: number;
      readonly postTokens: number;
    }
  | {readonly type: 'cleared'}
  /** Another conversation was opened; `restored` has its end. */
  | {readonly type: 'resumed'; readonly info: SessionInfo}
  /** The conversation was taken back to before an earlier prompt. */
  | {readonly type: 'rewound'}
  | {
      readonly type: 'run_end';
      readonly outcome: Outcome;
      /** Why the run did not succeed, in a few words. */
      readonly reason?: string;
      /** Of a subagent: what it did, as the runtime saw it. */
      readonly receipt?: string;
      readonly tools: number;
      readonly durationMs: number;
      readonly usage: Usage;
      /** Different files. `filesScanned`: those and the ones that searches listed. */
      readonly filesRead?: number;
      readonly filesScanned?: number;
    };

export type AgentEvent = EventBase & AgentEventBody;

/** Emits events of one agent. The session adds `EventBase`. */
export type Emit = (event: AgentEventBody) => void;

/** Creates the `Emit` of each agent. The session's event bus implements it. */
export interface Emitters {
  /** @param parent the agent that dispatched this one */
  emitFor(agentId: string, parent?: string): Emit;
}

/** A question to the person. The person chooses by digit; no option is chosen beforehand. */
export interface Question {
  readonly id: string;
  /** Who asks: `main`, `[explore] look around`, or `mini-cc` for a command. */
  readonly agent: string;
  /** Of the subagent that asks. */
  readonly runId?: string;
  /** What the agent wants to do or know, in one line. */
  readonly title: string;
  /** Why the person is asked, in a few words. */
  readonly because?: string;
  /** The call that waits for the answer. */
  readonly callId?: string;
  /** The whole command or diff. */
  readonly detail: string;
  readonly detailType: 'command' | 'diff' | 'text';
  /** A line for the person, beside the question: how to be asked less. */
  readonly hint?: string;
  /** Empty: the person types a line of text, which is the answer's `note`. */
  readonly options: readonly QuestionOption[];
  /** A list of any length in place of options: the person narrows it by typing, and takes a row by arrows and Enter. */
  readonly list?: readonly ListItem[];
  /** What Esc does, for the person to read. */
  readonly escape: string;
  /** What Enter does while no option is marked, for the person to read. Absent: nothing. */
  readonly enter?: string;
  /** The call that the question is about. */
  readonly call?: {
    readonly callId: string;
    readonly tool: string;
    readonly input: unknown;
    /** The rule that the choice `always` would save. */
    readonly rule?: string;
  };
  /** The front end opens `$EDITOR` on this file instead of asking, and answers `text` when the editor was closed. */
  readonly editor?: {readonly file: string};
}

export interface ListItem {
  readonly choice: string;
  /** Cut where the window is narrow. */
  readonly label: string;
  /** In a few words, beside the label. Typing finds it too. */
  readonly info?: string;
}

export interface QuestionOption {
  readonly digit: number;
  readonly choice: string;
  readonly label: string;
  /** The person may add a text, which is the answer's `note`. */
  readonly takesNote?: boolean;
}

export interface Answer {
  /** The `choice` of an option, `escape`, or `text` for a typed line. */
  readonly choice: string;
  readonly note?: string;
  /** For a question about a tool call: the input that replaces the call's own. The call is then decided anew, once. */
  readonly input?: unknown;
  /** With the choice `always`: the rule to save, in place of the one that the question named. */
  readonly rule?: string;
}

/** What front ends show of a session. Print mode's `init` object is made from it. */
export interface SessionInfo {
  readonly sessionId: string;
  readonly cwd: string;
  readonly model: string;
  readonly offline: boolean;
  readonly permissionMode: PermissionMode;
  /** Absent: `terminal`. */
  readonly theme?: ThemeName;
  /** How a person who looks elsewhere is called. Absent: `bell`. */
  readonly notify?: NotifyKind;
  /** Of git, or the beginning of the commit where there is no branch; absent outside of a repository. */
  readonly branch?: string;
  readonly tools: readonly string[];
  /** What is known of all tools, also of those that this session does not offer. */
  readonly toolFacts: readonly ToolFacts[];
  readonly agents: readonly string[];
  readonly commands: readonly {
    readonly name: string;
    readonly description: string;
    readonly argumentHint?: string;
    readonly isCustom?: boolean;
  }[];
  readonly transcript: string;
  /** One line each, for the user, e.g. about settings that were ignored. */
  readonly warnings: readonly string[];
  /** The last messages of the conversation, when the session was restored. */
  readonly restored: readonly RestoredMessage[];
  /** How many messages came before these. Absent: none. */
  readonly earlierMessages?: number;
  /** The runs of agents that have ended, oldest first, where the session was restored. */
  readonly restoredRuns: readonly RunRecord[];
}

/** The colours of the screen; `terminal` uses the palette of the terminal. */
export const THEME_NAMES = ['terminal', 'dark', 'light', 'dark-colorblind', 'light-colorblind'] as const;
export type ThemeName = (typeof THEME_NAMES)[number];

/** How a person who looks elsewhere is called: by the bell, by a message of the terminal (OSC 9), or not. */
export const NOTIFY_KINDS = ['off', 'bell', 'osc'] as const;
export type NotifyKind = (typeof NOTIFY_KINDS)[number];

export type PermissionMode = 'default' | 'acceptEdits' | 'plan' | 'bypassPermissions';
export const PERMISSION_MODES: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan', 'bypassPermissions'];
