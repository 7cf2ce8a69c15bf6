/**
 * The class that programs import as `SubagentManager`. It opens a session at the first `spawn` and passes each call on
 * to that session's manager (`core/subagent-manager.ts`), which does the work. Its methods are documented in `public.d.ts`.
 */
import {randomUUID} from 'node:crypto';
import type {Session} from '../core/session.ts';
import {MiniCcError, messageOf} from '../core/util/errors.ts';
import type {RunEvent, SubagentManagerConfig, SubtaskRequest, SubtaskResult, SubtaskRun} from './public.d.ts';
import {checkCount, checkTimeout, isRunEvent, openSession} from './session.ts';
import {getAgent, getAgentName, getPrompt, toRefusal, toSubtaskResult} from './subtask.ts';

export class SubagentManagerFacade {
  readonly #config: SubagentManagerConfig;
  readonly #abort = new AbortController();
  readonly #listeners = new Set<(event: RunEvent) => void>();
  /** Requests from the time before the session is open: `list` and `count` include them. */
  readonly #pending = new Map<string, SubtaskRun>();
  #opening: Promise<Session> | undefined;
  #session: Session | undefined;
  #closed = false;

  constructor(config: SubagentManagerConfig = {}) {
    checkCount('maxConcurrent', config.maxConcurrent);
    checkTimeout(config.timeout);
    this.#config = config;
  }

  async spawn(request: SubtaskRequest): Promise<SubtaskResult> {
    this.#assertOpen();
    const prompt = getPrompt(request);
    const runId = randomUUID();
    const description = prompt.trim().split(/\s+/).slice(0, 5).join(' ');
    this.#pending.set(runId, {runId, agent: getAgentName(request), description, state: 'created', tools: 0});
    this.#opening ??= this.#open();
    // From here to the manager nothing is awaited: a `stop` or `send` after this call finds the run there.
    let session: Session;
    try {
      session = await this.#opening;
    } finally {
      this.#pending.delete(runId);
    }
    // Subagents never have the tools that dispatch.
    const offered = session.info.tools.filter((tool) => !tool.startsWith('Task'));
    const agent = getAgent(request, session.agents, offered);
    const {timeout} = this.#config;
    const ended = await session.subagents.spawn({
      ...{runId, agent, prompt, description, model: session.model, signal: this.#abort.signal},
      ...(request.tools && agent.tools !== '*' ? {onlyTools: agent.tools} : {}),
      ...(timeout === undefined ? {} : {timeoutSeconds: timeout / 1000}),
    });
    return session.redactor.values(toSubtaskResult(ended));
  }

  async spawnParallel(requests: readonly SubtaskRequest[]): Promise<SubtaskResult[]> {
    this.#assertOpen();
    return Promise.all(requests.map((request) => this.spawn(request).catch((error) => this.#refuse(error))));
  }

  async send(run: string, message: string): Promise<'queued' | 'resumed'> {
    this.#assertOpen();
    const session = await this.#opening;
    if (!session) throw new MiniCcError('RUN_NOT_FOUND', `Unknown subagent id: ${run}`);
    return session.subagents.send(run, message);
  }

  async stop(runId: string): Promise<boolean> {
    return (await this.#opened())?.subagents.stop(runId) ?? false;
  }

  async stopAll(): Promise<void> {
    await (await this.#opened())?.subagents.stopAll();
  }

  get(runId: string): SubtaskRun | undefined {
    const manager = this.#session?.subagents;
    const record = manager?.get(runId);
    if (!manager || !record) return this.#pending.get(runId);
    const end = record.outcome && manager.read(runId).findLast((entry) => entry.type === 'end');
    return this.#redact(end?.text === undefined ? record : {...record, summary: end.text});
  }

  list(): readonly SubtaskRun[] {
    return this.#redact([...(this.#session?.subagents.list() ?? []), ...this.#pending.values()]);
  }

  count(): number {
    return (this.#session?.subagents.count() ?? 0) + this.#pending.size;
  }

  async waitAll(): Promise<void> {
    await (await this.#opened())?.subagents.waitAll();
  }

  subscribe(listener: (event: RunEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await (await this.#opened())?.close();
  }

  #assertOpen(): void {
    if (this.#closed) throw new MiniCcError('MANAGER_CLOSED', 'This SubagentManager is closed: make a new one');
  }

  /** Resolves when the session is open or has failed to open: by then all earlier requests are dispatched or refused. */
  async #opened(): Promise<Session | undefined> {
    try {
      return await this.#opening;
    } catch {
      // `spawn` threw the reason. Without a session no run is at work.
      return undefined;
    }
  }

  /** A wrong request is a result. @throws the error of the configuration, which concerns all requests. */
  async #refuse(error: unknown): Promise<SubtaskResult> {
    await this.#opening;
    return this.#redact(toRefusal(messageOf(error)));
  }

  /** Without a session there is nothing but what the program itself sent. */
  #redact<T>(value: T): T {
    return this.#session?.redactor.values(value) ?? value;
  }

  async #open(): Promise<Session> {
    const {model, maxConcurrent} = this.#config;
    const session = await openSession(this.#config, {
      ...(model === undefined ? {} : {model}),
      ...(maxConcurrent === undefined ? {} : {maxConcurrent}),
    });
    session.subscribe((event) => {
      // No user talks to the main agent here: it must not start a turn when a run is announced to it.
      if (event.type === 'run_start' && event.agentId === 'main') session.abort();
      else if (event.agentId !== 'main' && isRunEvent(event)) this.#publish(event);
    });
    this.#session = session;
    return session;
  }

  #publish(event: RunEvent): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch {
        this.#listeners.delete(listener);
      }
    }
  }
}
