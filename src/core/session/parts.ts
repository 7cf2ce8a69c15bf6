/** What a session is put together from; `compose/` does it. */
import type {AgentRun} from '../agent-loop.ts';
import type {AgentCatalog, AgentDefinition} from '../agent-types.ts';
import type {Emit, NotifyKind, PermissionMode, SessionInfo, ThemeName} from '../contract/events.ts';
import type {HookListing, Hooks} from '../contract/hook.ts';
import type {McpControl} from '../contract/mcp.ts';
import type {Model, Thinking, UsageEntry} from '../contract/model.ts';
import type {Denial, PermissionState, RuleTexts, SandboxMode, SandboxState} from '../contract/permission.ts';
import type {Limits} from '../contract/results.ts';
import type {
  Command,
  FilesToRestore,
  ProviderModels,
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
  /** What does not change with the conversation, the model and the mode. */
  readonly info: Pick<SessionInfo, 'cwd' | 'tools' | 'toolFacts' | 'agents' | 'commands' | 'warnings'>;
  readonly agentId: string;
  readonly state: SessionState;
  readonly bus: EventBus;
  readonly redactor: Redactor;
  readonly questions: Questions;
  readonly manager: SubagentManager;
  /** Those that may be dispatched, as their files are now. */
  readonly agents: AgentCatalog;
  readonly commands: readonly Command[];
  readonly denials: readonly Denial[];
  readonly changes: ChangedFiles;
  readonly fanOuts: FanOuts;
  readonly hooks: Hooks;
  readonly mcp: SessionMcp;
  /** In the order in which they were found. */
  listHooks(): readonly HookListing[];
  /**
   * A person can be asked, and will type more. Without one, `submit` also waits for background runs and the turns that
   * follow from them.
   */
  readonly interactive: boolean;
  readonly limits: Partial<Limits>;
  /** The date of the built-in list of prices. */
  readonly pricesAsOf: string;
  /** Of the main agent; the manager puts the ends of background runs there. */
  readonly inbox: Inbox;
  /** Ends of background runs that an earlier process could not announce. */
  readonly pending: readonly PendingAnnouncement[];
  /** The main agent's run, without what changes from turn to turn. */
  readonly run: Omit<AgentRun, 'model' | 'history' | 'inbox' | 'limits' | 'signal' | 'output'>;
  /** The tool bash, also where the main agent does not have it: for commands that the user types. */
  readonly shell: Tool;
  /** See the request `find_files`. */
  findFiles(query: string): Promise<readonly string[]>;
  permissions(): PermissionState;
  /** What a command file allows in the turn that begins. */
  allowInTurn(rules: readonly string[]): void;
  /** See the request `set_rules`. */
  setRules(rules: RuleTexts): void;
  readonly sandbox: {
    state(): Promise<SandboxState>;
    /** From the next command on. */
    set(mode: SandboxMode): Promise<SandboxState>;
  };
  /** From now on, also for what runs and what is asked just now. */
  setPermissionMode(mode: PermissionMode): void;
  /** A new conversation, or a stored one. @throws UsageError when it cannot be opened */
  openConversation(id?: string, takeOver?: boolean): Conversation;
  /** Further folders that agents may read and write. */
  readonly folders: {
    list(): readonly string[];
    /** @throws UsageError when there is no such folder */
    add(folder: string): void;
  };
  /** Of this directory, the one that was written last first. */
  listSessions(): readonly SessionSummary[];
  /** @throws UsageError when the name cannot be used. */
  resolveModel(name: string, thinking?: SessionState['thinking']): Model;
  /** See the request `models`. */
  listModels(): Promise<readonly ProviderModels[]>;
  /** What an agent runs with, and warnings for its result. @param asked wins over its definition */
  chooseModel(
    agent: AgentDefinition,
    asked?: {readonly model?: string | undefined; readonly thinking?: Thinking},
  ): {readonly model: Model; readonly warnings: readonly string[]};
  /** Stops watching files, and waits for what goes on beside the turns. */
  onClose(): Promise<void>;
}

/** MCP servers, and the commands that they bring. */
export interface SessionMcp extends McpControl {
  /** Those of servers that have been connected. */
  commands(): readonly Command[];
  /** Also of a server that is not connected yet. */
  findCommand(name: string): Command | undefined;
}

/** What changes while a session lasts. The session alone changes it. */
export interface SessionState {
  conversation: Conversation;
  model: Model;
  /** In place of what the start said. */
  thinking?: {readonly thinking?: Thinking; readonly thinkingTokens?: number};
  /** Absent: `terminal`. */
  theme?: ThemeName;
  /** Absent: `bell`. */
  readonly notify?: NotifyKind;
}

/** One transcript and what belongs to it. */
export interface Conversation {
  readonly id: string;
  readonly history: History;
  readonly output: AgentRun['output'];
  readonly transcript: string;
  /** What was said last, of a session that goes on. */
  readonly restored: readonly RestoredMessage[];
  /** How many messages came before these, which no front end shows. */
  readonly earlierMessages?: number;
  /** What the transcript says was used before it was opened, without the runs. */
  readonly usedBefore: readonly UsageEntry[];
  /** Ids of the announcements in its history, also in what counts no more. */
  readonly announced: ReadonlySet<string>;
  /** To which it can go back, newest first. */
  rewindPoints(): readonly RewindPoint[];
  /** The messages before the one with this uuid, from the transcript. */
  messagesBefore(uuid: string): readonly RestoredMessage[];
  /** All that was said, from the transcript: also what is not sent to the model any more. @param isStreaming a reply is coming in */
  wholeConversation(isStreaming: boolean): readonly RestoredMessage[];
  /** @throws MiniCcError when lines could not be written, and the error of the disk; it is closed all the same */
  close(): void;
}

/** Closes the transcript. What could not be written is a notice: it must not keep the rest from being closed. */
export function closeConversation(conversation: Conversation, emit: Emit): void {
  try {
    conversation.close();
  } catch (error) {
    emit({type: 'notice', level: 'error', text: getErrorMessage(error)});
  }
}

/** What agents changed in files, and the way back; by the checkpoints of the session that is open. */
export interface ChangedFiles extends FanOutChanges {
  diff(agentId: string): Promise<Omit<RunDiff, 'record'>>;
  /** Of all agents. */
  diffAll(): Promise<SessionDiff>;
  undo(agentId: string): Promise<RestoredFiles>;
  /** All that changed from then on. @param at milliseconds since the epoch. @param keepNew files that were made since stay */
  rewind(at: number, keepNew?: boolean): Promise<RestoredFiles>;
  /** What `rewind` would do. */
  planRewind(at: number): Promise<FilesToRestore>;
}
