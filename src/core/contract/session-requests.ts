/**
 * A session as all front ends see it: five verbs and a subscription. REPL, print mode, drivers and library use no more.
 * Slash commands are a spelling of requests: `commands/` holds them.
 *
 * To add a request, write its line in `Requests` and its handler in `session/requests.ts`.
 */

import type {AgentEvent, Answer, PermissionMode, Question, SessionInfo, ThemeName} from './events.ts';
import type {FanOutReport, FanOutRequest, StoredFanOut, SubagentResults} from './fan-out.ts';
import type {HookListing} from './hook.ts';
import type {McpEntries, McpServerState, McpServersChange} from './mcp.ts';
import type {PromptContent, Thinking, UsageEntry} from './model.ts';
import type {Denial, PermissionState, RuleTexts, SandboxMode, SandboxState} from './permission.ts';
import type {RunResult} from './results.ts';
import type {RunSpec} from './run-spec.ts';
import type {RunRecord, SubagentResult} from './runs.ts';
import type {RestoredMessage, TranscriptEntry} from './transcript.ts';

/** `run` names a subagent run: its id or the beginning of it, its transcript, or its number in the list, 1 is the newest. */
export interface Requests {
  /** @throws UsageError when the name cannot be used. */
  set_model(request: {readonly model: string}): ModelInUse;
  /** How much the session's model thinks, from its next call on: by a level, or by tokens. Neither: as at the start. */
  set_thinking(request: {readonly thinking?: Thinking; readonly thinkingTokens?: number}): void;
  /** The models that can be chosen, by provider. Asks the servers; never rejects. */
  models(): Promise<readonly ProviderModels[]>;
  /** For all agents of the session, at once. */
  set_permission_mode(request: {readonly mode: PermissionMode}): void;
  /** The colours of the screen, for this session. What is printed keeps its own. */
  set_theme(request: {readonly theme: ThemeName}): void;
  /** Rules of the program that drives the session, in place of those it set before. @throws MiniCcError `RULE` for what is none */
  set_rules(request: RuleTexts): void;
  /** The mode, the rules and what was granted. */
  permissions(): PermissionState;
  /** What confines commands. */
  sandbox(): Promise<SandboxState>;
  /** For this session, from the next command on. */
  set_sandbox(request: {readonly mode: SandboxMode}): Promise<SandboxState>;
  /** The hooks of this session, with where they come from. */
  hooks(): readonly HookListing[];
  /** MCP servers, in the order of their names. Starts none. */
  mcp_servers(): readonly McpServerState[];
  /** Starts those that may be used and do not run. Never rejects. */
  start_mcp_servers(): Promise<void>;
  /** Starts a server anew. @throws UsageError for an unknown name, MiniCcError when it cannot be started */
  reconnect_mcp_server(request: {readonly server: string}): Promise<McpServerState>;
  /** Of a server that is off no tool is offered. @throws UsageError for an unknown name */
  enable_mcp_server(request: {readonly server: string; readonly enabled: boolean}): Promise<McpServerState>;
  /** Adds servers to those of the settings, in place of those that were added so before. @throws UsageError */
  set_mcp_servers(request: {readonly servers: McpEntries}): Promise<McpServersChange>;
  /** The agents that may be dispatched, as their files are now. */
  agents(): readonly {readonly name: string; readonly description: string}[];
  /** What the session has used, by agent and model, and what its budget has left. */
  usage(): SessionUsage;
  /** Calls that were refused so far, where no person can be asked. */
  denials(): readonly Denial[];

