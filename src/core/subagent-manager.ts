/**
 * Manages all runs of subagents of a session. It dispatches them into a pool, records them in a registry, and ends them
 * by their limits or on request. No caller awaits a run in the background; its end goes to the main agent's inbox
 * instead.
 */

import {randomUUID} from 'node:crypto';
import type {Emit} from './contract/events.ts';
import type {Model} from './contract/model.ts';
import type {RunLimits, ToolResult} from './contract/results.ts';
import type {RunSpec} from './contract/run-spec.ts';
import type {RunRecord, SubagentResult} from './contract/runs.ts';
import type {Budget} from './contract/tool.ts';
import type {TranscriptEntry} from './contract/transcript.ts';
import {createAnnouncement} from './runs/announcement.ts';
import {RunArchive} from './runs/archive.ts';
import {formatStarted, openCall} from './runs/background-call.ts';
import {createReplayModel, type Deduplicated, TaskDedup} from './runs/dedup.ts';
import {Delegation, NotStarted} from './runs/delegation.ts';
import {DelegationLog} from './runs/delegation-log.ts';
import {createSpec, getTaskKey, type ManagerDeps, type RunRequest, type RunRound} from './runs/dispatch.ts';
import {getLimits} from './runs/limit-profiles.ts';
import {LiveRun} from './runs/live-run.ts';
import {ServerPools} from './runs/pool.ts';
import {formatRunTitle} from './runs/progress-line.ts';
import {formatReport, getMaxTokens} from './runs/receipt.ts';
import {RunRegistry} from './runs/registry.ts';
import {type Restored, restoreRuns} from './runs/restore.ts';
import {CUT_OFF_CALL, NEW_WORKTREE, type OpenedRun, openNextRound, openRun, reopenRun} from './runs/run-record.ts';
import {type ExecutionDeps, executeBackgroundCall, executeRun} from './subagent.ts';
import {checkPrice} from './turn/budget.ts';
import type {BackgroundCall, BackgroundCalls} from './turn/foreground-call.ts';
import {formatReason} from './turn/run-ending.ts';
import {inBackground, neverRejects} from './util/background.ts';
import {getErrorMessage, MiniCcError} from './util/errors.ts';
import {getText} from './util/messages.ts';

/**
 * Result of a dispatch. `joined`: the same task is already running. `cached`: it ended a moment ago, and nothing has
 * changed.
 */
type Dispatched = Deduplicated<SubagentResult, LiveRun>;

export class SubagentManager {
  readonly #registry = new RunRegistry();
  readonly #live = new Map<string, LiveRun>();
  readonly #pools: ServerPools;
  readonly #dedup: TaskDedup<SubagentResult, LiveRun>;
  readonly #archive: RunArchive;
  readonly #emitMain: Emit;
  /** Counts the runs that the current prompt has started. */
  #delegation!: Delegation;
  /** Adds up costs and results of the runs of this process. */
  readonly log = new DelegationLog();
  /** Functions that send commands at work to the background, by the ids of their calls. */
  readonly #offered = new Map<string, () => RunRecord>();

