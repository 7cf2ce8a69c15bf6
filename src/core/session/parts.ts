/** What a session is put together from, and what one conversation of it is. */
import type {AgentRun} from '../agent-loop.ts';
import type {AgentCatalog} from '../agent-types.ts';
import type {Command} from '../contract/command.ts';
import type {PermissionMode, SessionInfo} from '../contract/events.ts';
import type {Limits} from '../contract/limits.ts';
import type {Message} from '../contract/messages.ts';
import type {Model} from '../contract/model.ts';
import type {Denial} from '../permissions/decision.ts';
import type {Questions} from '../permissions/questions.ts';
import type {Rule} from '../permissions/rules/rule.ts';
import type {Announcement} from '../runs/announcer.ts';
import type {Redactor} from '../secrets/redaction.ts';
import type {SubagentManager} from '../subagent-manager.ts';
import type {History} from '../turn/history.ts';
import type {Inbox} from '../turn/inbox.ts';
import type {EventBus} from './event-bus.ts';

/** What a session is made of; `compose.ts` puts it together. */
export interface SessionParts {
  readonly info: Omit<
    SessionInfo,
    'model' | 'offline' | 'permissionMode' | 'sessionId' | 'transcript' | 'restored' | 'runDescriptions'
  >;
  readonly agentId: string;
  readonly bus: EventBus;
  readonly redactor: Redactor;
  readonly questions: Questions;
  readonly manager: SubagentManager;
  /** Those that may be dispatched, as their files are now. */
  readonly agents: AgentCatalog;
  readonly commands: readonly Command[];
  readonly denials: readonly Denial[];
  /**
   * A person can be asked, and will type more. Without one, `submit` also waits for background runs and the turns that
   * follow from them.
   */
  readonly interactive: boolean;
  /** Lets go of what was watched, and waits for what goes on beside the turns. */
  onClose(): Promise<void>;
  readonly permissions: () => PermissionStanding;
  /** Holds at once, also for what runs and what is asked just now. */
  setPermissionMode(mode: PermissionMode): void;
  readonly limits: Partial<Limits>;
  /** The first conversation, and a new one for /clear. */
  openConversation(): Conversation;
  resolveModel(name: string): Model;
  readonly firstConversation: Conversation;
  readonly model: Model;
  /** Of the main agent; the manager puts the ends of background runs there. */
  readonly inbox: Inbox;
  /** Ends of background runs that an earlier process did not get to tell. */
  readonly pending: readonly Announcement[];
  /** The main agent's run, but for what changes from turn to turn. */
  readonly run: Omit<AgentRun, 'model' | 'history' | 'inbox' | 'limits' | 'signal' | 'output' | 'tokens'>;
}

/** What agents may do now, as a person is told. */
export interface PermissionStanding {
  readonly mode: PermissionMode;
  /** In the order in which they were found. */
  readonly rules: readonly Rule[];
  /** Each in a few words. */
  readonly granted: readonly string[];
}

/** One transcript and what belongs to it. */
export interface Conversation {
  readonly id: string;
  readonly history: History;
  readonly output: AgentRun['output'];
  readonly transcript: string;
  /** What was said before, of a session that goes on. */
  readonly restored: readonly Message[];
  /** Ids of the announcements that it has heard, also in what counts no more. */
  readonly announced: ReadonlySet<string>;
  close(): void;
}
