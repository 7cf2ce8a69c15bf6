/** The parts of a session. `compose/` creates them. */
import type {AgentRun} from '../agent-loop.ts';
import type {AgentCatalog, AgentDefinition} from '../agent-types.ts';
import type {Emit, NotifyKind, PermissionMode, SessionInfo, ThemeName} from '../contract/events.ts';
import type {Hooks} from '../contract/hook.ts';
import type {McpControl} from '../contract/mcp.ts';
import type {Model, Thinking, UsageEntry} from '../contract/model.ts';
import type {PermissionState} from '../contract/permission.ts';
import type {Limits, SubagentSummary} from '../contract/results.ts';
import type {
  ChangedLines,
  Command,
  FilesToRestore,
  Requests,
  RestoredFiles,
  RewindPoint,
  RunDiff,
  SessionDiff,
  SessionSummary,
} from '../contract/session-requests.ts';
import type {Tool} from '../contract/tool.ts';
import type {RestoredMessage} from '../contract/transcript.ts';
import type {FanOutChanges, FanOuts} from '../fan-out/fan-outs.ts';
import type {Questions} from '../permissions/questions.ts';
import type {PendingAnnouncement} from '../runs/announcement.ts';
import type {Redactor} from '../secrets/redaction.ts';
import type {SubagentManager} from '../subagent-manager.ts';
import type {History} from '../turn/history.ts';
import type {Inbox} from '../turn/inbox.ts';
import {getErrorMessage} from '../util/errors.ts';
import type {EventBus} from './event-bus.ts';

export interface SessionParts {
  /** Information that does not change with the conversation, the model and the mode. */
  readonly info: Pick<
    SessionInfo,
    'cwd' | 'tools' | 'toolFacts' | 'agents' | 'commands' | 'skills' | 'plugins' | 'warnings' | 'foreignWords'
  >;
  readonly agentId: string;
  readonly state: SessionState;
  readonly bus: EventBus;
  readonly redactor: Redactor;
  readonly questions: Questions;
  readonly manager: SubagentManager;
  /** Agents that may be dispatched, as their files say at the moment of the call. */
  readonly agents: AgentCatalog;
  readonly commands: readonly Command[];
  readonly changes: ChangedFiles;
  readonly fanOuts: FanOuts;
  readonly hooks: Hooks;
  readonly mcp: SessionMcp;
  /**
   * True when a person can be asked and will type more. Without a person, `submit` also waits for background runs and
   * the turns that follow from them.
   */
  readonly interactive: boolean;
  readonly limits: Partial<Limits>;
  /** Date of the built-in list of prices. */
  readonly pricesAsOf: string;
  /** Inbox of the main agent. The manager puts the ends of background runs there. */
  readonly inbox: Inbox;
  /** Ends of background runs that an earlier process could not announce. */
  readonly pending: readonly PendingAnnouncement[];
  /** The main agent's run, without the parts that change from turn to turn. */
  readonly run: Omit<AgentRun, 'model' | 'system' | 'history' | 'inbox' | 'limits' | 'signal' | 'output'>;
  /** Returns the system prompt of a conversation, which stays the same until the session leaves the conversation. */
  getSystem(conversation: Conversation): string;
  /** The tool bash for commands that the user types. It exists even when the main agent does not have it. */
  readonly shell: Tool;
  /**
   * Runs the person's own status line. @param facts what it reads on standard input
   * @returns its output, empty when it fails; absent without such a setting
   */
  readonly runStatusLine?: ((facts: object, signal: AbortSignal) => Promise<string>) | undefined;
  readonly requests: OuterRequests;
  permissions(): PermissionState;
  /** Sets the rules of a command file for the turn that begins. */
  allowInTurn(rules: readonly string[]): void;
  /** Applies at once, also to calls at work and to open questions. */
  setPermissionMode(mode: PermissionMode): void;
  /** Calls the listener after each change of the mode, also by a tool. */
  onPermissionMode(listener: () => void): void;
  /** Opens a new conversation, or a stored one. @throws UsageError when it cannot be opened */
  openConversation(id?: string, takeOver?: boolean): Conversation;
  /** Further folders that agents may read and write. */
  readonly folders: {
    list(): readonly string[];
    /** @throws UsageError when there is no such folder */
    add(folder: string): void;
  };
  /** Lists the sessions of this directory. The one that was written last comes first. */
  listSessions(withText?: boolean): readonly SessionSummary[];
  /** @throws UsageError when the name cannot be used */
  resolveModel(name: string, thinking?: SessionState['thinking']): Model;
  /** Chooses the model of an agent, and warnings for its result. @param asked wins over the agent's definition */
  chooseModel(
    agent: AgentDefinition,
    asked?: {readonly model?: string | undefined; readonly thinking?: Thinking},
  ): {readonly model: Model; readonly warnings: readonly string[]};
  /** Stops watching files, and waits for work outside the turns. */
  onClose(): Promise<void>;
}

