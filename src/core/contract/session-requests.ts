/**
 * A session as all front ends see it: five verbs and a subscription. The REPL, print mode, drivers and the library use
 * nothing else. Slash commands in `commands/` are another spelling of requests.
 *
 * To add a request, write its line in `Requests`, and its handler in `session/requests.ts` or, for one of
 * `OuterRequests`, in `compose/`.
 */

import type {AgentEvent, Answer, PermissionMode, Question, SessionInfo, TextLook, ThemeName} from './events.ts';
import type {FanOutReport, FanOutRequest, StoredFanOut, SubagentResults} from './fan-out.ts';
import type {HookListing} from './hook.ts';
import type {McpEntries, McpServerState, McpServersChange} from './mcp.ts';
import type {PromptContent, Thinking, ToolSpec, UsageEntry} from './model.ts';
import type {Denial, PermissionState, RuleChange, RuleTexts, SandboxMode, SandboxState} from './permission.ts';
import type {RunResult, SubagentSummary} from './results.ts';
import type {RunSpec} from './run-spec.ts';
import type {RunRecord, SubagentMark, SubagentResult} from './runs.ts';
import type {RestoredMessage, TranscriptEntry} from './transcript.ts';

/** `run` names a run: its id or the beginning of it, its transcript, or its number in the list, newest first. */
export interface Requests {
  /** @throws UsageError when the name cannot be used */
  set_model(request: {readonly model: string}): ModelInUse;
  /**
   * Sets how much the session's model thinks from its next call on, by level or by tokens. Without either, the setting
   * from the start of the session applies again.
   */
  set_thinking(request: {readonly thinking?: Thinking; readonly thinkingTokens?: number}): void;
  /** Asks the servers for the models that can be chosen, by provider. Never rejects. */
  models(): Promise<readonly ProviderModels[]>;
  /** Sets the mode for all agents of the session at once. */
  set_permission_mode(request: {readonly mode: PermissionMode}): void;
  /** Sets the colours of the screen for this session. Text that is already printed does not change. */
  set_theme(request: {readonly theme: ThemeName}): void;
  /** Replaces the rules of the program that drives the session. @throws MiniCcError `RULE` for an invalid rule */
  set_rules(request: RuleTexts): void;
  /** Lists the session's own tools as a model gets them, without those of MCP servers. */
  tools(): readonly ToolSpec[];
  /** Calls one of the session's tools as a model would, under the same permissions. Never rejects. */
  call_tool(request: {
    readonly name: string;
    readonly input: Readonly<Record<string, unknown>>;
    readonly signal: AbortSignal;
  }): Promise<{readonly content: PromptContent; readonly isError: boolean}>;
  permissions(): PermissionState;
  /** Saves or removes a rule for this project. @throws MiniCcError `RULE` for what is none; the error of the file */
  change_rule(request: {readonly rule: string; readonly change: RuleChange}): Promise<void>;
  sandbox(): Promise<SandboxState>;
  /** Sets the sandbox mode for this session, from the next command on. */
  set_sandbox(request: {readonly mode: SandboxMode}): Promise<SandboxState>;
  /** Lists the hooks of this session with their sources. */
  hooks(): readonly HookListing[];
  /** Lists the MCP servers by name, without starting any. */
  mcp_servers(): readonly McpServerState[];
  /** Starts the servers that may be used and do not run. Never rejects. */
  start_mcp_servers(): Promise<void>;
  /** Reads a resource, as its server sends it. @throws UsageError for an unknown server, MiniCcError when it fails */
  read_mcp_resource(request: {readonly server: string; readonly uri: string}): Promise<unknown>;
  /** Starts a server again. @throws UsageError for an unknown name, MiniCcError when it cannot be started */
  reconnect_mcp_server(request: {readonly server: string}): Promise<McpServerState>;
  /**
   * Turns a server on or off. The tools of a server that is off are not offered.
   * @throws UsageError for an unknown name
   */
  enable_mcp_server(request: {readonly server: string; readonly enabled: boolean}): Promise<McpServerState>;
  /** As `McpControl.logIn`. The address to open is a question to the person. */
  log_in_mcp_server(request: {readonly server: string; readonly signal: AbortSignal}): Promise<McpServerState>;
  /** @returns false when there was no login @throws UsageError for an unknown name */
  log_out_mcp_server(request: {readonly server: string}): Promise<boolean>;
  /** Adds servers to those of the settings, and replaces those that an earlier request added. @throws UsageError */
  set_mcp_servers(request: {readonly servers: McpEntries}): Promise<McpServersChange>;
  /** Lists the agents that may be dispatched, as their files say at this moment. */
  agents(): readonly {readonly name: string; readonly description: string}[];
  /** Says what the session has used, by agent and model, and what is left of its budget. */
  usage(): SessionUsage;
  /** Says what the subagents brought that ended after `since`, or all. The mark says where they end. */
  subagent_summary(request: {readonly since?: SubagentMark}): {
    readonly mark: SubagentMark;
    readonly summary?: SubagentSummary | undefined;
  };
  /** Lists the calls that were refused so far, when no person can be asked. */
  denials(): readonly Denial[];

