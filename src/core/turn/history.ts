/**
 * The messages of one agent. `append` writes the transcript's line first, then memory: what the model or the
 * screen sees is on disk. All else is derived from it.
 */

import {randomUUID} from 'node:crypto';
import type {Message, PromptContent, ToolResultBlock, ToolUse} from '../contract/messages.ts';
import type {Announcement, Journal, ReplyFacts, RunEnd} from '../contract/transcript.ts';
import {toUserMessage} from '../util/messages.ts';

export class History {
  readonly #messages: Message[];

  constructor(
    private readonly journal: Journal,
    restored: readonly Message[] = [],
  ) {
    this.#messages = [...restored];
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** @returns the id of the new line. */
  append(message: Message, facts?: ReplyFacts): string {
    const uuid = randomUUID();
    this.journal.append({type: 'message', uuid, at: new Date().toISOString(), message, ...facts});
    this.#messages.push(message);
    return uuid;
  }

  /** What a person wrote. @returns the id of the new line. */
  appendPrompt(content: PromptContent): string {
    const uuid = randomUUID();
    const message = toUserMessage(content);
    this.journal.append({type: 'message', uuid, at: new Date().toISOString(), message, prompt: true});
    this.#messages.push(message);
    return uuid;
  }

  /**
   * From here on the conversation is as it was before that message.
   * @param to the uuid of its line. @param kept how many messages come before it.
   */
  rewind(to: string, kept: number): void {
    this.journal.append({type: 'rewind', at: new Date().toISOString(), to});
    this.#messages.length = kept;
  }

  /** The end of a background run. @param message the announcement as the model reads it, in its tag. */
  appendAnnouncement(message: Message, announcement: Announcement): void {
    const at = new Date().toISOString();
    this.journal.append({type: 'message', uuid: randomUUID(), at, message, announcement});
    this.#messages.push(message);
  }

  /** The run's own closing line; the conversation itself does not change. */
  recordEnd(end: RunEnd): void {
    this.journal.append({type: 'end', at: new Date().toISOString(), ...end});
  }

  /** The run goes on in the background from here. */
  recordBackground(): void {
    this.journal.append({type: 'background', at: new Date().toISOString()});
  }

  recordResumed(round: number): void {
    this.journal.append({type: 'resumed', at: new Date().toISOString(), round});
  }

  /**
   * A conversation cut off amid tool calls misses their results, and no server takes it so.
   * Adds one result for each call that has none.
   */
  answerOpenCalls(words: string): void {
    const last = this.#messages.at(-1);
    if (last?.role !== 'assistant' || typeof last.content === 'string') return;
    const open = last.content.filter((block): block is ToolUse => block.type === 'tool_use');
    if (open.length === 0) return;
    const results: ToolResultBlock[] = open.map((call) => ({
      type: 'tool_result',
      tool_use_id: call.id,
      content: words,
      is_error: true,
    }));
    this.append({role: 'user', content: results});
  }
}
