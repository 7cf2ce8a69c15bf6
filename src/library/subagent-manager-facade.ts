/** Subagents for other programs: the same engine, without a conversation around it. */
import {randomUUID} from 'node:crypto';
import {homedir} from 'node:os';
import path from 'node:path';
import {compose} from '../compose.ts';
import type {PermissionMode} from '../core/contract/events.ts';
import {Redactor} from '../core/secrets/redaction.ts';
import type {Session} from '../core/session.ts';
import {MiniCcError, messageOf} from '../core/util/errors.ts';
import {refusal, resultOf, runOf, type SubtaskResult, type SubtaskRun} from './run.ts';
import {agentFor, agentNameOf, checkNumbers, promptOf, type SubtaskRequest} from './task.ts';

export type {SubtaskResult, SubtaskRun} from './run.ts';
export type {SubtaskRequest} from './task.ts';

export interface SubagentManagerConfig {
  /** Without key and server the built-in offline model answers. */
  readonly apiKey?: string;
  readonly baseURL?: string;
  /** Default: as mini-cc itself chooses it. */
  readonly model?: string;
  /** Runs at work at a time, from 1 on. Default: 8, 3 for a server on this machine. */
  readonly maxConcurrent?: number;
  /** Milliseconds that a run may take; 0 = no limit. Default: by the kind of agent, 300,000 to 900,000. */
  readonly timeout?: number;
  /** Writes a log to `<home>/logs/`. */
  readonly debug?: boolean;
  /** Where the runs work. Default: the directory of the process. */
  readonly cwd?: string;
  /** Nobody can be asked: what is not allowed is refused. `acceptEdits` lets runs change files. Default: `default`. */
  readonly permissionMode?: PermissionMode;
  /** Where transcripts go. Default: `MINI_CC_HOME`, else `~/.mini-cc`. */
  readonly home?: string;
}

/**
 * Dispatches tasks to subagents and gives back what they found.
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
 * // 3. Several at once: results in the order of the tasks, and one failure leaves the others be.
 * const results = await manager.spawnParallel([
 *   {instruction: 'What does this file do?', files: ['src/main.ts'], tools: ['read_file', 'grep', 'glob']},
 *   {instruction: 'List the files in tests', tools: ['glob']},
 * ]);
 * for (const {success, summary, error} of results) console.log(success, summary, error ?? '');
 *
 * // 4. The end: what still runs is stopped.
 * await manager.close();
 * ```
 */
export class SubagentManager {
  readonly #config: SubagentManagerConfig;
  readonly #abort = new AbortController();
  /** Asked for, while the session is being opened: they count from the call on. */
  readonly #pending = new Map<string, SubtaskRun>();
  #session: Promise<Session> | undefined;
  /** Before there is a session, nothing but what the program itself asked for is told. */
  #redactor = new Redactor([]);
  #engine: Session['subagents'] | undefined;
  #closed = false;

  /** @throws UsageError for a `maxConcurrent` or `timeout` that cannot be. */
  constructor(config: SubagentManagerConfig = {}) {
    checkNumbers(config);
    this.#config = config;
  }

