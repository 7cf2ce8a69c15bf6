/** One conversation, whatever the front end: the main agent's history, its turn under way, what waits for the next. */

import {randomUUID} from 'node:crypto';
import {type AgentRun, runAgent} from './agent-loop.ts';
import type {AgentCatalog} from './agent-types.ts';
import type {Command} from './contract/command.ts';
import type {AgentEvent, Answer, Emit, PermissionMode, SessionInfo} from './contract/events.ts';
import type {Limits} from './contract/limits.ts';
import type {Model} from './contract/model.ts';
import type {RunResult} from './contract/run-result.ts';
import type {RunRecord} from './contract/runs.ts';
import type {FrontEndSession, SubmitResult} from './contract/session.ts';
import type {Denial} from './permissions/decision.ts';
import type {Announcement} from './runs/announcer.ts';
import {descriptionsOf} from './runs/run-record.ts';
import type {Redactor} from './secrets/redaction.ts';
import {CommandRunner} from './session/commands.ts';
import type {Conversation, SessionParts} from './session/parts.ts';
import {runTypedTask} from './session/typed-task.ts';
import {Headless} from './session/unattended.ts';
import type {SubagentManager} from './subagent-manager.ts';
import {MAIN_LIMITS} from './turn/deadline.ts';
import type {Inbox, Letter} from './turn/inbox.ts';
import {CutOff, failedInside, reasonOf} from './turn/run-ending.ts';
import {createTokenBudget} from './turn/token-budget.ts';
import {isCommandLine, parseTypedTask} from './util/prompt-syntax.ts';

export type {Command, CommandContext, CommandResult} from './contract/command.ts';

