/**
 * The turns of the main agent, one at a time. A prompt that comes during a turn waits in the inbox, and is read at the
 * top of the turn's next step. A prompt that comes too late for that starts the next turn.
 */
import {randomUUID} from 'node:crypto';
import {type AgentRun, appendDelivered, appendPrompt, runAgent} from '../agent-loop.ts';
import type {Emit} from '../contract/events.ts';
import type {RunResult, SubagentSummary} from '../contract/results.ts';
import type {SubagentMark} from '../contract/runs.ts';
import type {Prompt, Stopped, SubmitResult} from '../contract/session-requests.ts';
import type {ApprovedFanOut} from '../fan-out/fan-outs.ts';
import {createRunPrompt, getMentioningText, runEmbeddedCommands} from '../prompt-calls.ts';
import {countFiles} from '../runs/receipt.ts';
import {hasEnded} from '../runs/run-record.ts';
import {createRunCalls} from '../tool-calls.ts';
import type {QueuedMessage} from '../turn/inbox.ts';
import {NO_PROGRESS, ProgressGuard} from '../turn/progress-guard.ts';
import {
  createInternalError,
  formatReason,
  formatTimeout,
  getAbortEnding,
  NO_TOTALS,
  RunAborted,
} from '../turn/run-ending.ts';
import {createRunHooks} from '../turn/run-hooks.ts';
import {Deadline, MAIN_LIMITS} from '../turn/run-limits.ts';
import {inBackground, neverRejects} from '../util/background.ts';
import {MiniCcError, tryOr} from '../util/errors.ts';
import {getText, joinContents} from '../util/messages.ts';
import {parseTypedTask, type TypedTask} from '../util/prompt-syntax.ts';
import type {SessionParts} from './parts.ts';
import type {SessionHooks} from './session-hooks.ts';
import {runFanOutTurn, runTypedTask} from './turns-without-model.ts';
import {UnattendedSession} from './unattended.ts';

/** Milliseconds that an idle agent waits for further ends of background runs before it reads the first one. */
const GATHER_MS = 250;

const DURING_TURN = 'A turn is at work: wait for its end, or end it by /stop.';

/** The state of a prompt from its arrival to the end of its work. */
export interface Arrival {
  /** Ends the work. It is checked after each wait. */
  readonly control: AbortController;
  /** Counts the time limit of the prompt, also while hooks and commands are waited for. */
  readonly deadline: Deadline;
  readonly unattended: UnattendedSession | undefined;
}

/** A prompt whose hooks are at work. */
interface AskedPrompt {
  readonly prompt: Prompt & {readonly id: string};
  readonly control: AbortController;
  /** Resolves when its hooks and those of the prompts before it have answered. */
  readonly answered: Promise<string | undefined>;
}

export class Turns {
  /** Present only when no person types more. */
  #unattended: UnattendedSession | undefined;
  /** Ends the current turn. */
  #turn: AbortController | undefined;
  /** Controllers of the prompts and commands at work. `abort` ends all of them. */
  readonly #atWork = new Set<AbortController>();
  /** Prompts whose hooks are at work, in the order in which they came. */
  #asked: readonly AskedPrompt[] = [];
  #lastTurn: Promise<RunResult> | undefined;
  /** While this is above 0, no turn begins, because the session stops, changes or rewinds its conversation. */
  #pauses = 0;
  readonly #closed = new AbortController();
  /** Counts what is no progress since the last prompt, also in turns that began by themselves. */
  #progress = new ProgressGuard();
  /** True when the last turn made no progress. Announcements then wait for the next prompt. */
  #isStuck = false;
  /** Counts of the subagents that the ends of turns have reported. */
  #shown: SubagentMark | undefined;
  /** Timer of a turn that is about to begin by itself. */
  #waking: NodeJS.Timeout | undefined;

