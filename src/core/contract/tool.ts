/** What a tool is. `tool-calls.ts` checks input and permission, cuts output and handles errors for all tools. */
import type {ZodType} from 'zod';
import type {Emit} from './events.ts';
import type {Usage, UsageEntry} from './model.ts';
import type {Access, Attempt, PermitRequest, Workspace} from './permission.ts';
import type {OutputStore, ToolResult} from './results.ts';
import type {ToolFacts} from './tool-facts.ts';

/** What a tool gets to know of the agent that calls it. */
export interface ToolContext {
  readonly agentId: string;
  readonly callId: string;
  /** Ends the call, e.g. by Esc, a stop or a limit. The tool then returns within a second what it has. */
  readonly signal: AbortSignal;
  /** What commands leave in the background goes on after the turn that `signal` ends: the call is the main agent's. */
  readonly outlivesTurn: boolean;
  readonly workspace: Workspace;
  readonly files: FileLedger;
  readonly output: OutputStore;
  readonly emit: Emit;
  /**
   * Asks the agent's model a question outside of the conversation. The tokens count for the agent.
   * @throws ModelError when the call failed; the signal's reason when aborted.
   */
  readonly ask: (question: {readonly system: string; readonly prompt: string}) => Promise<string>;
  /** This attempt of the call: which sandbox confines the processes that it starts. */
  readonly attempt: Attempt;
  /** The files and folders that the call was allowed for, absolute, with links resolved. It touches no others. */
  readonly places: readonly string[];
  /** Whether a file below these folders may be read, by absolute path. Absent: all may. */
  readonly mayRead?: (file: string) => boolean;
}

/** What a tool gets to know before its call is decided. */
export type TrialContext = Pick<ToolContext, 'workspace' | 'files' | 'places' | 'signal' | 'outlivesTurn'>;

export interface Tool<Input = unknown> extends ToolFacts {
  /** Text for the model, from the `.md` file beside the tool. It may change with the agent definitions. */
  readonly description: string;
  readonly input: ZodType<Input>;
  /** JSON Schema that the model reads in place of what `input` says: of a tool that checks its input itself. */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  /** What read-only agents are offered in its place. */
  readonly readOnlyInput?: ZodType<Input>;
  /** What the main agent is offered in its place, with what only a call of its own can do. */
  readonly mainInput?: ZodType<Input>;
  /** The call returns at once, and goes on in the background. Asked for calls of the main agent alone. */
  isBackground?(input: Input): boolean;
  /** Names the call for a person in a few words, e.g. by its path or command. */
  title(input: Input, workspace: Workspace): string;
  /** What the call is for, as the model says in its input. */
  purpose?(input: Input): string | undefined;
  /** What the call would touch. Paths may be relative to the workspace's `cwd`. */
  access(input: Input, workspace: Workspace): readonly Access[];
  /** Repairs the model's input before it is checked. The notes say what was repaired. */
  repair?(input: unknown): {readonly input: unknown; readonly notes: readonly string[]};
  /** A longer result is cut in the middle and saved whole in a file. Characters. Default: 30,000. */
  readonly maxChars?: number;
  /**
   * What is sure to make `run` fail, found without changing anything. Called before a question about the call.
   * @throws as `run`
   */
  findProblem?(input: Input, context: TrialContext): Promise<string | undefined>;
  /** May throw: the caller turns the error into an error result. */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}

/** Tools that come and go while a run is at work: those of MCP servers. */
export interface ToolSource {
  /** Waits for what the first request must have. Never rejects. */
  ready(signal: AbortSignal): Promise<void>;
  /** What the model is offered now. */
  list(): readonly Tool[];
  /** Also one that is not offered: a model may know its name from elsewhere. */
  find(name: string): Tool | undefined;
  /**
   * What a person names by `@SERVER:URI`. Undefined where there is no such server.
   * @throws MiniCcError when it cannot be read
   */
  readMention(mention: string, signal: AbortSignal): Promise<ToolResult['content']> | undefined;
}

/** Changes the result of a call, or adds to it, before it is cut. */
export type AfterCall = (call: PermitRequest, result: ToolResult, signal: AbortSignal) => Promise<ToolResult>;

/** Differs after each change of a file, also when its size and its time of modification are the same. */
export interface FileStamp {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** The content of a file; of one that is too large to be kept in memory, only its stamp. */
export type SeenContent = Buffer | FileStamp;

/**
 * What one agent has read and written. It may overwrite a file only if it has seen the content that the file has now.
 * All paths are absolute, with links resolved.
 */
export interface FileLedger {
  /** The agent has read this content of a file. */
  recordRead(path: string, content: SeenContent): void;
  /** A tool of the agent has written this content. */
  recordWrite(path: string, content: SeenContent): void;
  /**
   * A command of this agent begins. @returns a function to call at its end: it logs which of the files that agents have
   * seen the command changed. The agent has not seen these changes: it must read such a file again before it writes it.
   */
  beginCommand(): () => Promise<void>;
  /** A command of this agent changed these files, or the runtime did on its behalf. */
  recordCommandWrites(changed: readonly string[]): Promise<void>;
  /**
   * Returns when the file is as this agent last saw it.
   * @param now what the file contains now
   * @throws MiniCcError `NOT_READ` when the agent has not read it, `STALE` when it changed since. The message names who
   *   changed it.
   */
  assertFresh(path: string, now: SeenContent): void;
}

/** What a run may use in all; absent: no limit. */
export interface BudgetLimits {
  /** Tokens in and out, including the cache. */
  readonly maxTokens?: number | undefined;
  /** US dollars. */
  readonly maxBudgetUsd?: number | undefined;
}

/** What a run has used, and what it may still use. */
export interface Budget {
  /** The limit that is used up, as a run that it ends names it, e.g. `4000 tokens`. Undefined while something is left. */
  readonly usedUp: string | undefined;
  /** The limit of which so little is left that the run must report now. */
  readonly reportDue: string | undefined;
  /** Its own use, without that of the runs that it dispatched. */
  readonly usage: Usage;
  readonly usageByModel: Readonly<Record<string, Usage>>;
  /** The limit in US dollars, of its own or of the session. */
  readonly limitUsd: number | undefined;
  /** US dollars, with those of the runs that it dispatched. */
  readonly spentUsd: number;
  /** US dollars that runs at work may still use of their own limits. */
  readonly setAsideUsd: number;
  /** The most tokens that a reply may have now. @param outputPrice US dollars for a million tokens out */
  maxOutputTokens(outputPrice: number | undefined): number;
  spend(usage: Usage, model: string): void;
  /** The same for another: a command. */
  spendFor(agent: string, usage: Usage, model: string): void;
  /** Its own use, and that of the runs that it dispatched, ended ones too. */
  entries(): readonly UsageEntry[];
  /** The budget of a run that it dispatches, whose own limit of money is set aside until it ends. */
  setAside(agent: string, limits: BudgetLimits): BudgetShare;
  /** Calls the listener when others have used up what this run needs. @returns the way to stop listening */
  onUsedUp(listener: () => void): () => void;
}

/** The budget of a child run, as long as it runs. */
export interface BudgetShare {
  readonly budget: Budget;
  /** Returns to the parent what the child did not use. */
  release(): void;
}