export class Session implements FrontEndSession {
  readonly #parts: SessionParts;
  readonly #emit: Emit;
  readonly #inbox: Inbox;
  #conversation: Conversation;
  #model: Model;
  #turn: AbortController | undefined;
  #turnEnded: Promise<RunResult> | undefined;
  #closed = false;
  /** While all is being stopped, nothing begins by itself. */
  #stopping = 0;
  /** Announcements that nobody was there to see. */
  #untold: readonly Announcement[];
  readonly #headless: Headless | undefined;
  readonly #commands: CommandRunner;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#conversation = parts.firstConversation;
    this.#model = parts.model;
    this.#emit = parts.bus.emitFor(parts.agentId);
    this.#commands = new CommandRunner(parts, this.#emit);
    this.#inbox = parts.inbox;
    this.#inbox.watch({put: () => this.#wake(), taken: (letter) => this.#taken(letter)});
    this.#untold = parts.pending;
    for (const {letter} of parts.pending) this.#inbox.put(letter);
    this.#headless = parts.interactive ? undefined : new Headless(parts.manager, this.#limits);
  }

  get info(): SessionInfo {
    return {
      ...this.#parts.info,
      sessionId: this.#conversation.id,
      transcript: this.#conversation.transcript,
      restored: this.#conversation.restored,
      // Asked for at each look: only for a session that goes on is it worth the work.
      runDescriptions: this.#conversation.restored.length === 0 ? {} : descriptionsOf(this.#parts.manager.list()),
      model: this.#model.name,
      offline: this.#model.offline,
      permissionMode: this.#parts.permissions().mode,
    };
  }

  get model(): Model {
    return this.#model;
  }

  get subagents(): SubagentManager {
    return this.#parts.manager;
  }

  get redactor(): Redactor {
    return this.#parts.redactor;
  }

  get agents(): AgentCatalog {
    return this.#parts.agents;
  }

  /** Runs of subagents in this session, oldest first. */
  get runs(): readonly RunRecord[] {
    return this.#parts.manager.list();
  }

  /** Calls that were refused so far. */
  get denials(): readonly Denial[] {
    return this.#parts.denials;
  }

  get commands(): readonly Command[] {
    return this.#parts.commands;
  }

  subscribe(listener: (event: AgentEvent) => void): () => void {
    const unsubscribe = this.#parts.bus.subscribe(listener);
    // Told as soon as somebody listens; the model reads it with the next prompt.
    queueMicrotask(() => {
      for (const {event} of this.#untold) this.#emit(event);
      this.#untold = [];
    });
    return unsubscribe;
  }

  async submit(text: string): Promise<SubmitResult> {
    return this.redactor.values(await this.#submit(text));
  }

  async #submit(text: string): Promise<SubmitResult> {
    const prompt = text.trim();
    if (this.#closed) return {type: 'command', ok: false, text: 'The session is closed.', exit: true};
    if (isCommandLine(prompt)) {
      const done = await this.#commands.run(prompt, this);
      // It may have sent a run on its way.
      const result = this.#parts.manager.count() > 0 ? await this.#settled() : undefined;
      return result ? {type: 'turn', result} : done;
    }
    if (this.#turn || this.#stopping > 0) {
      const letter = {id: randomUUID(), text: prompt};
      this.#inbox.put({...letter, kind: 'prompt', wakes: true});
      this.#emit({type: 'queued_prompt', ...letter});
      return {type: 'queued'};
    }
    const first = await this.#begin((signal) => this.#prompt(prompt, signal));
    return {type: 'turn', result: (await this.#settled()) ?? first};
  }

  /** The main agent's run, as the next turn would be. For programs that call `runAgent` themselves. */
  createRun(signal: AbortSignal): AgentRun {
    return {
      ...this.#parts.run,
      model: this.#model,
      history: this.#conversation.history,
      output: this.#conversation.output,
      inbox: this.#inbox,
      limits: this.#headless?.limitsLeft ?? this.#limits,
      tokens: createTokenBudget(),
      signal,
    };
  }

  answer(askId: string, answer: Answer): void {
    this.#parts.questions.answer(askId, answer);
  }

  abort(): void {
    this.#turn?.abort(new CutOff('user'));
    this.#commands.abort(new CutOff('user'));
  }

  /** Ends the turn and every run started from it; the session stays. */
  async stop(): Promise<boolean> {
    const wasBusy = this.#turn !== undefined || this.#parts.manager.count() > 0;
    for (const {id, text} of this.#inbox.drop('prompt')) this.#emit({type: 'queued_prompt_dropped', id, text});
    this.#stopping += 1;
    this.#turn?.abort(new CutOff('stop'));
    await this.#parts.manager.stopAll();
    await this.#turnEnded;
    this.#stopping -= 1;
    this.#takeLatePrompts();
    return wasBusy;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#inbox.drop('prompt');
    this.#turn?.abort(new CutOff('close'));
    this.#commands.abort(new CutOff('close'));
    await this.#parts.manager.close();
    await this.#turnEnded;
    this.#conversation.close();
    await this.#parts.onClose();
  }

  /** A new conversation; the old transcript stays where it is. */
  async clear(): Promise<void> {
    // What is typed meanwhile belongs to the new conversation.
    this.#stopping += 1;
    await this.stop();
    await this.#parts.manager.clear();
    // They belong to the conversation that ends here, and are told when it goes on.
    this.#inbox.drop('announcement');
    this.#conversation.close();
    this.#conversation = this.#parts.openConversation();
    this.#emit({type: 'cleared'});
    this.#announce();
    this.#stopping -= 1;
    this.#takeLatePrompts();
  }

  /** A turn or a subagent is at work. */
  get isBusy(): boolean {
    return this.#turn !== undefined || this.#stopping > 0 || this.#parts.manager.count() > 0;
  }

  /**
   * Takes the conversation back to before a message.
   * @param to the uuid of its line in the transcript. @param kept how many messages that count come before it.
   */
  rewind(to: string, kept: number): void {
    this.#conversation.history.rewind(to, kept);
    this.#emit({type: 'rewound'});
  }

  /** @throws UsageError when the name cannot be used. */
  setModel(name: string): void {
    this.#model = this.#parts.resolveModel(name);
    this.#announce();
  }

  /** For all agents of the session, at once. */
  setPermissionMode(mode: PermissionMode): void {
    this.#parts.setPermissionMode(mode);
    this.#announce();
  }

  #announce(): void {
    this.#emit({type: 'session', info: this.info});
  }

  /** A letter came for which an idle agent begins a turn: it takes it up at the turn's top. */
  #wake(): void {
    if (this.#turn || this.#closed || this.#stopping > 0 || !this.#inbox.wakes) return;
    if (this.#headless && !this.#headless.mayWake) return;
    void this.#begin((signal) => runAgent(this.createRun(signal)));
  }

  /** Where nobody types on: all background runs and turns have ended. Undefined elsewhere, and without any turn. */
  async #settled(): Promise<RunResult | undefined> {
    const endTurn = (why: CutOff) => this.#turn?.abort(why);
    return this.#headless?.settle(() => this.#turnEnded, endTurn);
  }

  #taken({kind, id}: Letter): void {
    if (kind === 'prompt') this.#emit({type: 'queued_prompt_taken', id});
    // Once it is in the history, where the loop puts it before it does anything else.
    else queueMicrotask(() => this.#parts.manager.announced(id));
  }

  #begin(work: (signal: AbortSignal) => Promise<RunResult>): Promise<RunResult> {
    const turn = this.#run(work);
    this.#turnEnded = turn;
    return turn;
  }

  /** One turn at a time. */
  async #run(work: (signal: AbortSignal) => Promise<RunResult>): Promise<RunResult> {
    const turn = new AbortController();
    this.#turn = turn;
    this.#emit({type: 'run_start', agent: 'main', description: '', model: this.#model.name, queued: false});
    let result: RunResult;
    try {
      result = await work(turn.signal);
    } catch (error) {
      result = failedInside(error);
    } finally {
      this.#turn = undefined;
    }
    const {outcome, tools, durationMs, usage} = result;
    this.#emit({type: 'run_end', outcome, reason: reasonOf(result), tools: tools.length, durationMs, usage});
    this.#headless?.turnEnded(result);
    // Whoever interrupted wants silence: what came meanwhile is read with the next prompt, or the next that comes.
    if (!this.#takeLatePrompts() && outcome !== 'stopped') this.#wake();
    return result;
  }

  /** What came in too late for the last step of a turn starts the next one. */
  #takeLatePrompts(): boolean {
    if (this.#closed || this.#stopping > 0 || this.#turn) return false;
    const late = this.#inbox.take('prompt');
    if (late.length > 0) void this.submit(late.map((letter) => letter.text).join('\n\n'));
    return late.length > 0;
  }

  async #prompt(text: string, signal: AbortSignal): Promise<RunResult> {
    for (const letter of this.#inbox.take('announcement')) this.#appendUser(letter.text);
    this.#conversation.history.prompt(text);
    this.#emit({type: 'message', role: 'user', content: text});
    const run = this.createRun(signal);
    const task = parseTypedTask(text);
    if (!task) return runAgent(run);
    return runTypedTask(task, run, (callId) => this.runs.findLast((record) => record.callId === callId));
  }

  get #limits(): Limits {
    return {...MAIN_LIMITS, ...this.#parts.limits};
  }

  #appendUser(text: string): void {
    this.#conversation.history.append({role: 'user', content: text});
    this.#emit({type: 'message', role: 'user', content: text});
  }
}
