/**
 * The types of the package `mini-cc`. The build ships this file with the types of `evals/result-types.ts` in the place of
 * their export. Nothing else is imported: the packages that mini-cc bundles are not installed with it.
 * `tests/library/public-types.test.ts` asserts that the code keeps to it.
 */
import type {AgentTestResult} from '../evals/result-types.ts';

/** Where and with which model agents work. All is optional: without a key and a server the built-in offline model answers. */
export interface SessionConfig {
  /** Key for the model's server. `ANTHROPIC_API_KEY` and the like in the environment are not read. */
  readonly apiKey?: string;
  readonly baseURL?: string;
  /** The agents' working directory, with its settings and agent definitions. Default: that of the process. */
  readonly cwd?: string;
  /** Where transcripts go. Default: `MINI_CC_HOME`, else `~/.mini-cc`. */
  readonly home?: string;
  /**
   * What agents may do. A program cannot be asked, so what is not allowed is refused: `default` refuses all writing,
   * `acceptEdits` allows changes of files in `cwd`. Default: `default`.
   */
  readonly permissionMode?: 'default' | 'acceptEdits' | 'plan' | 'bypassPermissions';
  /** Writes a log to `<home>/logs/`. Default: false. */
  readonly debug?: boolean;
}

export interface SubagentManagerConfig extends SessionConfig {
  /** Name of the model. Default: as `mini-cc` itself chooses it from the settings. */
  readonly model?: string;
  /** How many runs may work at the same time, at least 1. Default: 8, or 3 for a server on this machine. */
  readonly maxConcurrent?: number;
  /** Milliseconds that a run may take; 0 = no limit. Default: by the kind of agent, 300,000 or 900,000. */
  readonly timeout?: number;
}

export interface SubtaskRequest {
  /** A built-in agent or one of the project. Default: `explore` where `tools` has no writing tool, else `code`. */
  readonly agent_type?: string;
  /** What to do. Give this or `instruction`. */
  readonly prompt?: string;
  readonly instruction?: string;
  /** Files that the task is about; they are listed below the prompt. */
  readonly files?: readonly string[];
  /** Only these of the agent's tools. */
  readonly tools?: readonly string[];
}

export interface SubtaskResult {
  /** For `send`, `stop` and `get`. Absent where the request was wrong, so that no run began. */
  readonly runId?: string;
  readonly success: boolean;
  /** The final answer, or what there was when the run was cut off. */
  readonly summary: string;
  /** Files that its tools changed: absolute paths. */
  readonly changes: readonly string[];
  /** Milliseconds. */
  readonly duration: number;
  /** Why it did not succeed. It begins with `EXECUTION_TIMEOUT` where the time was up. */
  readonly error?: string;
  readonly metadata: {
    /** Names, each once, in the order of their first call. */
    readonly toolsUsed: readonly string[];
    /** In and out, cache included. */
    readonly tokensUsed: number;
    readonly filesRead: readonly string[];
    readonly filesModified: readonly string[];
  };
}

export type RunState = 'created' | 'processing' | 'stopping' | 'idle' | 'error' | 'stopped' | 'removed';
export type Outcome = 'success' | 'error' | 'timeout' | 'limit' | 'stopped' | 'unknown';

/** A run as it is at this moment. */
export interface SubtaskRun {
  readonly runId: string;
  readonly agent: string;
  /** The first words of its prompt. */
  readonly description: string;
  /** `created` until it has a free slot. */
  readonly state: RunState;
  /** How it ended; absent while it works. */
  readonly outcome?: Outcome;
  /** Why it did not succeed. */
  readonly reason?: string;
  /** Its last answer. Only `get` reads it. */
  readonly summary?: string;
  /** Tool calls that ended. */
  readonly tools: number;
  /** The file of its transcript; absent until the run begins. */
  readonly transcript?: string;
}