  /** All runs of the session, oldest first. */
  runs(): readonly RunRecord[];
  /** @throws MiniCcError for a name that is unknown. All requests with a `run` throw it. */
  run(request: {readonly run: string}): RunDetails;
  /** The lines of the run's transcript, archived or not. */
  read_run(request: {readonly run: string}): readonly TranscriptEntry[];
  /** Runs a subagent to its end. A failure is an outcome. @throws UsageError for an unknown agent or tool. */
  spawn_run(request: SpawnRun): Promise<SubagentResult>;
  /** Gives a run at work a message for its next turn; lets one that has ended go on, in the background. */
  send_to_run(request: {readonly run: string; readonly message: string}): 'queued' | 'resumed';
  /** Ends one run, or all: for good, with what they have. @returns those that were at work. */
  stop_runs(request: {readonly run?: string}): Promise<readonly RunRecord[]>;
  /** Sends one awaited run, or all, to the background. @returns those that went. */
  detach_runs(request: {readonly run?: string}): readonly RunRecord[];
  /** Resolves when no run is at work, also none that began meanwhile. */
  wait_for_runs(): Promise<void>;
  /** What all agents of the session changed. */
  diff_session(): Promise<SessionDiff>;
  /** Further folders that agents may read and write, besides the session's own. */
  folders(): readonly string[];
  /** One more, for this session. @returns all. @throws UsageError when there is no such folder */
  add_folder(request: {readonly folder: string}): readonly string[];
  diff_run(request: {readonly run: string}): Promise<RunDiff>;
  /** Puts back what a run changed, unless it changed since. @throws MiniCcError while the run is at work. */
  undo_run(request: {readonly run: string}): Promise<RunUndone>;

  /** Does the work of one instruction on many files by several runs, to its end. @throws UsageError for wrong files or tools */
  fan_out(request: FanOutRequest): Promise<FanOutReport>;
  /** The last fan-out of the session, and the results of those that ended in this process. */
  fan_outs(): {readonly last?: StoredFanOut; readonly results: readonly SubagentResults[]};
  /** Takes back all that the last fan-out changed. @throws UsageError when there is none, MiniCcError while it is at work */
  undo_fan_out(): Promise<FanOutUndone>;

  /** Ends the turn and every run started from it, and drops the queue. The session stays. */
  stop(): Promise<Stopped>;
  /** Takes back a queued message. @returns what it was; undefined when it does not wait any more. */
  take_back(request: {readonly id: string}): PromptContent | undefined;
  /** Begins a new conversation. @returns the old one's id; its transcript stays. */
  clear(): Promise<{readonly previous: string}>;
  /** The sessions of this directory, the one that was written last first. */
  sessions(): readonly SessionSummary[];
  /**
   * Goes on with another session of this directory. @returns the id of the one that was left.
   * @throws MiniCcError `SESSION_BUSY` while something is at work, UsageError when it cannot be opened: then this one stays
   */
  resume(request: {readonly session: string; readonly takeOver?: boolean}): Promise<{readonly previous: string}>;
  /**
   * A part of all that was said, as messages: also what was summarized, and results in full. @param from the number of the
   * first one, from 0; a negative one counts from the end. @param to the number after the last one; default: all. @returns also how many there are in all
   */
  transcript(request: {readonly from: number; readonly to?: number}): TranscriptPart;
  /** The prompts to which `rewind` can go back, newest first. @throws MiniCcError while something is at work. */
  rewind_points(): readonly RewindPoint[];
  /** What `rewind` would do to files now; nothing is changed. @throws MiniCcError while something is at work. */
  rewind_files(request: {readonly to: string}): Promise<FilesToRestore>;
  /**
   * Takes the conversation, the files or both back to before a prompt. @param keepNew files that were made since stay.
   * @throws MiniCcError while something is at work
   */
  rewind(request: {readonly to: string; readonly what: RewindScope; readonly keepNew?: boolean}): Promise<Rewound>;

  /**
   * Puts a summary in the place of the older part of the conversation. @param focus what it should keep above all.
   * @returns false when there is no older part. @throws MiniCcError while a turn is at work
   */
  compact(request: {readonly focus?: string}): Promise<boolean>;
  /** What fills the model's context window. */
  context(): Promise<ContextUse>;

  /**
   * Files and folders below the session's folder by parts of their names, best first, as paths relative to it; folders end
   * with a slash. None when another search began meanwhile. @throws MiniCcError `RIPGREP`
   */
  find_files(request: {readonly query: string}): Promise<readonly string[]>;
  /**
   * Runs a shell command as the user, who typed it: no question, no sandbox, its cwd kept from one to the next. `abort` ends
   * it. The model reads the command and its output with the next prompt.
   */
  run_command(request: {readonly command: string}): Promise<CommandOutput>;