  /** Lists all runs of the session, oldest first. */
  runs(): readonly RunRecord[];
  /** @throws MiniCcError for an unknown name, as all requests with a `run` do */
  run(request: {readonly run: string}): RunDetails;
  /** Returns the lines of the run's transcript, archived or not. */
  read_run(request: {readonly run: string}): readonly TranscriptEntry[];
  /** Runs a subagent until it ends. A failure is an outcome. @throws UsageError for an unknown agent or tool */
  spawn_run(request: SpawnRun): Promise<SubagentResult>;
  /** Queues a message for the next turn of a run at work. A run that has ended continues in the background. */
  send_to_run(request: {readonly run: string; readonly message: string}): 'queued' | 'resumed';
  /** Stops one run, or all. They end with the result that they have. @returns the runs that were at work */
  stop_runs(request: {readonly run?: string}): Promise<readonly RunRecord[]>;
  /** Sends one awaited run, or all and the commands at work, to the background. @returns the runs that went */
  detach_runs(request: {readonly run?: string}): readonly RunRecord[];
  /** Resolves when no run is at work, including runs that begin in the meantime. */
  wait_for_runs(): Promise<void>;
  /** Shows what all agents of the session changed. */
  diff_session(): Promise<SessionDiff>;
  /** Lists further folders that agents may read and write, besides the session's own. */
  folders(): readonly string[];
  /** Adds one folder for this session. @returns all of them @throws UsageError when there is no such folder */
  add_folder(request: {readonly folder: string}): readonly string[];
  diff_run(request: {readonly run: string}): Promise<RunDiff>;
  /**
   * Restores the files that a run changed, unless they have changed since.
   * @throws MiniCcError while the run is at work
   */
  undo_run(request: {readonly run: string}): Promise<RestoredFiles & {readonly record: RunRecord}>;

  /**
   * Splits the work of one instruction on many files among several runs, and resolves when they have ended.
   * @throws UsageError for wrong files or tools
   */
  fan_out(request: FanOutRequest): Promise<FanOutReport>;
  /** Returns the last fan-out of the session, and the results of those that ended in this process. */
  fan_outs(): {readonly last?: StoredFanOut; readonly results: readonly SubagentResults[]};
  /**
   * Undoes everything that the last fan-out changed.
   * @throws UsageError when there is none, MiniCcError while it is at work
   */
  undo_fan_out(): Promise<RestoredFiles & {readonly fanOut: StoredFanOut}>;

  /** Ends the turn and every run that it started, and drops the queue. The session stays open. */
  stop(): Promise<Stopped>;
  /** Ends the wait of a prompt for background runs, which go on. Their announcements wait for the next prompt. */
  release_prompt(): void;
  /** Takes back a queued message. @returns its content, or undefined when it is not in the queue */
  take_back(request: {readonly id: string}): PromptContent | undefined;
  /** Begins a new conversation. @returns the id of the old one, whose transcript stays */
  clear(): Promise<{readonly previous: string}>;
  /** Lists the sessions of this directory, newest first. @throws MiniCcError `SESSION_BUSY` while a turn is at work */
  sessions(request: {readonly withText?: boolean}): readonly SessionSummary[];
  /**
   * Continues another session of this directory.
   * @returns the id of the session that was left
   * @throws MiniCcError `SESSION_BUSY` while something is at work; UsageError when the other session cannot be opened.
   *   This session then stays open.
   */
  resume(request: {readonly session: string; readonly takeOver?: boolean}): Promise<{readonly previous: string}>;
  /** Returns the conversation as messages, including what was summarized and results in full. */
  transcript(): readonly RestoredMessage[];
  /** Lists the prompts to which `rewind` can go back, newest first. @throws MiniCcError while something is at work */
  rewind_points(): readonly RewindPoint[];
  /** Counts what each prompt changed in files, by the ids of the points. @throws MiniCcError while something is at work */
  rewind_changes(): Promise<Readonly<Record<string, ChangedLines>>>;
  /** Says what `rewind` would do to files, and changes nothing. @throws MiniCcError while something is at work */
  rewind_files(request: {readonly to: string}): Promise<FilesToRestore>;
  /**
   * Takes the conversation, the files or both back to the point before a prompt.
   * @param keepNew true when files that were created since must stay
   * @returns the prompt, and the files unless only the conversation went back
   * @throws MiniCcError while something is at work
   */
  rewind(request: {
    readonly to: string;
    readonly what: RewindScope;
    readonly keepNew?: boolean;
  }): Promise<{readonly point: RewindPoint; readonly files?: RestoredFiles}>;