/**
 * Dispatches tasks to subagents and returns what they found.
 *
 * ```js
 * import {SubagentManager} from 'mini-cc';
 *
 * // 1. A manager for a project. Without a key and a server the built-in offline model answers: nothing is needed to try.
 * const manager = new SubagentManager({cwd: process.cwd(), maxConcurrent: 3});
 *
 * // 2. One task.
 * const found = await manager.spawn({agent_type: 'explore', prompt: 'Where is greet defined?'});
 * console.log(found.success, found.summary, found.metadata.toolsUsed);
 *
 * // 3. Several at once: results in the order of the tasks. A failed task does not affect the others.
 * const results = await manager.spawnParallel([
 *   {instruction: 'Review this file', files: ['src/main.ts'], tools: ['read_file', 'grep', 'glob']},
 *   {instruction: 'List the files in tests', tools: ['glob']},
 * ]);
 * for (const {success, summary, error} of results) console.log(success, summary, error ?? '');
 *
 * // 4. The end: runs that still work are stopped.
 * await manager.close();
 * ```
 */
export declare class SubagentManager {
  /** @throws UsageError when `maxConcurrent` or `timeout` is out of range. */
  constructor(config?: SubagentManagerConfig);
  /**
   * Starts a run and waits for its end. A failed run is a result with `success: false`. For a run in the background, do
   * not await it.
   * @throws UsageError when the request or the configuration is wrong.
   */
  spawn(request: SubtaskRequest): Promise<SubtaskResult>;
  /**
   * All at once, within `maxConcurrent`. Results are in the order of the requests; a wrong request is a failed result.
   * @throws UsageError when the configuration is wrong.
   */
  spawnParallel(requests: readonly SubtaskRequest[]): Promise<SubtaskResult[]>;
  /**
   * Does the same work on many files: parts of them, side by side, each with its own files. Failed parts are in the result.
   * @throws UsageError when no file is meant, a path or a tool is wrong, or the configuration is.
   */
  fanOut(request: FanOutRequest): Promise<FanOutResult>;
  /**
   * To a run at work: it reads the message at its next turn. To a run that has ended: it goes on with its history;
   * `waitAll` waits for it, and then `get` has its new answer.
   * @param run its id, the beginning of its id, or `#2` (`#1` is the newest).
   * @throws MiniCcError `RUN_NOT_FOUND`, and for a run that cannot go on.
   */
  send(run: string, message: string): Promise<'queued' | 'resumed'>;
  /** Ends a run for good and waits for its end; its findings are kept. False when it has ended already.
   * @throws MiniCcError `RUN_NOT_FOUND` */
  stop(runId: string): Promise<boolean>;
  /** Ends all runs that were asked for before this call, also those that wait for a slot. */
  stopAll(): Promise<void>;
  /** @throws MiniCcError `RUN_NOT_FOUND` when there is no run with this id. */
  get(runId: string): SubtaskRun;
  /** All runs, ended ones too, oldest first. A run is in the list from the moment of `spawn`. */
  list(): readonly SubtaskRun[];
  /** How many runs have not ended. */
  count(): number;
  /** Resolves when no run is at work, also none that began meanwhile. */
  waitAll(): Promise<void>;
  /**
   * Calls the listener for each event of each run from now on. A listener that throws is removed.
   * @returns a function that removes the listener.
   */
  subscribe(listener: (event: RunEvent) => void): () => void;
  /** Ends all runs; then `spawn` and `send` throw. May be called twice. */
  close(): Promise<void>;
}

export interface FanOutRequest {
  /** What to do in each file. Each part gets it as it is. */
  readonly instruction: string;
  /** Paths, folders or patterns, relative to `cwd`. Default: those that the instruction means, else all source files. */
  readonly files?: readonly string[];
  /** Default: the setting `fanOut.tools`: `read_file`, `edit_file`, `write_file`. */
  readonly tools?: readonly string[];
}

export interface FanOutResult {
  /** Every part succeeded. */
  readonly success: boolean;
  /** `fan-out: 3 agents · 3 ok · …`, and a line for each further fact. */
  readonly summary: string;
  readonly subagentResults: {
    readonly total: number;
    readonly successful: number;
    readonly failed: number;
    readonly filesModified: number;
  };
  /** Paths of the files that are different now. */
  readonly changes: readonly string[];
  readonly parts: readonly {
    readonly files: readonly string[];
    readonly runId?: string;
    readonly outcome?: Outcome;
    /** Why it did not succeed. */
    readonly reason?: string;
  }[];
  /** Milliseconds. */
  readonly duration: number;
}

/** A part of a message. `type` says which fields there are: `text`; `tool_use`: id, name, input; `tool_result`: content. */
export interface ContentBlock {
  readonly type: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: unknown;
}

/** As the Messages API of Anthropic writes it. */
export interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string | readonly ContentBlock[];
}

