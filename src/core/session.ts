/**
 * One conversation: four verbs and a subscription, whatever the front end. It owns the main agent's history,
 * the turn under way, and what waits for the next.
 */
import {randomUUID} from 'node:crypto';
import {type AgentRun, runAgent} from './agent-loop.ts';
import {completeOnce} from './complete-once.ts';
import {messageOf} from './errors.ts';
import type {EventBus} from './event-bus.ts';
import type {AgentEvent, Answer, Emit, Question, SessionInfo} from './events.ts';
import type {FrontEndSession, SubmitResult} from './front-end.ts';
import type {History} from './history.ts';
import {Inbox} from './inbox.ts';
import {type Limits, MAIN_LIMITS} from './limits.ts';
import {type Message, NO_USAGE} from './messages.ts';
import type {Model} from './model.ts';
import type {Denial} from './permit.ts';
import type {Questions} from './questions.ts';
import {CutOff, type RunResult, reasonOf} from './run-result.ts';
import type {RunRecord, SubagentManager} from './subagent-manager.ts';
import {parseTypedTask, runTypedTask} from './typed-task.ts';

/** What a slash command may do. Its words come back; the session emits them. */
export interface CommandContext {
  readonly session: Session;
  readonly args: string;
  /** A line before the command's end. */
  say(text: string): void;
  /** Undefined where nobody can be asked, or when the person interrupted. */
  ask(question: Omit<Question, 'id' | 'agent'>): Promise<Answer | undefined>;
  /** One answer of the session's model outside the conversation, as JSON by the schema. @throws ModelError */
  complete(prompt: string, schema: Readonly<Record<string, unknown>>): Promise<string>;
}

export interface CommandResult {
  readonly ok: boolean;
  readonly text: string;
  readonly exit?: boolean;
}

export interface Command {
  readonly name: string;
  readonly description: string;
  run(context: CommandContext): Promise<CommandResult> | CommandResult;
}

/** What a session is made of; `compose.ts` puts it together. */
export interface SessionParts {
  readonly info: Omit<SessionInfo, 'model' | 'offline' | 'permissionMode' | 'sessionId' | 'transcript' | 'restored'>;
  readonly agentId: string;
  readonly bus: EventBus;
  readonly questions: Questions;
  readonly manager: SubagentManager;
  readonly commands: readonly Command[];
  readonly denials: readonly Denial[];
  /** A person can be asked. */
  readonly interactive: boolean;
  /** Lets go of what was watched. */
  onClose(): void;
  readonly permissionMode: () => SessionInfo['permissionMode'];
  readonly limits: Partial<Limits>;
  /** The first conversation, and a new one for /clear. */
  openConversation(): Conversation;
  resolveModel(name: string): Model;
  readonly firstConversation: Conversation;
  readonly model: Model;
  /** The main agent's run, but for what changes from turn to turn. */
  readonly run: Omit<AgentRun, 'model' | 'history' | 'inbox' | 'limits' | 'signal' | 'output'>;
}

/** One transcript and what belongs to it. */
export interface Conversation {
  readonly id: string;
  readonly history: History;
  readonly output: AgentRun['output'];
  readonly transcript: string;
  /** What was said before, of a session that goes on. */
  readonly restored: readonly Message[];
  close(): void;
}