  /**
   * Replaces the older part of the conversation by a summary.
   * @param focus what the summary should preserve above all
   * @returns what was done, in one line; undefined when there is no older part
   * @throws MiniCcError while a turn is at work
   */
  compact(request: {readonly focus?: string}): Promise<string | undefined>;
  /** Lists what fills the model's context window. */
  context(): Promise<ContextUse>;

  /**
   * Finds files and folders below the session's folder by parts of their names, best first, as relative paths. Folders
   * end with a slash. The list is empty when another search began in the meantime.
   * @throws MiniCcError `RIPGREP`
   */
  find_files(request: {readonly query: string}): Promise<readonly string[]>;
  /**
   * Runs a shell command that the user typed: without a question, without a sandbox, and with the `cwd` that the last
   * such command left. `abort` ends it. The model reads the command and its output with the next prompt.
   */
  run_command(request: {readonly command: string}): Promise<CommandOutput>;

  /** Runs the command of the setting `statusLine`. @returns its output; an empty text without one, and when it fails */
  status_line(): Promise<string>;
  /**
   * Asks the session's model to explain the call of an open question in a few sentences.
   * @throws MiniCcError, ModelError
   */
  explain_call(request: {readonly question: string}): Promise<string>;
  /** Adds a text that the model reads with the next prompt. @param label name of the text for a person */
  tell(request: {readonly text: string; readonly label: string}): void;
  /** Removes the values of known keys from a text that a front end shows or stores besides events and answers. */
  redact(request: {readonly text: string}): string;
}

export type RequestName = keyof Requests;

/** For example `{type: 'set_model', model: 'haiku'}`. */
export type Request<N extends RequestName = RequestName> = {readonly type: N} & (Parameters<Requests[N]> extends [
  infer Parameters,
]
  ? Parameters
  : unknown);

/** Plain data without known keys, or a promise of it when the answer takes time. */
export type RequestAnswer<N extends RequestName> = ReturnType<Requests[N]>;

export interface ProviderModels {
  readonly provider: string;
  readonly models: readonly ListedModel[];
  /** Reason why the server gave no list, in one line. */
  readonly problem?: string;
}

export interface ListedModel {
  /** Name that `set_model` accepts. */
  readonly name: string;
  /** Id at its server. */
  readonly id: string;
  /** Tokens of its window, by the settings or by what is known of its name. Absent when that is not known. */
  readonly window?: number;
  /** US dollars for a million tokens. Absent when the price is not known. */
  readonly price?: {readonly input: number; readonly output: number};
  /** Absent when it is not known whether it thinks. */
  readonly thinks?: boolean;
}

interface ModelInUse {
  readonly model: string;
  /**
   * True when the built-in model answers. Without a key and a server it stays, even when another name was asked for.
   */
  readonly offline: boolean;
}

/** All numbers are tokens. */
export interface ContextUse {
  readonly model: string;
  /** Tokens of a request and its reply together. */
  readonly window: number;
  /** Tokens that are set aside for the reply. */
  readonly reserve: number;
  /** Tokens that a request may have. */
  readonly limit: number;
  /** True when no server has counted the tokens yet. */
  readonly isEstimate: boolean;
  readonly parts: readonly ContextPart[];
}

export interface ContextPart {
  readonly name: string;
  readonly tokens: number;
}

