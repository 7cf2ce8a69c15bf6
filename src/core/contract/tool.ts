/**
 * Interface of a tool. `tool-calls.ts` checks input and permission, shortens output and handles errors for all tools.
 */
import type {ZodType} from 'zod';
import type {Emit} from './events.ts';
import type {Model, ToolResultBlock, ToolUse, Usage, UsageEntry} from './model.ts';
import type {Access, Attempt, PermitRequest, Workspace} from './permission.ts';
import type {NamedLimits, OutputStore, ToolResult} from './results.ts';
import type {ToolFacts} from './tool-facts.ts';

/** Makes calls for an agent, under its permissions. Never rejects. @returns one result for each call, in order */
export type RunCalls = (calls: readonly ToolUse[]) => Promise<readonly ToolResultBlock[]>;

/** What a tool knows about the agent that calls it. */
export interface ToolContext {
  readonly agentId: string;
  readonly callId: string;
  /** Ends the call, e.g. by Esc, a stop or a limit. The tool then returns what it has within a second. */
  readonly signal: AbortSignal;
  /** True for the main agent: processes that its commands leave in the background live on after the turn. */
  readonly outlivesTurn: boolean;
  readonly workspace: Workspace;
  readonly files: FileLedger;
  readonly output: OutputStore;
  readonly emit: Emit;
  /**
   * Registers a listener for the moment when a person sends the call to the background: the tool then sets no limit of
   * time, and its whole output goes to the file of the call. Absent where no person can do that.
   */
  readonly onBackground?: (listener: () => void) => void;
  /**
   * Asks the agent's model a question outside the conversation. The tokens count for the agent.
   * @throws ModelError when the call failed; the signal's reason when aborted
   */
  readonly ask: (question: {readonly system: string; readonly prompt: string}) => Promise<string>;
  /** Makes further calls for the agent, which the model did not ask for itself. */
  readonly runCalls: RunCalls;
  /** The current attempt of the call. It says which sandbox confines the processes that the call starts. */
  readonly attempt: Attempt;
  /**
   * Resolves when the files are saved that the call may change: to false when the call was aborted meanwhile, and must
   * not begin. Absent when the call may begin at once, always so without `preparesAhead`.
   */
  readonly mayBegin?: Promise<boolean> | undefined;
  /** Files and folders that the call is allowed to touch. Paths are absolute, with links resolved. */
  readonly places: readonly string[];
  /** Says whether a file below `places` may be read, by its absolute path. Absent when all may. */
  readonly mayRead?: ((file: string) => boolean) | undefined;
}

/** What a tool knows before its call is decided. */
export type TrialContext = Pick<ToolContext, 'workspace' | 'files' | 'places' | 'signal' | 'outlivesTurn'>;

export interface Tool<Input = unknown> extends ToolFacts {
  /** Text for the model, from the `.md` file beside the tool. It may change with the definitions of agents. */
  readonly description: string;
  readonly input: ZodType<Input>;
  /** JSON Schema that the model reads instead of the one made from `input`, for a tool that checks its input itself. */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  /** Input that read-only agents are offered instead. */
  readonly readOnlyInput?: ZodType<Input>;
  /** Input that the main agent is offered instead, with fields that only its calls may use. */
  readonly mainInput?: ZodType<Input>;
  /** Says whether the call returns at once and continues in the background. Only calls of the main agent are asked. */
  isBackground?(input: Input): boolean;
  /** Names the call for a person in a few words, e.g. by its path or command. */
  title(input: Input, workspace: Workspace): string;
  /** Purpose of the call, in the model's words. */
  purpose?(input: Input): string | undefined;
  /** Lists what the call would touch. Paths may be relative to the workspace's `cwd`. */
  access(input: Input, workspace: Workspace): readonly Access[];
  /** Finds further accesses that only reading files shows. It is called before each decision. */
  findAccess?(input: Input, workspace: Workspace, signal: AbortSignal): Promise<readonly Access[]>;
  /** Repairs the model's input before it is checked. The notes say what was repaired. */
  repair?(input: unknown): {readonly input: unknown; readonly notes: readonly string[]};
  /** Most characters of a result. A longer one is cut in the middle and saved whole in a file. Default: 30,000. */
  readonly maxChars?: number;
  /**
   * Finds what is sure to make `run` fail, without changing anything. It is called before a question about the call.
   * @throws what `run` throws
   */
  findProblem?(input: Input, context: TrialContext): Promise<string | undefined>;
  /** Whether `run` is called while the files are saved that it may change, so that it prepares meanwhile. */
  readonly preparesAhead?: boolean;
  /**
   * Gets ready what most calls need. It is called while the model thinks, and when it begins to write a call. It must not
   * change anything that a person or an agent sees.
   * @param launch how a command starts that may write; undefined when it is asked about
   */
  prepare?(workspace: Workspace, launch: Attempt['launch'] | undefined): void;
  /**
   * Reads from the beginning of an input, as JSON, what the call would do; undefined while that is not complete.
   */
  readAhead?(json: string): Input | undefined;
  /**
   * Gets ready what a call needs that would run as `attempt`, while the model writes the rest of it. The call may come
   * otherwise, or not at all.
   */
  expect?(workspace: Workspace, attempt: Attempt): void;
  /** Ends what `expect` got ready in this workspace and no call has used. Called when the calls of a reply have ended. */
  expectNothing?(workspace: Workspace): Promise<void>;
  /** May throw: the caller turns the error into an error result. */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}