  /** What the call of an open question does, in a few sentences of the session's model. @throws MiniCcError, ModelError */
  explain_call(request: {readonly question: string}): Promise<string>;
  /** Puts a text before the model with the next prompt. @param label what it is, for a person */
  tell(request: {readonly text: string; readonly label: string}): void;
  /** The text without the values of known keys: for what a front end shows or stores besides events and answers. */
  redact(request: {readonly text: string}): string;
}

export type RequestName = keyof Requests;

/** For example `{type: 'set_model', model: 'haiku'}`. */
export type Request<N extends RequestName = RequestName> = {readonly type: N} & (Parameters<Requests[N]> extends [
  infer Parameters,
]
  ? Parameters
  : unknown);

/** Plain data without known keys; a promise of it where the answer takes time. */
export type RequestAnswer<N extends RequestName> = ReturnType<Requests[N]>;

export interface ProviderModels {
  readonly provider: string;
  /** As `set_model` takes them. */
  readonly models: readonly string[];
  /** Why its server gave no list, in one line. */
  readonly problem?: string;
}

interface ModelInUse {
  readonly model: string;
  /** The built-in model answers. Without a key and a server it stays, also when another name was asked for. */
  readonly offline: boolean;
}

/** In tokens. */
export interface ContextUse {
  readonly model: string;
  /** Of a request and its reply together. */
  readonly window: number;
  /** Set aside for the reply. */
  readonly reserve: number;
  /** What a request may have. */
  readonly limit: number;
  /** No server has counted yet. */
  readonly isEstimate: boolean;
  readonly parts: readonly ContextPart[];
}

export interface ContextPart {
  readonly name: string;
  readonly tokens: number;
}

export interface SessionUsage {
  /** Also of what the session used before it was resumed. */
  readonly entries: readonly UsageEntry[];
  /** Since it was started or resumed. */
  readonly current: readonly UsageEntry[];
  /** The date of the built-in list of prices. */
  readonly pricesAsOf: string;
  /** US dollars. Absent without a limit. */
  readonly budget?: {readonly limitUsd: number; readonly spentUsd: number; readonly setAsideUsd: number};
}

export interface CommandOutput {
  /** Cut as the output of the tool bash. Its last line says how the command ended, unless it succeeded. */
  readonly output: string;
  readonly succeeded: boolean;
}

export interface RunDetails {
  readonly record: RunRecord;
  /** Milliseconds since the epoch; absent while it is at work, when it is archived, and when it never will be. */
  readonly archiveAt?: number;
}

interface SpawnRun extends Pick<RunSpec, 'agent' | 'description' | 'limits'> {
  /** Default: a new id. */
  readonly runId?: string;
  readonly prompt: string;
  /** Only these of the agent's tools. */
  readonly tools?: readonly string[];
}

/** What checkpoints cannot tell about the commands that ran. */
export interface CheckpointGaps {
  /** Why it is not known what some commands changed. */
  readonly reasons: readonly string[];
  /** Absent when no command ran. Folders and files that checkpoints leave out, besides ignored ones. */
  readonly leftOut?: readonly string[];
}

export interface RunDiff {
  readonly record: RunRecord;
  readonly files: number;
  /** As `git diff` writes them, one for each stretch of changes to a file. */
  readonly patches: readonly string[];
  readonly gaps: CheckpointGaps;
}

/** One file, by its absolute path, and its changes as `git diff` writes them. */
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
  /** Nothing was done to these. */
  readonly left: readonly {readonly path: string; readonly why: string}[];
  readonly gaps: CheckpointGaps;
}

/** Absolute paths. */
export interface FilesToRestore {
  readonly restored: readonly string[];
  /** They were made since. */
  readonly deleted: readonly string[];
}

interface RunUndone extends RestoredFiles {
  readonly record: RunRecord;
}

interface FanOutUndone extends RestoredFiles {
  readonly fanOut: StoredFanOut;
}

export interface Stopped {
  /** A turn or a run was at work. */
  readonly wasBusy: boolean;
  /** Runs that were at work. */
  readonly runs: number;
}

/** What is known of a stored session without opening it. */
export interface SessionSummary {
  readonly id: string;
  /** When it was written to last, in milliseconds since the epoch. */
  readonly at: number;
  /** All of its transcript, also those that were taken back. */
  readonly messages: number;
  /** The first one. */
  readonly prompt: string;
  /** That git had checked out when it began. */
  readonly branch?: string;
  /** It is damaged: what is wrong, and what can be done. */
  readonly problem?: string;
  /** Who has it locked, where that is a process of another machine or container: it opens only with `takeOver`. */
  readonly lockedBy?: string;
}