  constructor(
    private readonly parts: SessionParts,
    readonly hooks: SessionHooks,
    private readonly emit: Emit,
  ) {
    parts.inbox.watch({queued: () => this.#wake(), delivered: (message) => this.#delivered(message)});
    for (const {message} of parts.pending) parts.inbox.put(message);
    this.#unattended = this.#createUnattended();
  }

  /** True when a turn or a subagent is at work, and while the turns are paused. */
  get isBusy(): boolean {
    return this.#mustWait || this.#asked.length > 0 || this.parts.manager.count() > 0;
  }

  get #mustWait(): boolean {
    return this.#turn !== undefined || this.#pauses > 0;
  }

  /** Works on what came in. `abort` and the time limit hold from this moment on. */
  receive<T>(work: (arrival: Arrival) => Promise<T>): Promise<T> {
    const unattended = this.#createUnattended();
    const {timeoutSeconds} = {...MAIN_LIMITS, ...this.parts.limits};
    return this.during(async (control) => {
      const deadline = new Deadline(this.parts.run.clock, timeoutSeconds * 1000, () => {
        const why = new RunAborted('timeout', formatTimeout(timeoutSeconds));
        control.abort(why);
        if (unattended) this.endTurn(why);
        unattended?.timeOut();
      });
      try {
        return await work({control, deadline, unattended});
      } finally {
        deadline.stop();
      }
    });
  }

  /** Does work that `abort` ends. */
  async during<T>(work: (control: AbortController) => Promise<T>): Promise<T> {
    const control = new AbortController();
    this.#atWork.add(control);
    try {
      return await work(control);
    } finally {
      this.#atWork.delete(control);
    }
  }

  /** Asks the hooks about the prompt. Then runs a turn, or queues the prompt during one. Prompts keep their order. */
  async submit({id = randomUUID(), ...given}: Prompt, arrival: Arrival): Promise<SubmitResult> {
    const prompt = {...given, id};
    const {control} = arrival;
    const asked = this.hooks.beforePrompt(prompt.content, control.signal);
    const before = this.#asked.at(-1)?.answered;
    if (!asked && !before) return this.#submit(prompt, arrival);
    const isQueued = this.#mustWait || before !== undefined;
    if (isQueued) this.#emitQueued(prompt);
    const answered = Promise.all([asked, before]).then(([refusal]) => refusal);
    const entry: AskedPrompt = {prompt, control, answered};
    this.#asked = [...this.#asked, entry];
    const refusal = await answered;
    const isTakenBack = !this.#asked.includes(entry);
    this.#asked = this.#asked.filter((each) => each !== entry);
    if (control.signal.aborted) return this.endUnsent(prompt, control.signal, isTakenBack);
    if (refusal === undefined) return this.#submit(prompt, arrival, isQueued);
    if (isQueued) this.#emitDropped(prompt);
    const text = `A hook did not let the prompt pass: ${refusal}`;
    this.emit({type: 'notice', level: 'error', text});
    return {type: 'command', ok: false, text, exit: false, input: getLine(prompt)};
  }

  /** Ends a prompt that was stopped before its turn began. */
  endUnsent(prompt: Prompt, {reason}: AbortSignal, isTakenBack = false): SubmitResult {
    const result = {...NO_TOTALS, ...getAbortEnding(reason)};
    if (isTakenBack) return {type: 'turn', result};
    const why = reason instanceof RunAborted ? reason.message : 'stopped';
    this.emit({type: 'notice', level: 'info', text: `The prompt was not sent: ${why}.`});
    return {type: 'turn', result, input: getLine(prompt)};
  }

  /** @param isQueued true when front ends know already that the prompt waits */
  async #submit(
    {content, typed = false, verbatim, id, messageId, fanOut, command}: Prompt & {readonly id: string},
    {control, deadline, unattended}: Arrival,
    isQueued = false,
  ): Promise<SubmitResult> {
    if (this.#mustWait) {
      if (fanOut) {
        this.emit({type: 'notice', level: 'error', text: DURING_TURN});
        return {type: 'command', ok: false, text: DURING_TURN, exit: false};
      }
      if (command) this.parts.inbox.put({id, content, typed, kind: 'command', command, startsTurn: false});
      else this.parts.inbox.put({id, content, typed, messageId, kind: 'prompt', startsTurn: true});
      if (!isQueued) this.#emitQueued({id, content, ...(command && {command})});
      return {type: 'queued', id};
    }
    if (isQueued) this.emit({type: 'queued_prompt_delivered', id});
    // Limits apply to each prompt.
    this.#unattended = unattended;
    this.#progress = new ProgressGuard();
    this.parts.manager.beginPrompt();
    const prompt = {content, typed, verbatim, messageId, ...(fanOut && {fanOut}), ...(command && {command})};
    const first = await this.#begin((signal) => this.#runPrompt(prompt, signal, deadline), control);
    return {type: 'turn', result: (await this.settled()) ?? first};
  }