export class Session implements FrontEndSession {
  readonly #parts: SessionParts;
  readonly #emit: Emit;
  readonly #inbox: Inbox;
  #conversation: Conversation;
  #model: Model;
  #turn: AbortController | undefined;
  #turnEnded: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** Ends what commands wait for: an answer of a person or of the model. */
  #commandAbort = new AbortController();

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#conversation = parts.firstConversation;
    this.#model = parts.model;
    this.#emit = parts.bus.emitFor(parts.agentId);
    this.#inbox = new Inbox((letter) => this.#emit({type: 'queued_prompt_taken', id: letter.id}));
  }

  get info(): SessionInfo {
    return {
      ...this.#parts.info,
      sessionId: this.#conversation.id,
      transcript: this.#conversation.transcript,
      restored: this.#conversation.restored,
      model: this.#model.name,
      offline: this.#model.offline,
      permissionMode: this.#parts.permissionMode(),
    };
  }

  get model(): Model {
    return this.#model;
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
    return this.#parts.bus.subscribe(listener);
  }

  async submit(text: string): Promise<SubmitResult> {
    const prompt = text.trim();
    if (this.#closed) return {type: 'command', ok: false, text: 'The session is closed.', exit: true};
    if (prompt.startsWith('/') && /^\/[a-z-]+(\s|$)/i.test(prompt)) return this.#command(prompt);
    if (this.#turn) {
      const letter = {id: randomUUID(), text: prompt};
      this.#inbox.put(letter);
      this.#emit({type: 'queued_prompt', ...letter});
      return {type: 'queued'};
    }
    const turn = this.#run((signal) => this.#prompt(prompt, signal));
    this.#turnEnded = turn;
    return {type: 'turn', result: await turn};
  }

  answer(askId: string, answer: Answer): void {
    this.#parts.questions.answer(askId, answer);
  }

  abort(): void {
    this.#turn?.abort(new CutOff('user'));
    this.#commandAbort.abort(new CutOff('user'));
    this.#commandAbort = new AbortController();
  }

  /** Ends the turn and every run started from it; the session stays. */
  async stop(): Promise<boolean> {
    const wasBusy = this.#turn !== undefined || this.#parts.manager.count() > 0;
    for (const letter of this.#inbox.drop()) this.#emit({type: 'queued_prompt_dropped', ...letter});
    this.#turn?.abort(new CutOff('stop'));
    await this.#parts.manager.stopAll();
    await this.#turnEnded;
    return wasBusy;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#inbox.drop();
    this.#turn?.abort(new CutOff('close'));
    this.#commandAbort.abort(new CutOff('close'));
    await this.#parts.manager.stopAll();
    await this.#turnEnded;
    this.#conversation.close();
    this.#parts.onClose();
  }

  /** A new conversation; the old transcript stays where it is. */
  async clear(): Promise<void> {
    await this.stop();
    this.#conversation.close();
    this.#conversation = this.#parts.openConversation();
    this.#emit({type: 'cleared'});
    this.#announce();
  }

  /** @throws UsageError when the name cannot be used. */
  setModel(name: string): void {
    this.#model = this.#parts.resolveModel(name);
    this.#announce();
  }

  #announce(): void {
    this.#emit({type: 'session', info: this.info});
  }

  #commandContext(args: string): CommandContext {
    return {
      session: this,
      args,
      say: (text) => this.#emit({type: 'notice', level: 'info', text}),
      ask: async (question) => {
        if (!this.#parts.interactive) return undefined;
        const {signal} = this.#commandAbort;
        const asked = {...question, id: randomUUID(), agent: 'mini-cc'};
        const answer = await this.#parts.questions.ask(asked, this.#emit, signal);
        return answer === 'withdrawn' ? undefined : answer;
      },
      complete: (prompt, schema) => completeOnce(this.#model, prompt, schema, this.#commandAbort.signal),
    };
  }

  async #command(line: string): Promise<SubmitResult> {
    const [, name = '', args = ''] = /^\/(\S+)\s*([\s\S]*)$/.exec(line) ?? [];
    const command = this.#parts.commands.find((candidate) => candidate.name === name.toLowerCase());
    let result: CommandResult;
    try {
      result = command
        ? await command.run(this.#commandContext(args.trim()))
        : {ok: false, text: `Unknown command: /${name}. /help lists the commands.`};
    } catch (error) {
      result = {ok: false, text: messageOf(error)};
    }
    if (result.text !== '') this.#emit({type: 'notice', level: result.ok ? 'info' : 'error', text: result.text});
    return {type: 'command', ok: result.ok, text: result.text, exit: result.exit ?? false};
  }

  /** One turn at a time; what came in too late for its last step starts the next one. */
  async #run(work: (signal: AbortSignal) => Promise<RunResult>): Promise<RunResult> {
    const turn = new AbortController();
    this.#turn = turn;
    const description = '';
    this.#emit({type: 'run_start', agent: 'main', description, model: this.#model.name, queued: false});
    let result: RunResult;
    try {
      result = await work(turn.signal);
    } catch (error) {
      result = internalError(error);
    } finally {
      this.#turn = undefined;
    }
    const {outcome, tools, durationMs, usage} = result;
    this.#emit({type: 'run_end', outcome, reason: reasonOf(result), tools: tools.length, durationMs, usage});
    const [late] = this.#closed
      ? []
      : [
          this.#inbox
            .take()
            .map((letter) => letter.text)
            .join('\n\n'),
        ];
    if (late) void this.submit(late);
    return result;
  }

  async #prompt(text: string, signal: AbortSignal): Promise<RunResult> {
    this.#appendUser(text);
    const run = this.#runWith(signal);
    const task = parseTypedTask(text);
    if (!task) return runAgent(run);
    return runTypedTask(task, run, (callId) => this.runs.findLast((record) => record.callId === callId));
  }

  #runWith(signal: AbortSignal): AgentRun {
    return {
      ...this.#parts.run,
      model: this.#model,
      history: this.#conversation.history,
      output: this.#conversation.output,
      inbox: this.#inbox,
      limits: {...MAIN_LIMITS, ...this.#parts.limits},
      signal,
    };
  }

  #appendUser(text: string): void {
    this.#conversation.history.append({role: 'user', content: text});
    this.#emit({type: 'message', role: 'user', content: text});
  }
}

function internalError(error: unknown): RunResult {
  return {
    outcome: 'error',
    code: 'INTERNAL',
    error: messageOf(error),
    text: '',
    usage: NO_USAGE,
    usageByModel: {},
    turns: 0,
    tools: [],
    durationMs: 0,
    modelMs: 0,
  };
}