  constructor(private readonly deps: ManagerDeps) {
    const {clock} = deps.runs;
    const {maxConcurrent, fingerprint} = deps;
    this.#pools = new ServerPools(maxConcurrent, clock.now);
    this.#dedup = new TaskDedup({
      now: clock.now,
      fingerprint,
      isReusable: ({result}) => result.outcome === 'success',
    });
    const {store, bus, mainAgentId} = deps;
    const registry = this.#registry;
    const afterMs = deps.archiveAfterMinutes * 60_000;
    this.#archive = new RunArchive({clock, afterMs, store, registry, bus, mainAgentId});
    this.#emitMain = deps.bus.emitFor(mainAgentId);
    this.beginPrompt();
  }

  /** Starts a run for the Task tool, without waiting for its end. The same task twice is one run. */
  async dispatch(request: RunRequest): Promise<Dispatched> {
    const key = getTaskKey(request, this.deps.store.sessionId);
    const isReusable = request.agent.readOnly && !request.agent.memory && !request.endsForGood;
    const dispatch = (start: () => LiveRun) => this.#dedup.dispatch(key, isReusable, start);
    const dispatched = await this.#dispatchWithin(this.#delegation, key, request, dispatch);
    if (dispatched.source === 'cached') this.log.count('cached');
    if (dispatched.source === 'cached' && request.background) {
      const model = createReplayModel(request.model, dispatched.result);
      return {source: 'run', started: this.#start({...request, model})};
    }
    // The caller does not wait, so the run must outlive the turn of the call that it joined.
    if (dispatched.source === 'joined') {
      if (request.background) this.detach(dispatched.started.runId);
      else this.#awaitBackgroundRun(dispatched.started, request.signal);
    }
    return dispatched;
  }

  /** Begins a prompt: what the model sets off from now on counts for it. */
  beginPrompt(): void {
    const {perPrompt = {}, askPerson: ask, budget} = this.deps;
    this.#delegation = new Delegation({perPrompt, budget, ask});
  }

  /** Counts runs that the model starts by another tool than Task. @throws MiniCcError when they are too many */
  async admitRuns(count: number, signal: AbortSignal): Promise<void> {
    const delegation = this.#delegation;
    await this.#countRefusal(() => delegation.admit(() => delegation.begin(count), signal));
  }

  /** Dispatches a task for a call of the model, within what its prompt may set off. */
  #dispatchWithin(
    delegation: Delegation,
    task: string,
    request: RunRequest,
    dispatch: (start: () => LiveRun) => Promise<Dispatched>,
  ): Promise<Dispatched> {
    const start = () => {
      delegation.begin();
      const live = this.#start(request);
      const note = ({result}: SubagentResult) => {
        if (result.outcome === 'success') delegation.ended(task, undefined);
        else if (result.outcome !== 'stopped') delegation.ended(task, formatReason(result));
      };
      inBackground(live.ended.then(note), neverRejects);
      return live;
    };
    return this.#countRefusal(() => {
      delegation.assertNotFailing(task);
      return delegation.admit(() => dispatch(start), request.signal);
    });
  }

  async #countRefusal<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof NotStarted) this.log.count('refused');
      throw error;
    }
  }

  /** Makes a call wait for a background run and return its end. The end is announced only if the wait is aborted. */
  #awaitBackgroundRun({runId, isDetached}: LiveRun, signal: AbortSignal): void {
    if (isDetached || signal.aborted || !this.#registry.get(runId)?.background) return;
    this.#registry.update(runId, {background: false});
    signal.addEventListener('abort', () => {
      if (this.#live.has(runId)) this.#registry.update(runId, {background: true});
    });
  }

  /** Runs calls of the main agent in the background. They are listed, stopped and announced like other runs. */
  readonly background: BackgroundCalls = {
    start: (call) => this.#startCall(call).result,
    offer: (call) => {
      const {promise: detached, resolve} = Promise.withResolvers<ToolResult>();
      this.#offered.set(call.callId, () => {
        const {record, result} = this.#startCall(call, call.openOutput());
        resolve(result);
        return record;
      });
      return {detached, withdraw: () => this.#offered.delete(call.callId)};
    },
    isWaitedForBy: (input) =>
      [...this.#live.keys()].some((runId) => {
        const {output} = this.#registry.get(runId) ?? {};
        return /\bsleep\b/.test(input) || (output !== undefined && input.includes(output));
      }),
  };

  /** Dispatches one task and waits for its end. Never joins another run. Never rejects: a failure is an outcome. */
  async spawn(request: RunRequest): Promise<SubagentResult> {
    return this.#start(request).ended;
  }

  /**
   * Starts another round of a run that has ended, and waits for its end. Never rejects because of a failure in the run.
   * @throws MiniCcError for a run that is unknown, at work, or cannot continue
   */
  async resume(runId: string, message: string, signal: AbortSignal): Promise<SubagentResult> {
    const record = this.find(runId);
    if (this.#live.has(record.runId)) throw new MiniCcError('RUN_AT_WORK', `${formatRunTitle(record)} is at work`);
    return this.#continue(record, message, signal).ended;
  }

  /**
   * Sends a message. A run at work reads it at its next turn. A run that has ended continues in the background with its
   * history, and its end is announced.
   * @throws MiniCcError for an unknown name, and for a run that cannot continue
   */
  send(name: string, message: string): 'queued' | 'resumed' {
    const record = this.find(name);
    if (record.tool) throw new MiniCcError('NO_AGENT', `${formatRunTitle(record)} is a command: it takes no messages.`);
    const live = this.#live.get(record.runId);
    if (live?.isStopping) throw new MiniCcError('RUN_STOPPING', 'It is being stopped. Send again when it has ended.');
    if (live) live.inbox.put({id: randomUUID(), content: message, kind: 'prompt', startsTurn: true});
    else this.#continue(record, message);
    return live ? 'queued' : 'resumed';
  }

  /** Stops a run and waits for its end. The run's findings stay. @returns false when it is not at work */
  async stop(runId: string, why: 'stop' | 'close' = 'stop', stoppedBy: 'user' | 'agent' = 'user'): Promise<boolean> {
    const live = this.#live.get(runId);
    if (!live) return false;
    this.#registry.update(runId, {state: 'stopping', stoppedBy});
    this.#emitFor(runId)({type: 'run_state', state: 'stopping'});
    live.stop(why);
    await live.ended;
    return true;
  }

  async stopAll(why: 'stop' | 'close' = 'stop'): Promise<void> {
    await Promise.all([...this.#live.keys()].map((runId) => this.stop(runId, why)));
  }

  /**
   * Sends a foreground run to the background, and its call returns at once.
   * @returns false when there is no such run
   */
  detach(runId: string): boolean {
    return this.#detach(this.list().filter((run) => run.runId === runId)).length > 0;
  }

  /** Sends all foreground runs and the commands at work to the background. @returns their records */
  detachAll(): readonly RunRecord[] {
    const offered = [...this.#offered.values()];
    this.#offered.clear();
    return [...this.#detach(this.list()), ...offered.map((detach) => detach())];
  }

  #detach(runs: readonly RunRecord[]): readonly RunRecord[] {
    // The parts of a fan-out cannot go to the background, because they are awaited together.
    const detached = runs.filter((run) => !run.background && !run.scope && this.#live.get(run.runId)?.isOver === false);
    for (const [index, {runId}] of detached.entries()) {
      const live = this.#live.get(runId)!;
      live.outlive();
      live.history.recordBackground();
      this.#registry.update(runId, {background: true});
      this.#pools.toBackground(runId);
      this.#emitFor(runId)({type: 'run_background', count: index === 0 ? detached.length : 0});
      live.detach();
    }
    return detached;
  }

  get(runId: string): RunRecord | undefined {
    return this.#registry.get(runId);
  }

  /** @param name see `RunRegistry.find` @throws MiniCcError with the reason */
  find(name: string): RunRecord {
    return this.#registry.find(name);
  }

  /** Lists all runs of the session, oldest first. */
  list(): readonly RunRecord[] {
    return this.#registry.list();
  }

  /** Counts the runs of agents that have not ended. */
  count(): number {
    return this.#liveAgents.length;
  }

  /** Commands in the background do not count, because they end with the session and no caller waits for them. */
  get #liveAgents(): readonly LiveRun[] {
    return [...this.#live.values()].filter(({runId}) => this.#registry.get(runId)?.tool === undefined);
  }

  /** Waits for all runs, including those that begin in the meantime. */
  async waitAll(): Promise<void> {
    while (this.count() > 0) await Promise.all(this.#liveAgents.map(({ended}) => ended));
  }

  /** Resolves at the next end of any run, or at once when none is at work. */
  async nextEnd(): Promise<void> {
    if (this.count() === 0) return;
    await Promise.race(this.#liveAgents.map(({ended}) => ended));
  }

  /** Waits for the end of this run. @param ms most milliseconds of the wait @returns whether the run has ended */
  async waitFor(runId: string, ms: number, signal: AbortSignal): Promise<boolean> {
    await this.#live.get(runId)?.endsWithin(ms, this.deps.runs.clock, signal);
    return !this.#live.has(runId);
  }

  /** Returns the lines of a run's transcript, archived or not. */
  read(runId: string): readonly TranscriptEntry[] {
    return this.deps.store.read(runId);
  }

  /** Returns the report of an ended run, in the form for the model that dispatched it. */
  report(record: RunRecord): string {
    const end = this.read(record.runId).findLast((entry) => entry.type === 'end');
    const {runId, transcript, tool, outcome = 'unknown', reason = '', receipt = '', result} = record;
    return formatReport(
      {runId, transcript, tool, outcome, reason, receipt, ...result, text: end?.text ?? ''},
      this.deps.runs.resultTokens,
    );
  }

  /**
   * Returns when a run will be archived. Undefined while it is at work, when it is archived, and when it never will be.
   */
  archiveTime(record: RunRecord): Date | undefined {
    return this.#archive.getTime(record);
  }

  /** Records that the announcement with this id is in the main agent's history. */
  announced(id: string): void {
    const [runId = '', round = '1'] = id.split('#');
    const record = this.#registry.get(runId);
    if (!record || record.round !== Number(round)) return;
    this.#registry.update(runId, {announcement: 'delivered'});
    if (record.cleanup === 'delete') this.#archive.archive(runId);
  }

  /**
   * Reads the runs of a session that continues from its folder. Runs that a crash cut off have the outcome `unknown`.
   * @param announced ids of the announcements in the main agent's history
   * @returns announcements that are still to be made
   */
  restore(announced: ReadonlySet<string>): Restored['pending'] {
    const {remote, resultTokens} = this.deps.runs;
    const isLeft = (runId: string) => remote?.isPending(runId) ?? false;
    const {records, left, paused, pending} = restoreRuns(this.deps.store, announced, resultTokens, isLeft);
    for (const record of left) this.#follow(record);
    for (const {record, until} of paused) this.#takeUp(record, until);
    for (const record of records) {
      this.#registry.add(record);
      if (record.state === 'removed') continue;
      const isAnnounced = !record.background || record.announcement !== 'waiting';
      if (record.cleanup === 'delete' && isAnnounced) this.#archive.archive(record.runId);
      else this.#archive.ended(record.runId, Date.now() - record.endedAt!);
    }
    return pending;
  }

  /** Ends all runs and forgets them, because a new conversation has none. */
  async clear(): Promise<void> {
    await this.stopAll();
    this.#archive.close();
    this.#registry.clear();
  }

  /** Ends all runs. They can continue when the session does. */
  async close(): Promise<void> {
    this.#archive.close();
    await this.stopAll('close');
    this.#archive.close();
  }

  #start(request: RunRequest): LiveRun {
    const {agent, model, prompt, warnings, history, signal, endsForGood} = request;
    const spec = createSpec(request, this.deps.runs.remote);
    const open = () => openRun(this.deps.store, this.#registry, spec, prompt, history);
    const parent = spec.background ? undefined : signal;
    const {budget} = request.callId === undefined ? this.deps : this.#delegation;
    return this.#launch({agent, model, prompt, warnings}, spec, parent, open, {budget, endsForGood});
  }

  /** @param output file of a call that is at work already; absent for a call that begins */
  #startCall(call: BackgroundCall, output?: string): {readonly record: RunRecord; readonly result: ToolResult} {
    const opened = openCall(this.deps.store, this.#registry, call, output);
    const live = new LiveRun(opened, undefined);
    this.#work(live, (execution) => executeBackgroundCall(live, call, opened.output, execution));
    return {record: this.#registry.get(live.runId)!, result: formatStarted(call, opened, output !== undefined)};
  }

  /** @param parent ends the round with its parent's turn. Absent when the run continues in the background. */
  #continue(record: RunRecord, message: string, parent?: AbortSignal): LiveRun {
    const background = parent === undefined;
    const revived = this.deps.revive(record);
    const next = {message, model: revived.model.name, background};
    const open = () => {
      const opened = openNextRound(this.deps.store, this.#registry, record, next);
      this.#archive.cancel(record.runId);
      return opened;
    };
    const asked = {limits: record.limits, background};
    return this.#launch({...revived, prompt: message}, asked, parent, open, this.#delegation);
  }

  /** Follows a run that an earlier process left at a worker. Its end arrives as if the run had just been sent there. */
  #follow(record: RunRecord): void {
    const revived = this.deps.revive(record, true);
    this.#registry.add(record);
    const asked = {limits: record.limits, background: true};
    const open = () => ({...reopenRun(this.deps.store, record.runId), round: record.round});
    this.#launch({...revived, prompt: '', isPending: true}, asked, undefined, open, this.deps);
  }

  /** Goes on in the background with a run that a crash cut off while it waited for the end of a limit. */
  #takeUp(record: RunRecord, until: number): void {
    const revived = this.deps.revive(record);
    revived.model.pauseUntil?.(until);
    this.#registry.add(record);
    const open = () => {
      const {spec, transcript, history} = reopenRun(this.deps.store, record.runId);
      history.recordBackground();
      history.answerOpenCalls(CUT_OFF_CALL);
      if (record.isolation === 'worktree') history.appendPrompt(NEW_WORKTREE);
      return {spec: {...spec, background: true}, round: record.round, transcript, history};
    };
    const asked = {limits: record.limits, background: true};
    this.#launch({...revived, prompt: ''}, asked, undefined, open, {budget: this.deps.budget});
  }

  /**
   * Begins a round of a run.
   * @param parent signal of the turn that awaits it; undefined for a background run
   * @param open opens the transcript
   */
  #launch(
    round: Omit<RunRound, 'limits' | 'budget'>,
    {limits: named, background}: Pick<RunSpec, 'limits' | 'background'>,
    parent: AbortSignal | undefined,
    open: () => OpenedRun,
    {budget: above, endsForGood}: {readonly budget: Budget; readonly endsForGood?: boolean | undefined},
  ): LiveRun {
    const {agent, model, prompt, isPending = false} = round;
    const limits = getLimits(this.deps.runs.limits, agent, {...named, prompt, background});
    // The budget of a run at a worker was checked when the run was sent there.
    if (!isPending) this.#assertAffordable(model, limits);
    const budget = above.open(agent.name, limits);
    const live = new LiveRun(open(), parent, endsForGood);
    const {pool, sized} = this.#pools.get(model);
    this.#work(live, async (execution) => {
      // The run waits only while the pool's size is being determined. With a known size it begins at once.
      if (sized) await sized;
      return executeRun(live, {...round, limits, budget}, {...execution, pool});
    });
    return live;
  }

  /** @throws MiniCcError `BUDGET` when nothing is left, UsageError for a limit of money when the model has no price */
  #assertAffordable(model: Model, limits: RunLimits): void {
    const {budget} = this.deps;
    if (budget.usedUp !== undefined) {
      throw new MiniCcError('BUDGET', `The session's ${budget.usedUp} is used up: nothing was dispatched.`);
    }
    checkPrice(model, limits.maxBudgetUsd ?? budget.limitUsd);
  }

  #work(live: LiveRun, execute: (execution: ExecutionDeps) => Promise<SubagentResult>): void {
    const {runId} = live;
    this.#live.set(runId, live);
    const {runs: deps} = this.deps;
    const execution = {deps, registry: this.#registry, emit: this.#emitFor(runId)};
    live.begin(async () => {
      const ended = await execute(execution);
      this.#live.delete(runId);
      this.#ended(live, ended);
      return ended;
    });
  }

  /** Announces the end, which is already on disk, and plans the archiving. */
  #ended(live: LiveRun, {result}: SubagentResult): void {
    const {runId} = live;
    const record = this.#registry.get(runId);
    // There is nothing to do when the session was cleared, or when it ends and leaves the run at a worker.
    if (!record || live.isLeft) return;
    const endedAt = Date.now();
    const maxTokens = getMaxTokens(result, this.deps.runs.resultTokens);
    const announcement = createAnnouncement(record, result.text, result.durationMs, maxTokens);
    // A text that is not announced does not come back.
    const returned = record.background && !announcement ? {...result, returnedTokens: 0} : result;
    if (!record.tool) this.log.add({startedAt: record.startedAt ?? endedAt, endedAt, result: returned});
    if (record.background) this.#registry.update(runId, {announcement: announcement ? 'waiting' : 'skipped'});
    if (record.cleanup === 'delete' && !announcement) this.#archive.archive(runId);
    else this.#archive.ended(runId);
    if (announcement) {
      this.#emitMain(announcement.event);
      this.deps.inbox.put(announcement.message);
    }
    if (result.outcome !== 'stopped' && !live.endsForGood) this.#continueFor(live);
  }

  /** Continues the run for a message that came after its last turn had begun. */
  #continueFor({runId, inbox}: LiveRun): void {
    const message = inbox
      .drop('prompt')
      .map(({content}) => getText(content))
      .join('\n\n');
    if (message === '') return;
    try {
      this.#continue(this.find(runId), message);
    } catch (error) {
      this.#emitMain({type: 'notice', level: 'warning', text: `not sent: ${message} (${getErrorMessage(error)})`});
    }
  }

  #emitFor(runId: string): Emit {
    return this.deps.bus.emitFor(runId, this.deps.mainAgentId);
  }
}
