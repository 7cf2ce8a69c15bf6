/** What a tool is. Checking of input, permission, cutting and errors are done once, in `tool-calls.ts`. */
import type {ZodType} from 'zod';
import type {Emit} from './events.ts';
import type {Usage} from './model.ts';
import type {Access, Attempt, Workspace} from './permission.ts';
import type {OutputStore, ToolResult} from './results.ts';

/** The agent that calls, as a tool sees it. */
export interface ToolContext {
  readonly agentId: string;
  readonly callId: string;
  /** Ends the call: Esc, stop, a limit. A tool returns what it has within a second of it. */
  readonly signal: AbortSignal;
  readonly workspace: Workspace;
  readonly files: FileLedger;
  readonly output: OutputStore;
  /** What the caller may still use; a subagent's share comes out of it. */
  readonly tokens: TokenBudget;
  readonly emit: Emit;
  /**
   * One answer of the agent's model outside of the conversation; its tokens are the agent's.
   * @throws ModelError when the call failed; the signal's reason when aborted.
   */
  readonly ask: (question: {readonly system: string; readonly prompt: string}) => Promise<string>;
  /** How this attempt of the call is made: which sandbox confines the processes that it starts. */
  readonly attempt: Attempt;
  /** The files and folders that the call was allowed for, absolute, links resolved: it touches no others. */
  readonly places: readonly string[];
  /** Which files below these places may be looked into, by absolute path; absent: all. */
  readonly mayRead?: (file: string) => boolean;
}

export interface Tool<Input = unknown> {
  readonly name: string;
  /** Prose for the model, from the `.md` file beside the tool. May follow live definitions. */
  readonly description: string;
  readonly input: ZodType<Input>;
  /** A few words that name the call for a person, e.g. the path or the command. */
  title(input: Input): string;
  /** What the call would touch. Paths may be relative to the workspace's cwd. */
  access(input: Input, workspace: Workspace): readonly Access[];
  /** Repairs the model's input before it is checked. The notes say what was repaired. */
  repair?(input: unknown): {readonly input: unknown; readonly notes: readonly string[]};
  /** Text beyond this many characters is cut in the middle and kept whole in a file. Default 30,000. */
  readonly maxChars?: number;
  /** Errors may be thrown: the caller turns them into one error result. */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}

/** What one agent has read and written: it may overwrite only what it has seen as it is now. Paths are absolute, links resolved. */
export interface FileLedger {
  /** The agent has read this content of the file. */
  sawRead(path: string, content: Buffer): void;
  /** The agent has written this content. */
  sawWrite(path: string, content: Buffer): void;
  /**
   * A command of this agent begins. @returns what is to be called at its end: what it changed of the files that agents
   * have seen is its work. The agent itself has not seen that: it reads such a file again before it writes it.
   */
  commandBegins(): () => Promise<void>;
  /** A command of this agent changed these files. */
  commandRan(changed: readonly string[]): Promise<void>;
  /**
   * Passes when the file is as this agent last saw it.
   * @throws MiniCcError `NOT_READ` when it never read it, `STALE` when it changed since; the message names who did it.
   */
  assertFresh(path: string): Promise<void>;
}

/** How many tokens a run may still use, in and out, cache included. */
export interface TokenBudget {
  /** Tokens; infinite without a limit. */
  readonly limit: number;
  readonly left: number;
  readonly isUsedUp: boolean;
  /** The run must report now. */
  readonly isReportDue: boolean;
  spend(usage: Usage): void;
  /**
   * A child's share of what is left.
   * @param wanted the child's own limit; without one it gets half of what is left.
   */
  setAside(wanted?: number): BudgetShare;
}

/** A child's share, until it has ended. */
export interface BudgetShare {
  readonly budget: TokenBudget;
  /** Gives back what the child did not use. */
  release(): void;
}
