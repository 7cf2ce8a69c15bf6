/** Hooks about the session: its start and end, each prompt, and questions to the person. */
import {randomUUID} from 'node:crypto';
import type {AgentEvent} from '../contract/events.ts';
import type {HookCall} from '../contract/hook.ts';
import type {PromptContent} from '../contract/model.ts';
import {RunAborted} from '../turn/run-ending.ts';
import {formatHookStop} from '../turn/run-hooks.ts';
import {inBackground, neverRejects} from '../util/background.ts';
import {getText} from '../util/messages.ts';
import type {SessionParts} from './parts.ts';

type SessionStart = 'startup' | 'resume' | 'clear';

export class SessionHooks {
  /** Resolves to the reason why a hook of the session's start forbids prompts, if one does. */
  #started: Promise<string | undefined> | undefined;
  /** Ids of the questions that wait for an answer. */
  readonly #questions = new Set<string>();

  /** @param endTurn ends the current turn */
  constructor(
    private readonly parts: SessionParts,
    private readonly endTurn: (why: RunAborted) => void,
  ) {
    if (parts.hooks.listens('Notification')) parts.bus.subscribe((event) => this.#notify(event));
  }

  /**
   * Runs the hooks of the session's start. The model reads their output with the next prompt. A hook that ends the
   * session blocks all prompts.
   */
  start(source: SessionStart): void {
    const {hooks} = this.parts;
    if (!hooks.listens('SessionStart')) return;
    const answered = this.#run({event: 'SessionStart', subject: source, input: {source}});
    this.#started = answered.then(({stops}) => stops);
  }

  /**
   * Asks the hooks about a prompt. It returns undefined instead of a promise when there is nothing to wait for.
   * @returns why the prompt must not be sent; undefined when it may be sent
   */
  beforePrompt(content: PromptContent): Promise<string | undefined> | undefined {
    const isAsked = this.parts.hooks.listens('UserPromptSubmit');
    return isAsked || this.#started ? this.#askAbout(content, isAsked) : undefined;
  }

  async #askAbout(content: PromptContent, isAsked: boolean): Promise<string | undefined> {
    const refusal = await this.#started;
    if (refusal !== undefined || !isAsked) return refusal;
    const {blocked, stops} = await this.#run({event: 'UserPromptSubmit', input: {prompt: getText(content)}});
    return blocked ?? stops;
  }

  async end(reason: 'other' | 'clear' | 'resume'): Promise<void> {
    const {hooks} = this.parts;
    if (hooks.listens('SessionEnd')) await hooks.run({event: 'SessionEnd', subject: reason, input: {reason}});
  }

  /** Runs hooks, and queues their texts for the model until the next prompt. */
  async #run(call: HookCall) {
    const {hooks, inbox} = this.parts;
    const answer = await hooks.run(call);
    for (const content of answer.context) {
      inbox.put({id: randomUUID(), kind: 'companion', content, label: `a ${call.event} hook`, startsTurn: false});
    }
    return answer;
  }

  #notify(event: AgentEvent): void {
    if (event.type === 'ask_end') this.#questions.delete(event.askId);
    if (event.type !== 'ask') return;
    this.#questions.add(event.question.id);
    inBackground(this.#notifyOfQuestion(event), neverRejects);
  }

  /** Runs hooks about a question. Instead of an answer, a hook may end the turn, or the background run that asks. */
  async #notifyOfQuestion(event: AgentEvent & {readonly type: 'ask'}): Promise<void> {
    const {hooks, manager} = this.parts;
    const type = 'permission_prompt';
    const input = {message: `mini-cc asks: ${event.question.title}`, notification_type: type};
    const {stops} = await hooks.run({event: 'Notification', subject: type, input});
    // The question may be answered by now, so that the work must go on.
    if (stops === undefined || !this.#questions.has(event.question.id)) return;
    if (manager.get(event.agentId)?.background) await manager.stop(event.agentId);
    else this.endTurn(new RunAborted('hook', formatHookStop(stops)));
  }
}