export interface SessionUsage {
  /** Usage including what the session used before it was resumed. */
  readonly entries: readonly UsageEntry[];
  /** Usage since the session was started or resumed. */
  readonly current: readonly UsageEntry[];
  /** Date of the built-in list of prices. */
  readonly pricesAsOf: string;
  /** US dollars. Absent when there is no limit. */
  readonly budget?: {readonly limitUsd: number; readonly spentUsd: number; readonly setAsideUsd: number};
}

export interface CommandOutput {
  /** Output, shortened as for the tool bash. Its last line says how the command ended, unless it succeeded. */
  readonly output: string;
  readonly succeeded: boolean;
}

export interface RunDetails {
  readonly record: RunRecord;
  /** Milliseconds since the epoch. Absent while the run is at work, when it is archived, and when it never will be. */
  readonly archiveAt?: number;
}

interface SpawnRun extends Pick<RunSpec, 'agent' | 'description' | 'limits'> {
  /** Default: a new id. */
  readonly runId?: string;
  readonly prompt: string;
  /** The only tools of the agent that the run has. */
  readonly tools?: readonly string[];
  /** Ends the run. Without it, only `stop_runs` does. */
  readonly signal?: AbortSignal;
}

/** What checkpoints do not know about the commands that ran. */
export interface CheckpointGaps {
  /** Reasons why the changes of some commands are not known. */
  readonly reasons: readonly string[];
  /** Folders and files that checkpoints leave out, besides ignored ones. Absent when no command ran. */
  readonly leftOut?: readonly string[];
}

export interface RunDiff {
  readonly record: RunRecord;
  readonly files: number;
  /** Patches in the format of `git diff`, one for each stretch of changes to a file. */
  readonly patches: readonly string[];
  readonly gaps: CheckpointGaps;
}

/** Changes to one file in the format of `git diff`. `path` is absolute. */
export interface FileDiff {
  readonly path: string;
  readonly patch: string;
}

export interface SessionDiff {
  readonly files: readonly FileDiff[];
  readonly gaps: CheckpointGaps;
}

export interface RestoredFiles {
  readonly restored: readonly {readonly path: string; readonly how: 'put back' | 'removed' | 'brought back'}[];
  /** Files that were left as they are. */
  readonly left: readonly {readonly path: string; readonly why: string}[];
  readonly gaps: CheckpointGaps;
}

export interface ChangedLines {
  readonly files: number;
  readonly added: number;
  readonly removed: number;
}

export interface FilesToRestore {
  readonly restored: readonly string[];
  /** Files that were created since. */
  readonly deleted: readonly string[];
}

export interface Stopped {
  /** True when a turn or a run was at work. */
  readonly wasBusy: boolean;
  /** Number of runs that were at work. */
  readonly runs: number;
}

/** What is known about a stored session without opening it. */
export interface SessionSummary {
  readonly id: string;
  /** Time of the last write, in milliseconds since the epoch. */
  readonly at: number;
  /** Number of messages in the transcript, including those that were taken back. */
  readonly messages: number;
  /** The first prompt. */
  readonly prompt: string;
  /**
   * The prompts and answers, without calls and their results. A very long text is cut to its end. Present only on
   * request.
   */
  readonly text?: string;
  /** Git branch that was checked out when the session began. */
  readonly branch?: string;
  /** Present when the session is damaged: what is wrong and what the user can do. */
  readonly problem?: string;
  /**
   * Holder of the lock, when it is a process of another machine or container. The session then opens only with
   * `takeOver`.
   */
  readonly lockedBy?: string;
}

/** A prompt in the transcript. */
export interface RewindPoint {
  /** Id of the prompt's line in the transcript. */
  readonly uuid: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
  readonly messageId?: string | undefined;
  /** Number of messages from the prompt on. */
  readonly dropped: number;
}

export type RewindScope = 'conversation' | 'files' | 'both';

export interface Session {
  /** Plain data without known keys. */
  readonly info: SessionInfo;
  /** Takes a prompt, a slash command, or `Task(agent): …`. Resolves when what it started has ended; never rejects. */
  submit(input: string | Prompt): Promise<SubmitResult>;
  /** @throws what `Requests` says for each name; MiniCcError `UNSUPPORTED_REQUEST` for an unknown name */
  request<N extends RequestName>(request: Request<N>): RequestAnswer<N>;
  /** Answers the question with this id. Unknown and settled ids are ignored. */
  answer(askId: string, answer: Answer): void;
  /**
   * Interrupts the current turn with its tools and foreground subagents, and prompts and commands that have no turn yet,
   * e.g. while hooks are asked about them.
   */
  abort(): void;
  /** Ends everything and closes the transcript. Callers may call it twice. */
  close(): Promise<void>;
  /** @returns a function that ends the subscription. A listener must not throw. */
  subscribe(listener: (event: AgentEvent) => void): () => void;
}