/** Tokens. */
export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
}

/** A run that is ready to start. Only `createAgentRun` makes one. */
export interface AgentRun {
  readonly sessionId: string;
  /** The file of its transcript. */
  readonly transcript: string;
  readonly history: {
    readonly messages: readonly Message[];
    /** Adds a message of the user: call `runAgent` again to have it answered. */
    appendPrompt(text: string): void;
  };
  /** Ends the run and closes its transcript. Call it when you need the run no more. May be called twice. */
  close(): Promise<void>;
}

export interface AgentRunOptions extends SessionConfig {
  readonly prompt: string;
  /** Name of a model, or a model of your own. Default: as `mini-cc` itself chooses it from the settings. */
  readonly model?: string | CustomModel;
  /** Run as this agent, with its prompt and tools. Default: the main agent of `mini-cc`, without the tools of Task. */
  readonly agent_type?: string;
  /** Names of built-in tools, and tools of your own. Default: all built-in tools of the agent. */
  readonly tools?: readonly (string | CustomTool)[];
  /** Permission rules of what is allowed and refused, e.g. `bash(npm test)`. */
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  /** Model calls, at least 1. Default: no limit. */
  readonly maxTurns?: number;
  /** Milliseconds that the run may take; 0 = no limit. Default: 0. */
  readonly timeout?: number;
  /** Id of an earlier session: the run goes on with its history. */
  readonly resume?: string;
  /** Stops the run. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: RunEvent) => void;
}

/** A tool of your own. It runs without a question: what it may do is up to your code. */
export interface CustomTool {
  readonly name: string;
  /** What it does and when to use it: the model reads this. */
  readonly description: string;
  /** JSON Schema of the input, of type `object`. Input that does not match is refused before `run`. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /**
   * Returns what the model reads. An error that it throws becomes the error result of the call.
   * @param context `signal` is aborted when the run ends.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the schema says what it is, and the compiler cannot read the schema
  run(input: any, context: {readonly signal: AbortSignal; readonly cwd: string}): string | Promise<string>;
}

/** A model of your own, e.g. a scripted one for tests. */
export interface CustomModel {
  readonly name: string;
  /** Tokens that a request and its reply may have together. Default: 200,000. */
  readonly contextWindow?: number;
  /** Tokens that a reply may have. Default: 16,384. */
  readonly maxOutputTokens?: number;
  /** Returns a text, or content blocks; a block `{type: 'tool_use', id, name, input}` calls a tool. */
  reply(request: ModelRequest): CustomReply | Promise<CustomReply>;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly {readonly name: string; readonly description?: string; readonly input_schema: object}[];
  readonly signal: AbortSignal;
}

export type CustomReply = string | {readonly content: readonly ContentBlock[]; readonly usage?: Partial<Usage>};

/** How a run ended. */
export type RunResult = {
  /** The final answer, or what there was when the run was cut off. */
  readonly text: string;
  readonly usage: Usage;
  /** Model calls made. */
  readonly turns: number;
  /** Tool calls, in order. */
  readonly tools: readonly {readonly tool: string; readonly isError: boolean}[];
  readonly durationMs: number;
} & (
  | {readonly outcome: 'success'}
  | {readonly outcome: 'stopped'}
  /** Which limit ended it, e.g. `50 turns`, or `no_progress`, which `reason` says in words. */
  | {readonly outcome: 'limit'; readonly limit: string; readonly reason?: string}
  /** Which time was up, e.g. `timed out after 60 s`. */
  | {readonly outcome: 'timeout'; readonly timeout: string}
  | {readonly outcome: 'error'; readonly error: string; readonly code: string}
);

/**
 * Prepares one run of an agent: a session with its model, tools, permissions and transcript.
 *
 * ```js
 * const run = await createAgentRun({cwd: process.cwd(), prompt: 'Where is greet defined?'});
 * const result = await runAgent(run);
 * console.log(result.outcome, result.text);
 * await run.close();
 * ```
 * @throws UsageError when an option is wrong.
 */
export declare function createAgentRun(options: AgentRunOptions): Promise<AgentRun>;

/** Runs until the end: asks the model, runs the tools that it calls, until it answers or a limit is reached. Never rejects. */
export declare function runAgent(run: AgentRun): Promise<RunResult>;

/** What a run does, as it does it. Events are plain JSON. */
export type RunEvent = {
  /** The run: the id of a subagent's run; `main` for `createAgentRun`. */
  readonly agentId: string;
  /** Counts up over all events. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
} & (
  | {
      readonly type: 'run_start';
      readonly agent: string;
      readonly description: string;
      readonly model: string;
      /** It waits for a free slot; `run_active` follows. */
      readonly queued: boolean;
    }
  | {readonly type: 'run_active'}
  | {readonly type: 'run_state'; readonly state: RunState}
  | {readonly type: 'text_delta' | 'thinking_delta'; readonly text: string}
  | {
      readonly type: 'message';
      readonly role: 'user' | 'assistant';
      readonly content: string | readonly ContentBlock[];
    }
  /** Comes again, with the same id, when a hook or an answer changed what the call does. */
  | {readonly type: 'tool_start'; readonly callId: string; readonly tool: string; readonly title: string}
  /** The last lines of a running command as they are now: they take the place of those before. */
  | {readonly type: 'tool_progress'; readonly callId: string; readonly text: string}
  | {
      readonly type: 'tool_end';
      readonly callId: string;
      readonly tool: string;
      readonly isError: boolean;
      /** The beginning of the result, at most 2,000 characters. */
      readonly preview: string;
      readonly durationMs: number;
    }
  | {readonly type: 'notice'; readonly level: 'info' | 'warning' | 'error'; readonly text: string}
  /** The model call is repeated after this time; what it streamed so far does not count. `fallback`: by another model. */
  | {
      readonly type: 'retry';
      readonly waitMs: number;
      readonly reason: string;
      readonly attempt: number;
      readonly fallback?: {readonly from: string; readonly to: string};
    }
  | {
      readonly type: 'run_end';
      readonly outcome: Outcome;
      readonly reason?: string;
      readonly receipt?: string;
      readonly tools: number;
      readonly durationMs: number;
      readonly usage: Usage;
    }
);

export interface TestAgentOptions extends Omit<SessionConfig, 'permissionMode'> {
  /** Name of the model, for agents that name none. */
  readonly model?: string;
  /** Runs of each case. Default: 1. */
  readonly trials?: number;
  /** Its id. */
  readonly case?: string;
  /** `none`, a git revision, or the file of another definition: what the agent is compared with. */
  readonly baseline?: string;
  /** Name of the model that grades the assertions of the cases. Default: none are graded. */
  readonly judge?: string;
  /** US dollars at most. */
  readonly maxBudgetUsd?: number;
  /** Answers the question that is asked before money is spent or commands of the cases run. Default: false. */
  readonly yes?: boolean;
  /** Trusts what the directory's files ask for, such as commands of its cases, and remembers it. Default: false. */
  readonly trust?: boolean;
  /** Makes runs anew that were made before. Default: false. */
  readonly fresh?: boolean;
  /** Judges the stored runs by today's checks, and makes none. Default: false. */
  readonly regrade?: boolean;
  /** Folder that gets the replies of the model, for `replay`. */
  readonly record?: string;
  /** Folder with recorded replies: the test asks no model, and the result says for each case what changed. */
  readonly replay?: string;
  /** Ends the test; its result has what was made. */
  readonly signal?: AbortSignal;
  /** Gets what the command line would print meanwhile: price, commands, and the end of each trial. */
  readonly onLine?: (line: string) => void;
}

export type * from '../evals/result-types.ts';

/**
 * Measures an agent by the cases of `.mini-cc/evals/NAME.json`, or by those that mini-cc ships for its own agents.
 *
 * ```js
 * const {agents} = await testAgent('explore', {cwd: process.cwd(), trials: 3});
 * console.log(agents[0].summary.pass_rate, agents[0].summary.interval);
 * ```
 * @throws UsageError for a name, an option or a file of cases that is wrong, and where a yes is needed and `yes` is not set.
 */
export declare function testAgent(name: string, options?: TestAgentOptions): Promise<AgentTestResult>;

/** An error that a program can act on. */
export declare class MiniCcError extends Error {
  /** Stable, e.g. `RUN_NOT_FOUND`, `MANAGER_CLOSED`. */
  readonly code: string;
  constructor(code: string, message: string, options?: {cause?: unknown});
}

/** A request, an option or a setting is wrong. Its `code` is `USAGE`. */
export declare class UsageError extends MiniCcError {
  constructor(message: string, options?: {cause?: unknown});
}