/** Tools that come and go while a run is at work: those of MCP servers. */
export interface ToolSource {
  /** Waits until the tools for the first request are there. Never rejects. */
  ready(signal: AbortSignal): Promise<void>;
  /** Lists the tools that the model is offered at this moment. */
  list(): readonly Tool[];
  /** Finds a tool by name, including one that is not offered: a model may know its name from elsewhere. */
  find(name: string): Tool | undefined;
  /**
   * Reads what a person names by `@SERVER:URI`.
   * @returns undefined when there is no such server
   * @throws MiniCcError when it cannot be read
   */
  readMention(mention: string, signal: AbortSignal): Promise<ToolResult['content']> | undefined;
}

/** Changes the result of a call, or adds to it, before it is cut. */
export type AfterCall = (call: PermitRequest, result: ToolResult, signal: AbortSignal) => Promise<ToolResult>;

/** Identity of a file's state. It differs after each change, even when size and modification time stay the same. */
export interface FileStamp {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** Content of a file, or only its stamp when the file is too large for memory. */
export type SeenContent = Buffer | FileStamp;

/**
 * What one agent has read and written. The agent may overwrite a file only if it has seen the file's current content.
 * All paths are absolute, with links resolved.
 */
export interface FileLedger {
  recordRead(path: string, content: SeenContent): void;
  /** Records that a tool of the agent has written this content. */
  recordWrite(path: string, content: SeenContent): void;
  /**
   * Records that a command of this agent begins.
   * @returns a function to call when the command ends. It finds the files that agents have seen and the command has
   *   changed. The agent must read such a file again before it writes it.
   */
  beginCommand(): () => Promise<void>;
  /** Records files that a command of this agent changed, or that the runtime changed for it. */
  recordCommandWrites(changed: readonly string[]): Promise<void>;
  /**
   * Returns when the file is as this agent last saw it.
   * @param now current content of the file
   * @throws MiniCcError `NOT_READ` when the agent has not read it, `STALE` when it changed since. The message says who
   *   changed it.
   */
  assertFresh(path: string, now: SeenContent): void;
}

/** The editor that drives the session. Paths are absolute, with links resolved. */
export interface EditorFiles {
  /** Returns the text that the person sees, saved or not. @throws Error when the editor does not give it */
  read(path: string, signal: AbortSignal): Promise<string>;
  /** Absent when the editor does not write files. @throws Error when it refuses */
  readonly write?: (path: string, text: string, signal: AbortSignal) => Promise<void>;
}

/** Limits of what a run may use in all. An absent one means no limit. */
export interface BudgetLimits extends Pick<NamedLimits, 'maxTokens' | 'maxBudgetUsd'> {
  /**
   * Setting of a ceiling, as the runs that reach it name it. No call reserves under a ceiling: it ends each run after the
   * reply that reaches it, and it needs no prices.
   */
  readonly ceiling?: string;
}

export interface Budget {
  /**
   * The limit that is used up, e.g. `4000 tokens`, as the run names it at its end. Undefined while something is left.
   */
  readonly usedUp: string | undefined;
  /** The limit that is nearly used up, so that the run must report. Undefined while enough is left. */
  readonly reportDue: string | undefined;
  /** Whether this budget or one above it has a limit. */
  readonly isLimited: boolean;
  /** The run's own use, without the runs that it dispatched. */
  readonly usage: Usage;
  readonly usageByModel: Readonly<Record<string, Usage>>;
  /** Its use, with that of the budgets below it. */
  readonly totalUsage: Usage;
  /** US dollars: the run's own limit or that of the session. */
  readonly limitUsd: number | undefined;
  /** US dollars, including those of the runs that it dispatched. */
  readonly spentUsd: number;
  /** US dollars that model calls under way have reserved. */
  readonly setAsideUsd: number;
  /**
   * Reserves what a model call can cost, here and in all budgets above, before the call starts. Waits for what other
   * calls give back.
   * @throws MiniCcError `BUDGET` when the call does not fit, and the signal's reason
   */
  reserve(call: CallSize, signal: AbortSignal): Promise<Reservation>;
  spend(usage: Usage, model: string): void;
  /** Usage of the whole session, by agent and model. */
  entries(): readonly UsageEntry[];
  /** Creates a budget below this one, for a run or for a command. */
  open(agent: string, limits?: BudgetLimits): Budget;
  /** Calls the listener when others have used up what this run needs. @returns a function that ends the subscription */
  onUsedUp(listener: () => void): () => void;
}

/** What a model call can cost. */
export interface CallSize {
  readonly model: Pick<Model, 'name' | 'inputPrice' | 'outputPrice'>;
  /** Estimated tokens of the request. */
  readonly inputTokens: number;
  /** True when a server's count of the same conversation corrects the estimate. */
  readonly isCounted: boolean;
  /**
   * Names a kind of request outside the agent's conversation, e.g. a summary. Estimates are corrected separately for
   * each kind.
   */
  readonly kind?: string | undefined;
  /** Most tokens that the reply may have, if the budgets allow it. */
  readonly maxOutputTokens: number;
}

export interface Reservation {
  /** Estimated tokens of the request, corrected by what servers counted for such calls. */
  readonly inputTokens: number;
  readonly maxOutputTokens: number;
  /** The limit that does not cover the call any more, because its failed attempts cost something. */
  readonly uncovered: string | undefined;
  /** Replaces the estimated input by what the server counted. */
  count(usage: Usage): void;
  /** Spends what the call, or a failed attempt of it, has really used. */
  spend(usage: Usage, model: string): void;
  /** Gives back what is reserved. */
  release(): void;
}

/** Reserves what a call can cost in the budgets of the session that sent this run from another machine. */
export type ReserveAbove = (call: CallSize, signal: AbortSignal) => Promise<Reservation>;