export interface TranscriptPart {
  readonly messages: readonly RestoredMessage[];
  readonly count: number;
}

/** A prompt in the transcript. */
export interface RewindPoint {
  /** Of its line. */
  readonly uuid: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
  /** Messages from it on. */
  readonly dropped: number;
}

export type RewindScope = 'conversation' | 'files' | 'both';

interface Rewound {
  readonly point: RewindPoint;
  /** Absent where only the conversation went back. */
  readonly files?: RestoredFiles;
}

export interface Session {
  /** Plain data without known keys. */
  readonly info: SessionInfo;
  /** A prompt, a slash command, or `Task(agent): …`. Resolves when what it started has ended; never rejects. */
  submit(input: string | Prompt): Promise<SubmitResult>;
  /** @throws what `Requests` says for each; MiniCcError `UNSUPPORTED_REQUEST` for a name that is not there. */
  request<N extends RequestName>(request: Request<N>): RequestAnswer<N>;
  /** Answers the question with this id. Unknown and settled ids are ignored. */
  answer(askId: string, answer: Answer): void;
  /** Interrupts the turn under way, its tools and foreground subagents. Without a turn it does nothing. */
  abort(): void;
  /** Ends everything and closes the transcript. May be called twice. */
  close(): Promise<void>;
  /** @returns the way to stop listening. A listener must not throw. */
  subscribe(listener: (event: AgentEvent) => void): () => void;
}

/** What a person sends. */
export interface Prompt {
  readonly content: PromptContent;
  /** A person typed it into a terminal: it may be `!command` or `#note`, and the files that it names by `@path` go along. */
  readonly typed?: boolean;
  /** By which a queued prompt is taken back. Default: a new id. */
  readonly id?: string;
  /** It is the text of a command file: `!`…`` in it are run, and its turn has these rules and this model. `line` is what was typed. */
  readonly command?: {readonly line: string; readonly allowedTools: readonly string[]; readonly model?: string};
  /** It is the instruction of a fan-out. `continue`: the last fan-out goes on with the parts that are missing. */
  readonly fanOut?: 'new' | 'continue';
}

export type SubmitResult =
  /** A turn ran to its end. */
  | {readonly type: 'turn'; readonly result: RunResult}
  /** A slash command ran; its text went out as notices. `exit`: the front end should close. */
  | {
      readonly type: 'command';
      readonly ok: boolean;
      readonly text: string;
      readonly exit: boolean;
      /** What the prompt should hold now, unless something is typed there. */
      readonly input?: string;
    }
  /** A turn is under way: the prompt waits, and reaches the model at its next step. */
  | {readonly type: 'queued'; readonly id: string};

/** What a slash command works with. It returns its text, and the session emits it. */
export interface CommandContext {
  /** What was typed after the command's name. */
  readonly args: string;
  readonly info: SessionInfo;
  readonly request: Session['request'];
  /** Shows a line before the command ends. */
  say(text: string): void;
  /** Undefined where no person can be asked, and when the person interrupted. */
  ask(question: Omit<Question, 'id' | 'agent'>): Promise<Answer | undefined>;
  /** One answer of the session's model outside the conversation, as JSON by the schema. @throws ModelError */
  complete(prompt: string, schema: Readonly<Record<string, unknown>>): Promise<string>;
}

export interface CommandResult {
  readonly ok: boolean;
  readonly text: string;
  readonly exit?: boolean;
  /** The text is a unified diff, with lines around it. */
  readonly isDiff?: boolean;
  /** For the prompt, where nothing is typed: the person may send it again, or change it. */
  readonly input?: string;
  /** What is submitted in place of the command. */
  readonly prompt?: Prompt;
}

export interface Command {
  readonly name: string;
  readonly description: string;
  /** What follows the name, for a person to read. */
  readonly argumentHint?: string;
  /** The user or the project brought it. */
  readonly isCustom?: boolean;
  /** What it throws is shown as an error. */
  run(context: CommandContext): Promise<CommandResult> | CommandResult;
}
