/**
 * A session, the same for all front ends: the main agent's conversation, its turns and the runs of subagents. Each verb
 * goes to one part: `submit` to turns and commands, `request` to requests, `answer` to questions.
 */
import type {AgentEvent, Answer, Emit, SessionInfo} from './contract/events.ts';
import type {
  Prompt,
  Request,
  RequestAnswer,
  RequestName,
  Requests,
  Session,
  SubmitResult,
} from './contract/session-requests.ts';
import {runCommand} from './session/commands.ts';
import {closeConversation, type SessionParts} from './session/parts.ts';
import {createRequests, emitRestoredUse} from './session/requests.ts';
import {SessionHooks} from './session/session-hooks.ts';
import {type Arrival, Turns} from './session/turns.ts';
import {RunAborted} from './turn/run-ending.ts';
import {inBackground} from './util/background.ts';
import {getErrorMessage, MiniCcError} from './util/errors.ts';
import {readBranch} from './util/files/git-folder.ts';
import {getText} from './util/messages.ts';
import {parseCommandLine, parseTypedLine} from './util/prompt-syntax.ts';

export function createSession(parts: SessionParts): Session {
  return new LocalSession(parts);
}

class LocalSession implements Session {
  readonly #emit: Emit;
  readonly #hooks: SessionHooks;
  readonly #turns: Turns;
  readonly #requests: Requests;
  #closing: Promise<void> | undefined;
  /** Announcements of an earlier process. They wait until a front end listens. */
  #pending: SessionParts['pending'];
  #isUseShown = false;

  constructor(private readonly parts: SessionParts) {
    this.#emit = parts.bus.emitFor(parts.agentId);
    this.#hooks = new SessionHooks(parts, (why) => this.#turns.endTurn(why));
    this.#hooks.start(parts.state.conversation.restored.length > 0 ? 'resume' : 'startup');
    this.#turns = new Turns(parts, this.#hooks, this.#emit);
    this.#requests = createRequests(parts, this.#turns, this.#emit, () => this.info);
    this.#pending = parts.pending;
  }

  get info(): SessionInfo {
    const {info, state, manager, redactor} = this.parts;
    const {id, transcript, restored, earlierMessages = 0} = state.conversation;
    const branch = readBranch(info.cwd);
    return {
      ...redactor.values({
        ...info,
        sessionId: id,
        transcript,
        // The list is collected at each call, and only a session that continues has such runs.
        restoredRuns:
          restored.length === 0
            ? []
            : manager.list().filter(({outcome, tool}) => outcome !== undefined && tool === undefined),
        model: state.model.name,
        offline: state.model.offline,
        ...(state.model.source?.keyEnv !== undefined && {keyEnv: state.model.source.keyEnv}),
        permissionMode: this.parts.permissions().mode,
        ...(state.theme && {theme: state.theme}),
        ...(state.notify && {notify: state.notify}),
        ...(state.vim && {vim: state.vim}),
        ...(state.title === false && {title: false}),
        ...(this.parts.runStatusLine && {statusLine: true}),
        ...(branch !== undefined && {branch}),
      }),
      restored,
      ...(earlierMessages > 0 && {earlierMessages}),
    };
  }

  subscribe(listener: (event: AgentEvent) => void): () => void {
    const unsubscribe = this.parts.bus.subscribe(listener);
    // The screen shows the announcements as soon as a front end listens. The model reads them with the next prompt.
    queueMicrotask(() => {
      for (const {event} of this.#pending) this.#emit(event);
      this.#pending = [];
      const onError = (error: unknown) => this.#emit({type: 'notice', level: 'warning', text: getErrorMessage(error)});
      if (!this.#isUseShown) inBackground(emitRestoredUse(this.parts, this.#emit), onError);
      this.#isUseShown = true;
    });
    return unsubscribe;
  }

  async submit(input: string | Prompt): Promise<SubmitResult> {
    const prompt = typeof input === 'string' ? {content: input.trim()} : input;
    return this.parts.redactor.values(await this.#turns.receive((arrival) => this.#submit(prompt, arrival)));
  }

  async #submit(prompt: Prompt, arrival: Arrival): Promise<SubmitResult> {
    if (this.#closing) return {type: 'command', ok: false, text: 'The session is closed.', exit: true};
    const text = getText(prompt.content);
    const line = prompt.typed ? parseTypedLine(text) : parseCommandLine(text);
    // A note needs an answer. Where no person can be asked, `#42 is broken` goes to the model.
    const command = line?.name === '#' && !this.parts.interactive ? undefined : line;
    if (!command || prompt.verbatim) return this.#turns.submit(prompt, arrival);
    const {signal} = arrival.control;
    const deps = {parts: this.parts, session: this, emit: this.#emit, signal, deadline: arrival.deadline};
    const {manager} = this.parts;
    const runs = manager.count();
    const {done, prompt: next} = await runCommand(command, deps);
    if (signal.aborted && (next || !this.parts.interactive)) return this.#turns.endUnsent(prompt, signal);
    // Front ends know the prompt by the ids that they gave it.
    const {id, messageId} = prompt;
    if (next) return this.#turns.submit({...next, messageId, ...(id !== undefined && {id})}, arrival);
    // The command may have continued a run.
    const result = manager.count() > runs ? await this.#turns.settleCommand(arrival) : undefined;
    return result ? {type: 'turn', result} : done;
  }

  request<N extends RequestName>({type, ...parameters}: Request<N>): RequestAnswer<N> {
    if (!Object.hasOwn(this.#requests, type)) {
      throw new MiniCcError('UNSUPPORTED_REQUEST', `There is no request ${type}`);
    }
    const handle = this.#requests[type] as (request: object) => RequestAnswer<N>;
    const answer = handle(parameters);
    const {redactor} = this.parts;
    if (!(answer instanceof Promise)) return redactor.values(answer);
    return answer.then((value) => redactor.values(value)) as RequestAnswer<N>;
  }

  answer(askId: string, answer: Answer): void {
    this.parts.questions.answer(askId, answer);
  }

  abort(): void {
    this.#turns.abort(new RunAborted('user'));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#turns.close();
    this.#turns.abort(new RunAborted('close'));
    await this.parts.manager.close();
    await this.#turns.ended;
    this.#turns.recordSubagents();
    await this.#hooks.close(this.#emit);
    closeConversation(this.parts.state.conversation, this.#emit);
    await this.parts.onClose();
  }
}