/**
 * A piece of a command file: its own text, words that followed the command's name, or a shell command that is replaced
 * by its output. Files are attached only from the file's own text, and from words that a person typed in a terminal.
 */
export interface PromptPiece {
  readonly kind: 'text' | 'arguments' | 'command';
  readonly text: string;
}

export interface Prompt {
  readonly content: PromptContent;
  /**
   * True when a person typed it into a terminal. It may then be `!command` or `#note`, and files that it names by
   * `@path` are attached.
   */
  readonly typed?: boolean;
  /** True when the model gets it as it is, even if it looks like a command or mentions an agent. */
  readonly verbatim?: boolean | undefined;
  /** Id by which a queued prompt is taken back. Default: a new id. */
  readonly id?: string;
  /** Id of the message in the program that sent it. It stays in the transcript, and the rewind point has it. */
  readonly messageId?: string | undefined;
  /**
   * Present when `content` is the text of a command file. Its turn has these rules and this model. `line` is what was
   * typed.
   */
  readonly command?: {
    readonly line: string;
    readonly pieces: readonly PromptPiece[];
    readonly allowedTools: readonly string[];
    readonly model?: string;
    /** Present when a subagent works on it. Its run has this model. */
    readonly fork?: {readonly agent: string; readonly description: string} | undefined;
  };
  /** Present when it is the instruction of a fan-out. `continue` runs the missing parts of the last fan-out. */
  readonly fanOut?: 'new' | 'continue';
}

export type SubmitResult =
  /** `input` is the text of a prompt that was stopped before it was sent. The input field gets it back. */
  | {readonly type: 'turn'; readonly result: RunResult; readonly input?: string}
  /** A slash command ran. Its text went out as notices. `exit` asks the front end to close. */
  | {
      readonly type: 'command';
      readonly ok: boolean;
      readonly text: string;
      /** Present when the text is what a shell command printed, also where that failed. */
      readonly isOutput?: true;
      readonly exit: boolean;
      /** Text to put into the input field, unless something is typed there. */
      readonly input?: string;
    }
  /** A turn is under way. The prompt waits and reaches the model at its next step. */
  | {readonly type: 'queued'; readonly id: string};

/** A question of a command, whose detail is a text. Without options and a list the person types a line. */
export type CommandQuestion = Omit<Question, 'id' | 'agent' | 'detail' | 'detailType' | 'options'> &
  Partial<Pick<Question, 'detail' | 'options'>>;

/** What a slash command can use. The command returns its text, and the session emits it. */
export interface CommandContext {
  readonly args: string;
  readonly info: SessionInfo;
  readonly request: Session['request'];
  /** Ends the command. */
  readonly signal: AbortSignal;
  /** Shows a line before the command ends. */
  say(text: string): void;
  /** Asks the person. @returns undefined when no person can be asked, and when the person interrupted */
  ask(question: CommandQuestion): Promise<Answer | undefined>;
  /** Asks the session's model once, outside the conversation, for JSON that matches the schema. @throws ModelError */
  complete(prompt: string, schema: Readonly<Record<string, unknown>>): Promise<string>;
}

export interface CommandResult {
  readonly ok: boolean;
  readonly text: string;
  /** See `SubmitResult`. Without it, the text of a result that is not ok is an error message. */
  readonly isOutput?: true;
  readonly exit?: boolean;
  readonly look?: TextLook;
  /** Text to put into the input field if nothing is typed there. The person may send it again or change it. */
  readonly input?: string;
  /** Prompt that is submitted instead of the command. */
  readonly prompt?: Prompt;
}

export interface Command {
  readonly name: string;
  readonly description: string;
  /** Text for a person: what follows the name. */
  readonly argumentHint?: string;
  /** True for a file that cannot be used. The command only says why, and no list has it. */
  readonly isBroken?: true;
  /** Runs the command. The session shows an exception as an error. */
  run(context: CommandContext): Promise<CommandResult> | CommandResult;
}
