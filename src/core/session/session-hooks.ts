/** Hooks about the session: its start and end, each prompt, and what a person should look at. */
import {randomUUID} from 'node:crypto';
import type {AgentEvent} from '../contract/events.ts';
import type {HookCall} from '../contract/hooks.ts';
import type {PromptContent} from '../contract/model.ts';
import {getText} from '../util/messages.ts';
import type {SessionParts} from './parts.ts';

export type SessionStart = 'startup' | 'resume' | 'clear';

export class SessionHooks {
  readonly #parts: SessionParts;
  #started: Promise<void> | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    if (parts.hooks.listens('Notification')) parts.bus.subscribe((event) => this.#notify(event));
  }

  /** What they print is before the model with the next prompt. */
  start(source: SessionStart): void {
    const {hooks} = this.#parts;
    if (!hooks.listens('SessionStart')) return;
    this.#started = this.#tell({event: 'SessionStart', subject: source, input: {source}}).then(() => undefined);
  }

  /** Undefined: nothing has to be waited for. @returns why the prompt must not be sent; undefined: it may be */
  beforePrompt(content: PromptContent): Promise<string | undefined> | undefined {
    const isAsked = this.#parts.hooks.listens('UserPromptSubmit');
    return isAsked || this.#started ? this.#askAbout(content, isAsked) : undefined;
  }

  async #askAbout(content: PromptContent, isAsked: boolean): Promise<string | undefined> {
    await this.#started;
    if (!isAsked) return undefined;
    const {blocked, stops} = await this.#tell({event: 'UserPromptSubmit', input: {prompt: getText(content)}});
    return blocked ?? stops;
  }

  async end(reason: 'other' | 'clear' | 'resume'): Promise<void> {
    const {hooks} = this.#parts;
    if (hooks.listens('SessionEnd')) await hooks.run({event: 'SessionEnd', subject: reason, input: {reason}});
  }

  /** Texts for the model wait for the next prompt. */
  async #tell(call: HookCall) {
    const {hooks, inbox} = this.#parts;
    const answer = await hooks.run(call);
    for (const content of answer.context) {
      inbox.put({id: randomUUID(), kind: 'companion', content, label: `a ${call.event} hook`, startsTurn: false});
    }
    return answer;
  }

  #notify(event: AgentEvent): void {
    if (event.type !== 'ask') return;
    const type = 'permission_prompt';
    const input = {message: `mini-cc asks: ${event.question.title}`, notification_type: type};
    void this.#parts.hooks.run({event: 'Notification', subject: type, input});
  }
}