  /** Never rejects for what happens in the run. @throws UsageError for a request or a configuration that is wrong. */
  async spawn(request: SubtaskRequest): Promise<SubtaskResult> {
    this.#mustBeOpen();
    const prompt = promptOf(request);
    const runId = randomUUID();
    const description = prompt.trim().split(/\s+/).slice(0, 5).join(' ');
    this.#pending.set(runId, {runId, agent: agentNameOf(request), description, state: 'created', tools: 0});
    this.#session ??= this.#open();
    // Between here and the engine nothing is awaited: what is stopped or sent after this call finds the run there.
    let session: Session;
    try {
      session = await this.#session;
    } finally {
      this.#pending.delete(runId);
    }
    // No subagent has the tools that dispatch.
    const offered = session.info.tools.filter((tool) => !tool.startsWith('Task'));
    const agent = agentFor(request, session.agents, offered);
    const {timeout} = this.#config;
    const ended = await session.subagents.spawn({
      ...{runId, agent, prompt, description, model: session.model, signal: this.#abort.signal},
      ...(request.tools && agent.tools !== '*' ? {onlyTools: agent.tools} : {}),
      ...(timeout === undefined ? {} : {timeoutSeconds: timeout / 1000}),
    });
    return this.#redactor.values(resultOf(ended));
  }

  /** All at once, within `maxConcurrent`. Results in the order of the requests; a wrong request is a failed result. */
  async spawnParallel(requests: readonly SubtaskRequest[]): Promise<SubtaskResult[]> {
    this.#mustBeOpen();
    return Promise.all(requests.map((request) => this.spawn(request).catch((error) => this.#refused(error))));
  }

  /**
   * To a run at work: it reads the message at its next turn. To one that has ended: it goes on with its history, and
   * `waitAll` waits for it too; its answer is what `get` says then.
   * @param run its id or the beginning of it, or `#2` (1 is the newest).
   * @throws MiniCcError `RUN_NOT_FOUND`, and for a run that cannot go on.
   */
  async send(run: string, message: string): Promise<'queued' | 'resumed'> {
    this.#mustBeOpen();
    const engine = (await this.#session)?.subagents;
    if (!engine) throw new MiniCcError('RUN_NOT_FOUND', `Unknown subagent id: ${run}`);
    return engine.send(run, message);
  }

  /** Ends a run for good and waits for it; what it has is kept. False when it is not at work, or unknown. */
  async stop(runId: string): Promise<boolean> {
    return (await this.#settledEngine())?.stop(runId) ?? false;
  }

  /** Ends all runs that were asked for before this call, also those that wait for a slot. */
  async stopAll(): Promise<void> {
    await (await this.#settledEngine())?.stopAll();
  }

  /** With its last answer, once it has one. Undefined when there is no run with this id. */
  get(runId: string): SubtaskRun | undefined {
    const record = this.#engine?.get(runId);
    if (!record) return this.#pending.get(runId);
    const end = record.outcome && this.#engine?.read(runId).findLast((entry) => entry.type === 'end');
    const run = end?.text === undefined ? runOf(record) : {...runOf(record), summary: end.text};
    return this.#redactor.values(run);
  }

  /** All runs, ended ones too, oldest first. */
  list(): readonly SubtaskRun[] {
    return this.#redactor.values([...(this.#engine?.list() ?? []).map(runOf), ...this.#pending.values()]);
  }

  /** Runs that have not ended. */
  count(): number {
    return (this.#engine?.count() ?? 0) + this.#pending.size;
  }

  /** Resolves when no run is at work. Also those that began meanwhile. */
  async waitAll(): Promise<void> {
    await (await this.#settledEngine())?.waitAll();
  }

  /** Ends what runs; nothing can be spawned any more. May be called twice. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#settledEngine();
    if (this.#engine) await (await this.#session)?.close();
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new MiniCcError('MANAGER_CLOSED', 'This SubagentManager is closed: make a new one');
  }

  /** Once the session is open or has failed to: all that was asked for before has reached it then, or was refused. */
  async #settledEngine(): Promise<Session['subagents'] | undefined> {
    try {
      return (await this.#session)?.subagents;
    } catch {
      // Whoever spawned was told why; without a session nothing is at work.
      return undefined;
    }
  }

  /** A wrong request is a result. @throws what was wrong with the configuration: that is no matter of one request. */
  async #refused(error: unknown): Promise<SubtaskResult> {
    await this.#session;
    return this.#redactor.values(refusal(messageOf(error)));
  }

  async #open(): Promise<Session> {
    const {apiKey, baseURL, model, maxConcurrent, debug = false, cwd = process.cwd(), permissionMode} = this.#config;
    const {ANTHROPIC_API_KEY: _, ANTHROPIC_AUTH_TOKEN: _t, ANTHROPIC_BASE_URL: _u, ...others} = process.env;
    const session = await compose({
      ...{cwd, debug, interactive: false, which: {type: 'new'}},
      // What is configured here decides, not what happens to be set around the program.
      env: {
        ...others,
        ...(apiKey ? {ANTHROPIC_API_KEY: apiKey} : {}),
        ...(baseURL ? {ANTHROPIC_BASE_URL: baseURL} : {}),
      },
      home: this.#config.home ?? process.env.MINI_CC_HOME ?? path.join(homedir(), '.mini-cc'),
      // No timer may keep a program alive that forgets to close.
      archiveAfterMinutes: 0,
      ...(model === undefined ? {} : {model}),
      ...(maxConcurrent === undefined ? {} : {maxConcurrent}),
      ...(permissionMode === undefined ? {} : {permissionMode}),
    });
    // Nobody speaks with the main agent here: it takes no turn for what is announced to it.
    session.subscribe(({type, agentId}) => {
      if (type === 'run_start' && agentId === 'main') session.abort();
    });
    this.#engine = session.subagents;
    this.#redactor = session.redactor;
    return session;
  }
}
