/** What a tool is. `tool-calls.ts` checks input and permission, cuts output and handles errors for all tools. */
import type {ZodType} from 'zod';
import type {Emit} from './events.ts';
import type {Usage} from './model.ts';
import type {Access, Attempt, Workspace} from './permission.ts';
import type {OutputStore, ToolResult} from './results.ts';

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
  /** What the agent may still use. The share of a subagent is taken from it. */
  readonly tokens: TokenBudget;
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

export interface Tool<Input = unknown> {
  readonly name: string;
  /** Text for the model, from the `.md` file beside the tool. It may change with the agent definitions. */
  readonly description: string;
  readonly input: ZodType<Input>;
  /** What read-only agents are offered in its place. */
  readonly readOnlyInput?: ZodType<Input>;
  /** What the main agent is offered in its place, with what only a call of its own can do. */
  readonly mainInput?: ZodType<Input>;
  /** The call returns at once, and goes on in the background. Asked for calls of the main agent alone. */
  isBackground?(input: Input): boolean;
  /** Names the call for a person in a few words, e.g. by its path or command. */
  title(input: Input): string;
  /** What the call would touch. Paths may be relative to the workspace's `cwd`. */
  access(input: Input, workspace: Workspace): readonly Access[];
  /** Repairs the model's input before it is checked. The notes say what was repaired. */
  repair?(input: unknown): {readonly input: unknown; readonly notes: readonly string[]};
  /** A longer result is cut in the middle and saved whole in a file. Characters. Default: 30,000. */
  readonly maxChars?: number;
  /** May throw: the caller turns the error into an error result. */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}

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

/** How many tokens a run may still use, in and out, including the cache. */
export interface TokenBudget {
  /** Tokens; infinite without a limit. */
  readonly limit: number;
  readonly left: number;
  readonly isUsedUp: boolean;
  /** So little is left that the run must report now. */
  readonly isReportDue: boolean;
  spend(usage: Usage): void;
  /**
   * Reserves a part of what is left for a child run, so that all runs together stay within the limit.
   * @param wanted the child's own limit in tokens. Default: half of what is left.
   */
  setAside(wanted?: number): BudgetShare;
}

/** The budget of a child run, as long as it runs. */
export interface BudgetShare {
  readonly budget: TokenBudget;
  /** Returns to the parent what the child did not use. */
  release(): void;
}
