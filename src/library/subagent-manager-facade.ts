/**
 * Implements the class that programs import as `SubagentManager`. It opens a session at the first `spawn` and sends it
 * each call as a request. The session's manager (`core/subagent-manager.ts`) does the work. `public.d.ts` documents the
 * methods.
 */
import {randomUUID} from 'node:crypto';
import type {FanOutRequest} from '../core/contract/fan-out.ts';
import type {RunRecord, SubagentResult} from '../core/contract/runs.ts';
import type {Session} from '../core/contract/session-requests.ts';
import {hasEnded} from '../core/runs/run-record.ts';
import {createSession} from '../core/session.ts';
import {formatReason} from '../core/turn/run-ending.ts';
import {getErrorMessage, MiniCcError, UsageError} from '../core/util/errors.ts';
import {countTokens} from '../core/util/messages.ts';
import {withoutUndefined} from '../core/util/objects.ts';
import {findTool} from '../core/util/tool-names.ts';
import {TOOLS} from '../tools/index.ts';
import {
  checkCount,
  checkFolders,
  checkMode,
  checkTimeout,
  composeSession,
  isRunEvent,
  toSeconds,
} from './compose-session.ts';
import type {
  FanOutResult,
  RunEvent,
  SubagentManagerConfig,
  SubtaskRequest,
  SubtaskResult,
  SubtaskRun,
} from './public.d.ts';

export class SubagentManagerFacade {
  readonly #config: SubagentManagerConfig;
  readonly #listeners = new Set<(event: RunEvent) => void>();
  /** Requests that were made before the session is open. `list` and `count` include them. */
  readonly #pending = new Map<string, SubtaskRun>();
  #opening: Promise<Session> | undefined;
  #session: Session | undefined;
  #closed = false;

  constructor(config: SubagentManagerConfig = {}) {
    checkCount('maxConcurrent', config.maxConcurrent);
    checkTimeout(config.timeout);
    checkMode(config.permissionMode);
    checkFolders(config);
    this.#config = config;
  }

