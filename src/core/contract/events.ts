/**
 * Events report progress one way: core emits, front ends listen. They are plain JSON, flat, and name their agent. What
 * must last is in the transcript before its event is emitted. Nothing waits for a listener.
 */

import type {AssistantBlock, Retry, StreamEvent, Usage, UserBlock} from './model.ts';
import type {Outcome, SubagentSummary} from './results.ts';
import type {RunSpec} from './run-spec.ts';
import type {RunRecord, RunState} from './runs.ts';
import type {ToolFacts} from './tool-facts.ts';
import type {Announcement, CallEnd, RestoredMessage} from './transcript.ts';

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

/**
 * A run begins. The event carries the whole `RunSpec` for the run of a subagent, and only the names for the main agent.
 */
export interface RunStart extends Partial<Omit<RunSpec, RunNames>>, Pick<RunSpec, RunNames> {
  readonly type: 'run_start';
  /** True while the run waits for a free slot. `run_active` follows. */
  readonly queued: boolean;
  /** Above 1 when an ended run continues: the same agentId starts again. */
  readonly round?: number;
}

/** How a text is drawn: it contains a unified diff, or it is lines of names and figures, e.g. states, bars and amounts. */
export type TextLook = 'diff' | 'figures';

export type AgentEventBody =
  | RunStart
  | {readonly type: 'run_active'}
  /**
   * A Task call starts no run: it waits for a run of the same task, or gets the result of an earlier one. The event
   * comes twice: with the state `running`, and with the outcome.
   */
  | {
      readonly type: 'repeated_task';
      readonly callId: string;
      readonly agent: string;
      readonly description: string;
      readonly source: 'joined' | 'cached';
      readonly state: 'running' | Outcome;
      readonly tools: number;
      readonly durationMs: number;
      readonly reason?: string;
    }
  /** The state of a subagent's run changed. `removed` means that its transcript was archived. */
  | {readonly type: 'run_state'; readonly state: RunState}
  /** The run works at this worker on another machine. */
  | {readonly type: 'run_place'; readonly worker: string}
  /** Text for the run's progress line about work before or after its turns. Empty when that work is over. */
  | {readonly type: 'run_note'; readonly text: string}
  /**
   * The run was sent to the background while it was at work. `count` says how many runs went there together: the first
   * of them carries the number, the others carry 0.
   */
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
  /** A call begins. The event comes again, with the same id, when a hook or an answer changed what the call does. */
  | {
      readonly type: 'tool_start';
      readonly callId: string;
      readonly tool: string;
      readonly title: string;
      /** Purpose of the call, in the model's words. */
      readonly description?: string | undefined;
      /** The user typed this command. It belongs to no turn, and its output goes out as a notice. */
      readonly byUser?: true;
    }
  /** The last lines that a running command has printed. They replace the lines of the event before. */
  | {readonly type: 'tool_progress'; readonly callId: string; readonly text: string}
  | ({
      readonly type: 'tool_end';
      readonly callId: string;
      readonly tool: string;
      readonly isError: boolean;
      /** Text of the result, at most 2,000 characters: enough for a few lines on the screen. */
      readonly preview: string;
      readonly byUser?: true;
      readonly durationMs: number;
    } & CallEnd)
  | {readonly type: 'ask'; readonly question: Question}
  /** `input` is present when the answer changed the input of the call. */
  | {readonly type: 'ask_end'; readonly askId: string; readonly answer: string; readonly input?: unknown}
  | {readonly type: 'queued_prompt'; readonly id: string; readonly text: string}
  | {readonly type: 'queued_prompt_delivered'; readonly id: string}
  /** The person took the prompt back. The answer to the request `take_back` has its content. */
  | {readonly type: 'queued_prompt_taken_back'; readonly id: string}
  /** A stop removed the prompt before it was delivered. `text` is what the prompt said. */
  | {readonly type: 'queued_prompt_dropped'; readonly id: string; readonly text: string}
  | {
      readonly type: 'notice';
      readonly level: 'info' | 'warning' | 'error';
      readonly text: string;
      readonly look?: TextLook;
    }
  | ({readonly type: 'retry'} & Retry)
  /** A hook starts, and with an outcome: it has ended. The names are those of Claude Code. */
  | {
      readonly type: 'hook';
      readonly hook_id: string;
      readonly hook_name: string;
      readonly hook_event: string;
      readonly outcome?: 'success' | 'error';
      readonly output?: string;
    }
  | {readonly type: 'session'; readonly info: SessionInfo}
  /** Tokens in the model's context window after a reply. `limit` is what a request may have, if that is known. */
  | {readonly type: 'context'; readonly tokens: number; readonly limit?: number}
  /** What this process used, and where the conversation continues what earlier ones used for it. */
  | {readonly type: 'cost'; readonly usage: Usage; readonly before?: Usage}
  /** A summary replaced the older part of the conversation. `preTokens` and `postTokens` count the next request. */
  | {
      readonly type: 'compacted';
      readonly trigger: 'auto' | 'manual';
      readonly preTokens: number;
      readonly postTokens: number;
    }
  | {readonly type: 'cleared'}
  /** The session opened another conversation. `restored` has the last messages of it. */
  | {readonly type: 'resumed'; readonly info: SessionInfo}
  /** The conversation went back to the point before an earlier prompt. */
  | {readonly type: 'rewound'}
  | {
      readonly type: 'run_end';
      readonly outcome: Outcome;
      /** Reason why the run did not succeed, in a few words. */
      readonly reason?: string;
      /** Only for a subagent: what it did, as the runtime saw it. */
      readonly receipt?: string;
      readonly tools: number;
      readonly durationMs: number;
      readonly usage: Usage;
      /** Number of different files. `filesScanned` counts these and the files that searches listed. */
      readonly filesRead?: number;
      readonly filesScanned?: number;
      /** Only for the main agent: what the subagents brought that ended since the turn before. */
      readonly subagents?: SubagentSummary;
    };

