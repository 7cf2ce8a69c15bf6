/** All subagent runs of a session: a pool that starts them first in, first out, and a registry that knows them. */
import {randomUUID} from 'node:crypto';
import PQueue from 'p-queue';
import type {EventBus} from './event-bus.ts';
import type {Journal} from './history.ts';
import type {Model} from './model.ts';
import type {OutputStore} from './output.ts';
import {CutOff, type Outcome, reasonOf} from './run-result.ts';
import {runSubagent, type SubagentHouse, type SubagentResult, type SubagentTask} from './subagent.ts';

export type RunState = 'created' | 'processing' | 'stopping' | 'idle' | 'error' | 'stopped';

/** What the registry keeps of a run. Its messages are on disk, not here. */
export interface RunRecord {
  readonly runId: string;
  readonly agent: string;
  readonly description: string;
  readonly transcript: string;
  readonly model: string;
  readonly state: RunState;
  readonly outcome?: Outcome;
  /** Why it did not succeed. */
  readonly reason?: string;
  /** The Task call that dispatched it. */
  readonly callId?: string;
  readonly createdAt: number;
  readonly endedAt?: number;
  readonly tools: number;
  readonly result?: Pick<SubagentResult['result'], 'usage' | 'usageByModel' | 'durationMs' | 'modelMs' | 'turns'>;
}

/** Opens what a run writes to; `storage/` does it. */
export interface RunStore {
  openRun(
    runId: string,
    agent: string,
    description: string,
  ): {
    readonly journal: Journal;
    readonly output: OutputStore;
    readonly transcript: string;
    close(): void;
  };
}

export interface ManagerOptions {
  /** Runs at work at the same time. */
  readonly maxConcurrent: number;
  readonly mainAgentId: string;
  readonly house: SubagentHouse;
  readonly store: RunStore;
  readonly bus: EventBus;
}

export interface SpawnRequest extends SubagentTask {
  readonly model: Model;
  /** The Task call of the main model. */
  readonly callId?: string;
  /** Ends the run with its parent's turn. */
  readonly signal: AbortSignal;
}

export class SubagentManager {
  readonly #queue: PQueue;
  readonly #records = new Map<string, RunRecord>();
  readonly #running = new Map<string, {readonly abort: AbortController; readonly done: Promise<SubagentResult>}>();

  constructor(private readonly options: ManagerOptions) {
    this.#queue = new PQueue({concurrency: options.maxConcurrent});
  }

  /** Dispatches one task and waits for its end. Never rejects: a failure is an outcome. */
  async spawn(request: SpawnRequest): Promise<SubagentResult> {
    const runId = randomUUID();
    const abort = new AbortController();
    const link = () => abort.abort(request.signal.reason);
    if (request.signal.aborted) link();
    request.signal.addEventListener('abort', link, {once: true});
    const done = this.#run(runId, request, abort.signal);
    this.#running.set(runId, {abort, done});
    try {
      return await done;
    } finally {
      this.#running.delete(runId);
      request.signal.removeEventListener('abort', link);
    }
  }

  /** Results in the order of the requests; one failure leaves the others be. */
  async spawnParallel(requests: readonly SpawnRequest[]): Promise<SubagentResult[]> {
    return Promise.all(requests.map((request) => this.spawn(request)));
  }

  get(runId: string): RunRecord | undefined {
    return this.#records.get(runId);
  }

  /** All runs of the session, oldest first. */
  list(): readonly RunRecord[] {
    return [...this.#records.values()];
  }

  /** Runs that have not ended. */
  count(): number {
    return this.#running.size;
  }

  /** Ends a run for good and waits for it; what it has is kept. False when it is not at work. */
  async stop(runId: string): Promise<boolean> {
    const running = this.#running.get(runId);
    if (!running) return false;
    this.#update(runId, {state: 'stopping'});
    running.abort.abort(new CutOff('stop'));
    await running.done;
    return true;
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((runId) => this.stop(runId)));
  }

  async waitAll(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({done}) => done));
  }

  async #run(runId: string, request: SpawnRequest, signal: AbortSignal): Promise<SubagentResult> {
    const {agent, description, model, callId} = request;
    const seat = this.options.store.openRun(runId, agent.name, description);
    const busEmit = this.options.bus.emitFor(runId, this.options.mainAgentId);
    let tools = 0;
    const emit: typeof busEmit = (event) => {
      if (event.type === 'tool_end') {
        tools += 1;
        this.#update(runId, {tools});
      }
      busEmit(event);
    };
    this.#records.set(runId, {
      runId,
      agent: agent.name,
      description,
      transcript: seat.transcript,
      model: model.name,
      state: 'created',
      createdAt: Date.now(),
      tools,
      ...(callId ? {callId} : {}),
    });
    const queued = this.#queue.pending >= this.#queue.concurrency;
    emit({type: 'run_start', agent: agent.name, description, model: model.name, queued, ...(callId ? {callId} : {})});
    try {
      // A run stopped while it waits still goes through, and ends at once: one way out for all.
      const ended = await this.#queue.add(() => {
        if (this.#records.get(runId)?.state === 'created') this.#update(runId, {state: 'processing'});
        if (queued) emit({type: 'run_active'});
        return runSubagent(request, this.options.house, {runId, model, ...seat, emit, signal});
      });
      const {result} = ended;
      const {usage, usageByModel, durationMs, modelMs, turns, outcome} = result;
      const state = outcome === 'success' || outcome === 'limit' ? 'idle' : outcome === 'stopped' ? 'stopped' : 'error';
      this.#update(runId, {
        state,
        outcome,
        reason: reasonOf(result),
        endedAt: Date.now(),
        tools: result.tools.length,
        result: {usage, usageByModel, durationMs, modelMs, turns},
      });
      emit({type: 'run_end', outcome, reason: reasonOf(result), tools: result.tools.length, durationMs, usage});
      return ended;
    } finally {
      seat.close();
    }
  }

  #update(runId: string, change: Partial<RunRecord>): void {
    const record = this.#records.get(runId);
    if (record) this.#records.set(runId, {...record, ...change});
  }
}
