/** Hooks about the session: its start and end, each prompt, and questions to the person. */
import {randomUUID} from 'node:crypto';
import type {AgentEvent, Emit} from '../contract/events.ts';
import type {HookAnswer, HookCall, HookEvent} from '../contract/hook.ts';
import type {PromptContent} from '../contract/model.ts';
import {RunAborted} from '../turn/run-ending.ts';
import {formatHookStop} from '../turn/run-hooks.ts';
import {inBackground, neverRejects, untilAborted} from '../util/background.ts';
import {getText} from '../util/messages.ts';
import type {SessionParts} from './parts.ts';

/** Milliseconds that the hooks of the session's end have while mini-cc leaves. */
const MAX_END_MS = 5_000;

const NOTHING_SAID: HookAnswer = {context: []};

type SessionStart = 'startup' | 'resume' | 'clear';

export class SessionHooks {
  /** Resolves to the reason why a hook of the session's start forbids prompts, if one does. */
  #started: Promise<string | undefined> | undefined;
  /** Ends the hooks that belong to no prompt, when the session is closed. */
  readonly #closing = new AbortController();
  /** Ids of the questions that wait for an answer. */
  readonly #questions = new Set<string>();

  /** @param endTurn ends the current turn */
  constructor(
    private readonly parts: SessionParts,
    private readonly endTurn: (why: RunAborted) => void,
  ) {
    parts.hooks.late?.onContext((event, text) => this.#tell(event, text));
    if (parts.hooks.listens('Notification')) parts.bus.subscribe((event) => this.#notify(event));
  }

  /**
   * Runs the hooks of the session's start. The model reads their output with the next prompt. A hook that ends the
   * session blocks all prompts.
   */
  start(source: SessionStart): void {
    const {hooks} = this.parts;
    if (!hooks.listens('SessionStart')) return;
    const answered = this.#run({event: 'SessionStart', subject: source, input: {source}}, this.#closing.signal);
    this.#started = answered.then(({stops}) => stops);
  }

  /**
   * Asks the hooks about a prompt. It returns undefined instead of a promise when there is nothing to wait for.
   * @param signal signal of the prompt, which ends the waiting
   * @returns why the prompt must not be sent; undefined when it may be sent
   */
  beforePrompt(content: PromptContent, signal: AbortSignal): Promise<string | undefined> | undefined {
    const isAsked = this.parts.hooks.listens('UserPromptSubmit');
    return isAsked || this.#started ? this.#askAbout(content, isAsked, signal) : undefined;
  }

  async #askAbout(content: PromptContent, isAsked: boolean, signal: AbortSignal): Promise<string | undefined> {
    // An abort ends only the waiting. The caller looks at the signal.
    const refusal = this.#started && (await untilAborted(this.#started, signal).catch(() => undefined));
    if (refusal !== undefined || !isAsked || signal.aborted) return refusal;
    const {blocked, stops} = await this.#run({event: 'UserPromptSubmit', input: {prompt: getText(content)}}, signal);
    return blocked ?? stops;
  }

  /** Ends the hooks at work, and runs those of the session's end for a limited time. */
  async close(emit: Emit): Promise<void> {
    this.#closing.abort(new RunAborted('close'));
    const limit = AbortSignal.timeout(MAX_END_MS);
    await this.end('other', limit);
    await this.parts.hooks.late?.close(MAX_END_MS);
    if (!limit.aborted) return;
    const text = `The SessionEnd hooks were stopped after ${MAX_END_MS / 1000} s, since mini-cc leaves.`;
    emit({type: 'notice', level: 'error', text});
  }

  async end(reason: 'other' | 'clear' | 'resume', signal: AbortSignal): Promise<void> {
    const {hooks} = this.parts;
    if (hooks.listens('SessionEnd')) await hooks.run({event: 'SessionEnd', subject: reason, input: {reason}}, signal);
  }

  /** Runs hooks, and queues their texts for the model until the next prompt. */
  async #run(call: HookCall, signal: AbortSignal) {
    const {hooks} = this.parts;
    const answer = await hooks.run(call, signal);
    if (signal.aborted) return NOTHING_SAID;
    for (const text of answer.context) this.#tell(call.event, text);
    return answer;
  }

  #tell(event: HookEvent, content: string): void {
    const label = `a ${event} hook`;
    this.parts.inbox.put({id: randomUUID(), kind: 'companion', content, label, startsTurn: false});
  }

  #notify(event: AgentEvent): void {
    if (event.type === 'ask_end') this.#questions.delete(event.askId);
    if (event.type !== 'ask') return;
    this.#questions.add(event.question.id);
    inBackground(this.#notifyOfQuestion(event), neverRejects);
  }

  /** Runs hooks about a question. Instead of an answer, a hook may end the turn, or the background run that asks. */
  async #notifyOfQuestion(event: AgentEvent & {readonly type: 'ask'}): Promise<void> {
    const {manager} = this.parts;
    const type = 'permission_prompt';
    const input = {message: `mini-cc asks: ${event.question.title}`, notification_type: type};
    const {stops} = await this.#run({event: 'Notification', subject: type, input}, this.#closing.signal);
    // The question may be answered by now. The work must then go on.
    if (stops === undefined || !this.#questions.has(event.question.id)) return;
    if (manager.get(event.agentId)?.background) await manager.stop(event.agentId);
    else this.endTurn(new RunAborted('hook', formatHookStop(stops)));
  }
}