  async spawn(request: SubtaskRequest): Promise<SubtaskResult> {
    this.#assertOpen();
    const prompt = getPrompt(request);
    const runId = randomUUID();
    const description = prompt.trim().split(/\s+/).slice(0, 5).join(' ');
    this.#pending.set(runId, {runId, agent: getAgentName(request), description, state: 'created', tools: 0});
    this.#opening ??= this.#open();
    // Nothing else is awaited before the manager has the request, so that a later `stop` or `send` finds the run.
    let session: Session;
    try {
      session = await this.#opening;
    } finally {
      this.#pending.delete(runId);
    }
    const ended = await session.request({
      type: 'spawn_run',
      runId,
      agent: getAgentName(request),
      prompt,
      description,
      ...(request.tools && {tools: request.tools}),
      limits: {timeoutSeconds: toSeconds(this.#config.timeout)},
    });
    return toSubtaskResult(ended);
  }

  async spawnParallel(requests: readonly SubtaskRequest[]): Promise<SubtaskResult[]> {
    this.#assertOpen();
    return Promise.all(requests.map((request) => this.spawn(request).catch((error) => this.#refuse(error))));
  }

  async fanOut({instruction, files, tools}: FanOutRequest): Promise<FanOutResult> {
    this.#assertOpen();
    this.#opening ??= this.#open();
    const session = await this.#opening;
    const startedAt = performance.now();
    const {parts, text, results, changed} = await session.request({
      type: 'fan_out',
      instruction,
      ...withoutUndefined({files, tools, timeoutSeconds: toSeconds(this.#config.timeout)}),
    });
    return {
      success: results.failed === 0,
      summary: text,
      subagentResults: results,
      changes: changed,
      parts,
      duration: Math.round(performance.now() - startedAt),
    };
  }

  async send(run: string, message: string): Promise<'queued' | 'resumed'> {
    this.#assertOpen();
    const session = await this.#opening;
    if (!session) throw createNotFound(run);
    return session.request({type: 'send_to_run', run, message});
  }

  async stop(runId: string): Promise<boolean> {
    const session = await this.#opened();
    const run = session?.request({type: 'runs'}).find((each) => each.runId === runId);
    if (!session || !run) throw createNotFound(runId);
    if (hasEnded(run)) return false;
    await session.request({type: 'stop_runs', run: runId});
    return true;
  }

  async stopAll(): Promise<void> {
    await (await this.#opened())?.request({type: 'stop_runs'});
  }

  get(runId: string): SubtaskRun {
    const record = this.#runs().find((run) => run.runId === runId) ?? this.#pending.get(runId);
    if (!record) throw createNotFound(runId);
    const entries = record.outcome && this.#session?.request({type: 'read_run', run: runId});
    const end = entries?.findLast((entry) => entry.type === 'end');
    return end?.text === undefined ? record : {...record, summary: end.text};
  }

  list(): readonly SubtaskRun[] {
    return [...this.#runs(), ...this.#pending.values()];
  }

  count(): number {
    return this.#runs().filter((run) => !hasEnded(run)).length + this.#pending.size;
  }

  async waitAll(): Promise<void> {
    await (await this.#opened())?.request({type: 'wait_for_runs'});
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

  /** Resolves when the session is open or has failed to open. Then all earlier requests are dispatched or refused. */
  async #opened(): Promise<Session | undefined> {
    try {
      return await this.#opening;
    } catch {
      // `spawn` threw the reason. Without a session there are no runs.
      return undefined;
    }
  }

  /** Turns a wrong request into a result. @throws the error of the configuration, which concerns all requests. */
  async #refuse(error: unknown): Promise<SubtaskResult> {
    const session = await this.#opening;
    const text = getErrorMessage(error);
    return toRefusal(session?.request({type: 'redact', text}) ?? text);
  }

  #runs(): readonly RunRecord[] {
    return this.#session?.request({type: 'runs'}) ?? [];
  }

  async #open(): Promise<Session> {
    const {model, maxConcurrent} = this.#config;
    const parts = await composeSession(this.#config, withoutUndefined({model, maxConcurrent}));
    const session = createSession(parts);
    session.subscribe((event) => {
      // No user talks to the main agent here, so it must not start a turn when the end of a run is announced to it.
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

function createNotFound(run: string): MiniCcError {
  return new MiniCcError('RUN_NOT_FOUND', `Unknown subagent id: ${run}`);
}

const TEXTS: ReadonlySet<string> = new Set(['agent_type', 'prompt', 'instruction'] satisfies (keyof SubtaskRequest)[]);
const LISTS: ReadonlySet<string> = new Set(['files', 'tools'] satisfies (keyof SubtaskRequest)[]);

/**
 * Returns the prompt, followed by the files.
 * @throws UsageError when there is no prompt or a field has a wrong type.
 */
function getPrompt(request: SubtaskRequest): string {
  checkTypes(request);
  const {prompt, instruction, files = []} = request;
  const text = prompt ?? instruction ?? '';
  if (text.trim() === '') {
    throw new UsageError('Missing or empty prompt parameter: a subtask needs a prompt or an instruction');
  }
  return files.length === 0 ? text : `${text}\n\nFiles:\n${files.map((file) => `- ${file}`).join('\n')}`;
}

/** Checks the types of the fields, because a program in JavaScript may pass anything. */
function checkTypes(request: unknown): void {
  if (typeof request !== 'object' || request === null) {
    throw new UsageError(`A subtask is an object with a prompt, not ${JSON.stringify(request)}`);
  }
  for (const [name, value] of Object.entries(request)) {
    if (value === undefined) continue;
    if (TEXTS.has(name) && typeof value !== 'string') {
      throw new UsageError(`${name} must be text, not ${JSON.stringify(value)}`);
    }
    if (LISTS.has(name) && !(Array.isArray(value) && value.every((each) => typeof each === 'string'))) {
      throw new UsageError(`${name} must be a list of texts, not ${JSON.stringify(value)}`);
    }
  }
}

/** Returns the requested agent, or the built-in one that fits the tools. */
function getAgentName({agent_type, tools}: SubtaskRequest): string {
  const writes =
    tools === undefined || tools.some((tool) => ['edit', 'execute'].includes(findTool(tool, TOOLS)?.kind ?? 'other'));
  return agent_type ?? (writes ? 'code' : 'explore');
}

function toSubtaskResult({runId, result, receipt}: SubagentResult): SubtaskResult {
  const reason = formatReason(result);
  const error = result.outcome === 'timeout' ? `EXECUTION_TIMEOUT: ${reason}` : reason;
  return {
    runId,
    success: result.outcome === 'success',
    summary: result.text,
    changes: receipt.filesChanged,
    duration: Math.round(result.durationMs),
    ...(error === '' ? {} : {error}),
    metadata: {
      toolsUsed: [...new Set(result.tools.map(({tool}) => tool))],
      tokensUsed: countTokens(result.usage),
      filesRead: receipt.filesRead,
      filesModified: receipt.filesChanged,
    },
  };
}

/** Returns the result for a wrong request, for which no run began. */
function toRefusal(error: string): SubtaskResult {
  const metadata = {toolsUsed: [], tokensUsed: 0, filesRead: [], filesModified: []};
  return {success: false, summary: '', changes: [], duration: 0, error, metadata};
}
