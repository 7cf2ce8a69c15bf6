/**
 * The messages of one agent. Each change is first written to the transcript and then made in memory: what the model or
 * the screen sees is already on disk. When the transcript cannot be written, nothing changes in memory. All methods
 * that write throw what the journal throws, e.g. on a full disk.
 */

import {randomUUID} from 'node:crypto';
import type {Message, PromptContent, ToolResultBlock, ToolUse} from '../contract/model.ts';
import type {Announcement, Journal, ReplyFacts, RunEnd, TranscriptEntry} from '../contract/transcript.ts';
import {toUserMessage} from '../util/messages.ts';

type MessageFacts = Partial<Omit<Extract<TranscriptEntry, {type: 'message'}>, 'type' | 'uuid' | 'at' | 'message'>>;

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

  /** @param facts of a reply: who answered, and what it cost. @returns the uuid of the new line. */
  append(message: Message, facts?: ReplyFacts): string {
    return this.#append(message, facts);
  }

  /** Appends a prompt: the conversation can be taken back to before it. @returns the uuid of the new line. */
  appendPrompt(content: PromptContent): string {
    return this.#append(toUserMessage(content), {prompt: true});
  }

  /** Appends the end of a background run. @param message the announcement as the model reads it, in its tag. */
  appendAnnouncement(message: Message, announcement: Announcement): void {
    this.#append(message, {announcement});
  }

  /**
   * Takes the conversation back to before a message.
   * @param to the uuid of its line. @param kept how many messages come before it.
   */
  rewind(to: string, kept: number): void {
    this.journal.append({type: 'rewind', at: now(), to});
    this.#messages.length = kept;
  }

  /** Writes how the run ended. The messages do not change. */
  recordEnd(end: RunEnd): void {
    this.journal.append({type: 'end', at: now(), ...end});
  }

  /** Writes that the run continues in the background from here. */
  recordBackground(): void {
    this.journal.append({type: 'background', at: now()});
  }

  /** Writes that an ended run continues. @param round counts from 1. */
  recordResumed(round: number): void {
    this.journal.append({type: 'resumed', at: now(), round});
  }

  /**
   * Appends an error result for each tool call of the last message, if that is a reply with calls. A run that was cut
   * off between calls and results leaves such a message, and model servers reject a history in which a call has no
   * result.
   */
  answerOpenCalls(text: string): void {
    const last = this.#messages.at(-1);
    if (last?.role !== 'assistant' || typeof last.content === 'string') return;
    const open = last.content.filter((block): block is ToolUse => block.type === 'tool_use');
    if (open.length === 0) return;
    const results: ToolResultBlock[] = open.map((call) => ({
      type: 'tool_result',
      tool_use_id: call.id,
      content: text,
      is_error: true,
    }));
    this.append({role: 'user', content: results});
  }

  #append(message: Message, facts: MessageFacts = {}): string {
    const uuid = randomUUID();
    this.journal.append({type: 'message', uuid, at: now(), message, ...facts});
    this.#messages.push(message);
    return uuid;
  }
}

function now(): string {
  return new Date().toISOString();
}
