/** What a tool is. Checking of input, permission, cutting and errors are done once, in `tool-calls.ts`. */
import type {ZodType} from 'zod';
import type {Emit} from './events.ts';
import type {FileLedger} from './file-ledger.ts';
import type {ToolResultBlock} from './messages.ts';
import type {OutputStore} from './output.ts';
import type {Permitted} from './permissions/request.ts';
import type {TokenBudget} from './token-budget.ts';

/** What a call wants to touch, for permissions and for what may run side by side. */
export type Access =
  | {readonly kind: 'read'; readonly path: string}
  | {readonly kind: 'write'; readonly path: string; readonly preview?: string}
  | {
      readonly kind: 'run';
      readonly command: string;
      /** Asks to run outside of the sandbox that otherwise holds the agent's commands. */
      readonly unconfined?: boolean;
    }
  /** Asks a server of the network; `host` is a name or an address, without port. */
  | {readonly kind: 'fetch'; readonly host: string; readonly url: string}
  | {readonly kind: 'dispatch'; readonly agent: string}
  /** Touches nothing outside the agent itself. */
  | {readonly kind: 'none'};

/**
 * How the operating system holds the processes that an agent starts, see `confinement.ts`.
 * `worktree`: writes stay in a git worktree of its own, in every mode.
 */
export type Confinement = 'none' | 'read-only' | 'workspace-write' | 'worktree';

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
  /** What the call was permitted as; absent where nothing was judged. */
  readonly permitted?: Permitted;
}

/** Where an agent works. `cwd` moves with its `cd`. */
export interface Workspace {
  /** The directory that the session was started for, with links resolved. */
  readonly root: string;
  /** Further directories, by `--add-dir`. */
  readonly extraRoots: readonly string[];
  /** Directories elsewhere that held commands must be able to read, such as what a worktree's git borrows from. */
  readonly seen?: readonly string[];
  cwd: string;
  /** Live: in plan mode everybody is held. */
  readonly confinement: Confinement;
  /** The environment of processes: without keys. */
  readonly env: Readonly<Record<string, string>>;
}

export interface ToolResult {
  readonly content: ToolResultBlock['content'];
  readonly isError?: boolean;
  /** What a person sees beside the tool's line; the model never reads it. */
  readonly display?: ToolDisplay;
  /** What the runtime knows for the receipt. */
  readonly facts?: ToolFacts;
}

export type ToolDisplay =
  | {readonly type: 'diff'; readonly path: string; readonly patch: string}
  | {readonly type: 'todos'; readonly todos: readonly Todo[]}
  | {readonly type: 'text'; readonly text: string};

export interface ToolFacts {
  readonly read?: readonly string[];
  readonly changed?: readonly string[];
  /** Those of them that another agent may have changed. */
  readonly shared?: readonly string[];
  /** Why the files that it changed are not in `changed`. */
  readonly uncounted?: string;
  readonly exitCode?: number;
}

export interface Todo {
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
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
  /** Mends the input as the model sent it before it is checked; says what it mended. */
  repair?(input: unknown): {readonly input: unknown; readonly notes: readonly string[]};
  /** Text beyond this many characters is cut in the middle and kept whole in a file. Default 30,000. */
  readonly maxChars?: number;
  /** Errors may be thrown: the caller turns them into one error result. */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}

export function textResult(text: string, more: Omit<ToolResult, 'content'> = {}): ToolResult {
  return {content: text, ...more};
}

/** For what the model did wrong and can mend: the text tells it how. */
export function errorResult(text: string, more: Omit<ToolResult, 'content' | 'isError'> = {}): ToolResult {
  return {content: text, isError: true, ...more};
}