  /** Takes back a prompt whose hooks are at work. @returns undefined when there is none with this id */
  takeBack(id: string): Prompt | undefined {
    const found = this.#asked.find(({prompt}) => prompt.id === id);
    this.#asked = this.#asked.filter((each) => each !== found);
    found?.control.abort(new RunAborted('user'));
    return found?.prompt;
  }

  #emitQueued(prompt: Prompt & {readonly id: string}): void {
    this.emit({type: 'queued_prompt', id: prompt.id, text: getLine(prompt)});
  }

  #emitDropped(prompt: Pick<QueuedMessage, 'id' | 'content' | 'command'>): void {
    this.emit({type: 'queued_prompt_dropped', id: prompt.id, text: getLine(prompt)});
  }

  #createUnattended(): UnattendedSession | undefined {
    const {interactive, manager, limits} = this.parts;
    return interactive ? undefined : new UnattendedSession(manager, {...MAIN_LIMITS, ...limits});
  }

  /**
   * Waits for all background runs and turns when no person types more.
   * @returns undefined when a person does, and when there was no turn
   */
  async settled(): Promise<RunResult | undefined> {
    return this.#unattended?.settle(() => this.#lastTurn);
  }

  /** Ends the wait of the prompt at work for background runs. */
  releasePrompt(): void {
    this.#unattended?.release();
  }

  /** Waits for the runs that a command continued, and for the turns that follow from them. */
  async settleCommand({unattended}: Arrival): Promise<RunResult | undefined> {
    if (!this.#mustWait) this.#unattended = unattended;
    return this.settled();
  }

  /** Ends the prompts and commands at work, and the turn, also one that began by itself. */
  abort(why: RunAborted): void {
    for (const control of this.#atWork) control.abort(why);
    this.endTurn(why);
  }

  endTurn(why: RunAborted): void {
    this.#turn?.abort(why);
  }

  /** Ends the turn and every run that it started. */
  async stop(): Promise<Stopped> {
    const {manager, inbox} = this.parts;
    const wasBusy = this.#turn !== undefined || this.#asked.length > 0 || manager.count() > 0;
    const runs = manager.list().filter((run) => !hasEnded(run)).length;
    for (const message of [...inbox.drop('prompt'), ...inbox.drop('command')]) this.#emitDropped(message);
    await this.pause(async () => {
      const why = new RunAborted('stop');
      for (const {control} of this.#asked) control.abort(why);
      this.endTurn(why);
      await manager.stopAll();
      await this.#lastTurn;
    });
    return {wasBusy, runs};
  }

  /** Lets no turn begin during `work`. A prompt that comes in the meantime starts the first turn after it. */
  async pause(work: () => Promise<void>): Promise<void> {
    this.#pauses += 1;
    try {
      await work();
    } finally {
      this.#pauses -= 1;
      this.#submitLatePrompts();
    }
  }

  /**
   * Works on the conversation between two turns. `abort` ends the work, and prompts that come in the meantime wait for
   * its end.
   * @throws MiniCcError while a turn is at work
   */
  async between<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#mustWait) throw new MiniCcError('SESSION_BUSY', DURING_TURN);
    const turn = new AbortController();
    this.#turn = turn;
    try {
      return await work(turn.signal);
    } finally {
      this.#turn = undefined;
      if (!this.#submitLatePrompts()) this.#wake();
    }
  }

  /** Lets no further turn begin. */
  close(): void {
    this.#closed.abort(new RunAborted('close'));
    clearTimeout(this.#waking);
    this.parts.inbox.drop('prompt');
    this.parts.inbox.drop('command');
  }

  /** Is aborted when the session ends. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Resolves at the end of the last turn that began. Undefined before the first one. */
  get ended(): Promise<RunResult> | undefined {
    return this.#lastTurn;
  }

  /**
   * Begins a turn when the agent is idle and a queued message asks for one. With a person there, it waits a moment, so
   * that runs that end together are announced together.
   */
  #wake(): void {
    if (!this.#mayWake) return;
    if (this.#unattended) this.#beginByItself();
    else this.#waking ??= setTimeout(() => this.#beginByItself(), GATHER_MS);
  }

  get #mayWake(): boolean {
    if (this.closed.aborted || this.#isStuck || this.#mustWait || !this.parts.inbox.startsTurn) return false;
    return this.#unattended?.mayWake ?? true;
  }

  #beginByItself(): void {
    this.#waking = undefined;
    if (this.#mayWake)
      inBackground(
        this.#begin((signal) => runAgent(this.#createRun(signal))),
        neverRejects,
      );
  }

  #delivered({kind, id}: QueuedMessage): void {
    if (kind === 'companion') return;
    if (kind === 'prompt' || kind === 'command') this.emit({type: 'queued_prompt_delivered', id});
    // The message counts as delivered after the loop has put it into the history, which it does first.
    else queueMicrotask(() => this.parts.manager.announced(id));
  }

  #begin(
    work: (signal: AbortSignal) => Promise<RunResult>,
    control: AbortController = new AbortController(),
  ): Promise<RunResult> {
    const turn = this.#run(work, control);
    this.#lastTurn = turn;
    return turn;
  }

  async #run(work: (signal: AbortSignal) => Promise<RunResult>, turn: AbortController): Promise<RunResult> {
    this.#turn = turn;
    const {model} = this.parts.state;
    this.emit({type: 'run_start', agent: 'main', description: '', model: model.name, queued: false});
    let result: RunResult;
    try {
      result = await work(turn.signal);
    } catch (error) {
      result = createInternalError(error);
    } finally {
      this.#turn = undefined;
      this.parts.allowInTurn([]);
    }
    const {outcome, tools, durationMs, usage} = result;
    const subagents = this.recordSubagents();
    this.emit({
      type: 'run_end',
      outcome,
      reason: formatReason(result),
      tools: tools.length,
      durationMs,
      usage,
      ...countFiles(tools),
      ...(subagents && {subagents}),
    });
    this.#unattended?.turnEnded(result);
    this.#isStuck = outcome === 'limit' && result.limit === NO_PROGRESS;
    // After an interrupt no turn starts by itself: announcements wait for the next prompt.
    if (!this.#submitLatePrompts() && outcome !== 'stopped') this.#wake();
    return result;
  }

  /** Writes what the subagents brought that ended since the last call, if there are any. */
  recordSubagents(): SubagentSummary | undefined {
    const {manager, state} = this.parts;
    const subagents = manager.log.summarize(this.#shown);
    this.#shown = manager.log.mark;
    // A transcript that may not be written has failed the turn already.
    if (subagents) tryOr(() => state.conversation.history.recordTurnEnd(subagents), undefined);
    return subagents;
  }

  /** Starts a turn for prompts that came too late for the last turn, or else for the next command. */
  #submitLatePrompts(): boolean {
    if (this.closed.aborted || this.#mustWait) return false;
    const {inbox} = this.parts;
    let late = inbox.deliver('prompt');
    if (late.length === 0) late = inbox.deliverCommand();
    if (late.length === 0) return false;
    const content = joinContents(late.map((message) => message.content));
    const typed = late.some((message) => message.typed);
    const {command, id, messageId} = late[0]!;
    const prompt = {id, content, typed, messageId, ...(command && {command})};
    inBackground(
      this.receive((arrival) => this.#submit(prompt, arrival)),
      neverRejects,
    );
    return true;
  }

  async #runPrompt(
    {typed, verbatim, fanOut, command, ...prompt}: Omit<Prompt, 'id'>,
    signal: AbortSignal,
    deadline: Deadline,
  ): Promise<RunResult> {
    const {inbox, manager, interactive, agents} = this.parts;
    const run = {...this.#createRun(signal, command?.fork ? undefined : command?.model), deadline};
    this.parts.allowInTurn(command?.allowedTools ?? []);
    const fork = command?.fork && (await createFork(command, interactive, run));
    const runCalls = createRunCalls(run, signal);
    const expanded = command && (fork ? command.line : await runEmbeddedCommands(command.pieces, runCalls));
    const content = expanded ?? prompt.content;
    for (const kind of ['announcement', 'companion'] as const) {
      for (const message of inbox.deliver(kind)) appendDelivered(run, message);
    }
    const isAgent = (name: string) => agents.get(name) !== undefined;
    const task = fork ?? (verbatim ? undefined : parseTypedTask(getText(content), isAgent, typed === true && !command));
    const approved = task || verbatim ? undefined : await this.#approveFanOut(getText(content), fanOut, run);
    // The parts of a fan-out read the files that the prompt names, so nothing is attached.
    const isTyped = typed === true && !task && !approved;
    await appendPrompt(
      run,
      {content, typed: isTyped, messageId: prompt.messageId},
      command && getMentioningText(command.pieces, interactive),
    );
    if (typeof approved === 'string') return {...NO_TOTALS, outcome: 'stopped'};
    if (approved) return runFanOutTurn(this.parts.fanOuts, approved, run);
    if (!task) return runAgent(run);
    return runTypedTask(task, run, (callId) => manager.list().findLast((record) => record.callId === callId));
  }

  /**
   * Decides whether a fan-out works on the prompt.
   * @returns undefined when one agent works on it; a text with the reason when the prompt was refused
   * @throws UsageError when the fan-out is not possible
   */
  async #approveFanOut(
    text: string,
    fanOut: Prompt['fanOut'],
    {signal, deadline}: AgentRun,
  ): Promise<ApprovedFanOut | string | undefined> {
    const {fanOuts} = this.parts;
    if (fanOut === 'continue') return fanOuts.resume();
    deadline?.pause();
    try {
      return await (fanOut ? fanOuts.request({instruction: text}, signal, 'person') : fanOuts.consider(text, signal));
    } finally {
      deadline?.resume();
    }
  }

  /** @param model model that a command file names @throws UsageError when it cannot be used */
  #createRun(signal: AbortSignal, model?: string): AgentRun {
    const made = {...createMainRun(this.parts, signal), progress: this.#progress};
    const run = model === undefined ? made : {...made, model: this.parts.resolveModel(model)};
    return this.#unattended ? {...run, limits: {...run.limits, ...this.#unattended.limitsLeft}} : run;
  }
}

/** Makes the task of a command file that a subagent works on. */
async function createFork(
  {fork, pieces, model}: NonNullable<Prompt['command']>,
  interactive: boolean,
  run: AgentRun,
): Promise<TypedTask> {
  const prompt = await createRunPrompt(pieces, interactive, run.workspace, createRunCalls(run, run.signal));
  return {...fork!, prompt, ...(model !== undefined && {model})};
}

/** Returns the prompt as it was typed. */
function getLine({content, command}: Pick<QueuedMessage, 'content' | 'command'>): string {
  return command?.line ?? getText(content);
}

export function createMainRun(parts: SessionParts, signal: AbortSignal): AgentRun {
  const {run, state, inbox, limits} = parts;
  const {history, output} = state.conversation;
  const system = parts.getSystem(state.conversation);
  const hooks = createRunHooks(parts.hooks, undefined);
  return {
    ...run,
    hooks,
    model: state.model,
    system,
    history,
    output,
    inbox,
    limits: {...MAIN_LIMITS, ...limits},
    signal,
  };
}