export type AgentEvent = EventBase & AgentEventBody;

/** Emits events of one agent. The session adds `EventBase`. */
export type Emit = (event: AgentEventBody) => void;

/** Creates the `Emit` of each agent. The session's event bus implements it. */
export interface Emitters {
  /** @param parent the agent that dispatched this one */
  emitFor(agentId: string, parent?: string): Emit;
}

/** A question to the person, who chooses by digit. No option is preselected. */
export interface Question {
  readonly id: string;
  /** Name of the asker: `main`, `[explore] look around`, or `mini-cc` for a command. */
  readonly agent: string;
  /** Id of the subagent run that asks. */
  readonly runId?: string | undefined;
  /** What the agent wants to do or know, in one line. */
  readonly title: string;
  /** Reason for the question, in a few words. */
  readonly because?: string;
  /** The call that waits for the answer. */
  readonly callId?: string;
  /** The whole command, diff or plan. */
  readonly detail: string;
  readonly detailType: 'command' | 'diff' | 'markdown' | 'text';
  /** A line beside the question that tells the person how to be asked less. */
  readonly hint?: string;
  /** When this is empty, the person types a line of text, which is the answer's `note`. */
  readonly options: readonly QuestionOption[];
  /**
   * A list of any length that replaces the options. The person filters it by typing and chooses a row by arrows and
   * Enter.
   */
  readonly list?: readonly ListItem[];
  /** Text for the person: what Esc does. */
  readonly escape: string;
  /** Text for the person: what Enter does while no option is marked. Absent when Enter does nothing. */
  readonly enter?: string;
  readonly call?: {
    readonly callId: string;
    readonly tool: string;
    readonly input: unknown;
    /** The rules that the choice `always` would save. */
    readonly rules?: readonly string[];
    /** True for an edit that the mode `acceptEdits` lets pass. */
    readonly isEdit?: true;
  };
  /** The front end opens `$EDITOR` on this file instead of asking. It answers `text` when the editor was closed. */
  readonly editor?: {readonly file: string};
}