/** The requests about what the session itself does not have. `compose/` answers them. */
export type OuterRequests = Pick<
  Requests,
  'change_rule' | 'denials' | 'find_files' | 'hooks' | 'models' | 'sandbox' | 'set_rules' | 'set_sandbox'
>;

export interface SessionMcp extends McpControl {
  /** Commands of servers that have been connected. */
  commands(): readonly Command[];
  /** Finds a command by name, also of a server that is not connected yet. */
  findCommand(name: string): Command | undefined;
}

/** State that changes while a session lasts. Only the session changes it. */
export interface SessionState {
  conversation: Conversation;
  model: Model;
  /** Setting that replaces the one from the start. */
  thinking?: {readonly thinking?: Thinking; readonly thinkingTokens?: number};
  /** Default: `auto`. */
  theme?: ThemeName;
  /** Default: `bell`. */
  readonly notify?: NotifyKind;
  readonly vim?: boolean;
  /** Default: true. */
  readonly title?: boolean;
}

/** One transcript and its parts. */
export interface Conversation {
  readonly id: string;
  readonly history: History;
  readonly output: AgentRun['output'];
  readonly transcript: string;
  /** Last messages of a session that continues. */
  readonly restored: readonly RestoredMessage[];
  /** Number of messages before `restored`, which no front end shows. */
  readonly earlierMessages?: number;
  /** Says, one line each, what of a stored conversation cannot be read. */
  readonly problems: readonly string[];
  /** Usage in the transcript from before it was opened, without the runs. */
  readonly usedBefore: readonly UsageEntry[];
  /** Present when this process comes back to the conversation: what only earlier processes used, with their runs. */
  readonly earlierUse?: readonly UsageEntry[];
  /** What the subagents brought in the turns from before it was opened. */
  readonly subagentsBefore: SubagentSummary;
  /** Ids of the announcements in its history, including dropped messages. */
  readonly announced: ReadonlySet<string>;
  /** Lists the prompts to which the conversation can go back, newest first. */
  rewindPoints(): readonly RewindPoint[];
  /** Reads the messages before the one with this uuid from the transcript. */
  messagesBefore(uuid: string): readonly RestoredMessage[];
  /**
   * Reads the whole conversation from the transcript, including what the model does not get any more.
   * @param isStreaming true while a reply is coming in
   */
  wholeConversation(isStreaming: boolean): readonly RestoredMessage[];
  /**
   * Closes the transcript in any case.
   * @throws MiniCcError when lines could not be written, and the error of the disk
   */
  close(): void;
}

/** Closes the transcript. Lines that could not be written become a notice, so that the rest is still closed. */
export function closeConversation(conversation: Conversation, emit: Emit): void {
  try {
    conversation.close();
  } catch (error) {
    emit({type: 'notice', level: 'error', text: getErrorMessage(error)});
  }
}

interface RewindOptions {
  /** True when files that were created since must stay. */
  readonly keepNew?: boolean | undefined;
  /** Takes the conversation back, as the last step of the rewind. */
  readonly finish?: () => void;
}

/** Shows and undoes what agents changed in files, by the checkpoints of the open session. */
export interface ChangedFiles extends FanOutChanges {
  diff(agentId: string): Promise<Omit<RunDiff, 'record'>>;
  diffAll(): Promise<SessionDiff>;
  undo(agentId: string): Promise<RestoredFiles>;
  /**
   * Undoes all changes from then on.
   * @param at milliseconds since the epoch
   */
  rewind(at: number, options?: RewindOptions): Promise<RestoredFiles>;
  planRewind(at: number): Promise<FilesToRestore>;
  /** Counts what was changed from one time to another. Both are in milliseconds since the epoch. */
  countLines(from: number, until?: number): Promise<ChangedLines>;
  /** Describes an undo or rewind that was cut off when mini-cc was killed, with the command that finishes it. */
  describeCutOff(points: () => readonly RewindPoint[]): string | undefined;
}