export interface ListItem {
  readonly choice: string;
  /** A narrow window cuts this text. */
  readonly label: string;
  /** A few words beside the label, or several columns of them. Typing finds them too. */
  readonly info?: string | readonly string[];
  /** Long text of the item. Typing finds it too; below the list, the marked item shows its end, or what was found. */
  readonly text?: string;
  /** A patch that the marked item shows in this theme. */
  readonly sample?: ThemeName;
}

export interface QuestionOption {
  readonly digit: number;
  readonly choice: string;
  readonly label: string;
  /** True when the person may add a text, which is the answer's `note`. */
  readonly takesNote?: boolean;
}

export interface Answer {
  /** The `choice` of an option, `escape`, or `text` for a typed line. */
  readonly choice: string;
  readonly note?: string;
  /** For a question about a tool call: the input that replaces the call's own. The call is then decided again, once. */
  readonly input?: unknown;
  /** With the choice `always`: the rules to save instead of those that the question named. */
  readonly rules?: readonly string[];
}

/** What front ends show of a session. Print mode's `init` object is made from it. */
export interface SessionInfo {
  readonly sessionId: string;
  readonly cwd: string;
  readonly model: string;
  readonly offline: boolean;
  /** Environment variable that has the key of the model's server. Absent when no key is needed. */
  readonly keyEnv?: string;
  readonly permissionMode: PermissionMode;
  /** Default: `auto`. */
  readonly theme?: ThemeName;
  /** How mini-cc notifies a person whose terminal has no focus. Default: `bell`. */
  readonly notify?: NotifyKind;
  /** True when the prompt has the keys of vi. */
  readonly vim?: boolean;
  /** True when a command of the settings makes the status line: request `status_line`. */
  readonly statusLine?: boolean;
  /** False when the title of the terminal stays as it is. */
  readonly title?: boolean;
  /** Git branch, or the beginning of the commit's hash when there is no branch. Absent outside a repository. */
  readonly branch?: string;
  readonly tools: readonly string[];
  /** Facts of all tools, including those that this session does not offer. */
  readonly toolFacts: readonly ToolFacts[];
  readonly agents: readonly string[];
  readonly commands: readonly {
    readonly name: string;
    readonly description: string;
    readonly argumentHint?: string;
  }[];
  /** Names of the skills. Absent when there are none. */
  readonly skills?: readonly string[] | undefined;
  /** Plugins in use, with their folders. Absent when there are none. */
  readonly plugins?: readonly {readonly name: string; readonly path: string}[] | undefined;
  readonly transcript: string;
  /** Lines for the user, for example about settings that were ignored. */
  readonly warnings: readonly string[];
  /** Names of the command line, its settings and the driver that mini-cc lacks. The warnings have their texts. */
  readonly foreignWords: readonly ForeignWord[];
  /** Last messages of the conversation, when the session was restored. */
  readonly restored: readonly RestoredMessage[];
  /** Number of messages before `restored`. Absent when there are none. */
  readonly earlierMessages?: number;
  /** Ended runs of agents, oldest first, when the session was restored. */
  readonly restoredRuns: readonly RunRecord[];
}

/**
 * Colours of the screen. `auto` is `dark` or `light` as the background of the terminal is; `terminal` uses the palette of
 * the terminal.
 */
export const THEME_NAMES = ['auto', 'terminal', 'dark', 'light', 'dark-colorblind', 'light-colorblind'] as const;
export type ThemeName = (typeof THEME_NAMES)[number];

/** How mini-cc notifies a person whose terminal has no focus: not at all, by the bell, or by a message (OSC 9). */
export const NOTIFY_KINDS = ['off', 'bell', 'osc'] as const;
export type NotifyKind = (typeof NOTIFY_KINDS)[number];

/** `dontAsk`: what would be a question is refused. */
export const PERMISSION_MODES = ['default', 'acceptEdits', 'plan', 'bypassPermissions', 'dontAsk'] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** A word of another program, which mini-cc does not know or have. It is a warning, and the rest works. */
export interface ForeignWord {
  readonly kind: 'tool' | 'flag' | 'event' | 'key' | 'mode' | 'block';
  readonly name: string;
  /** The warning, one line. */
  readonly text: string;
}
