/**
 * Messages that wait for an agent: what a person sends during a turn, announcements of background runs that ended, and
 * companions, which wait for the next prompt. They are delivered at one place, the top of a turn.
 */
import type {PromptContent} from '../contract/model.ts';
import type {Announcement} from '../contract/transcript.ts';

export interface QueuedMessage {
  readonly id: string;
  readonly content: PromptContent;
  readonly kind: 'prompt' | 'announcement' | 'companion';
  /** What an announcement says, as data for the transcript and the screen. */
  readonly announcement?: Announcement;
  /** What a companion is, for a person: `!npm test`. */
  readonly label?: string;
  /** A person typed the prompt: files that it names go along. */
  readonly typed?: boolean;
  /** An idle agent starts a turn for it; otherwise it waits until the next turn starts. */
  readonly startsTurn: boolean;
}

interface InboxWatcher {
  /** A message was queued. */
  queued?(message: QueuedMessage): void;
  /** A message was taken out to be delivered: the caller appends it to the history before it does anything else. */
  delivered?(message: QueuedMessage): void;
}

export class Inbox {
  #messages: QueuedMessage[] = [];
  #watcher: InboxWatcher = {};

  /** Sets the only watcher: the session whose agent owns this inbox. */
  watch(watcher: InboxWatcher): void {
    this.#watcher = watcher;
  }

  /** How many messages can be delivered now. */
  get size(): number {
    return this.#hasPrompt ? this.#messages.length : this.#messages.filter(({kind}) => kind !== 'companion').length;
  }

  /** Whether a message waits for which an idle agent starts a turn. */
  get startsTurn(): boolean {
    return this.#messages.some((message) => message.startsTurn);
  }

  put(message: QueuedMessage): void {
    this.#messages.push(message);
    this.#watcher.queued?.(message);
  }

  /** Removes all messages (of this kind) to deliver them; companions only with a prompt. @returns them, oldest first. */
  deliver(kind?: QueuedMessage['kind']): readonly QueuedMessage[] {
    const hasPrompt = this.#hasPrompt;
    const messages = this.#remove((message) =>
      kind === undefined ? hasPrompt || message.kind !== 'companion' : message.kind === kind,
    );
    for (const message of messages) this.#watcher.delivered?.(message);
    return messages;
  }

  /** Removes all messages of this kind without delivering them. @returns them, oldest first. */
  drop(kind: QueuedMessage['kind']): readonly QueuedMessage[] {
    return this.#remove((message) => message.kind === kind);
  }

  /** The messages of this kind that wait, oldest first. */
  list(kind: QueuedMessage['kind']): readonly QueuedMessage[] {
    return this.#messages.filter((message) => message.kind === kind);
  }

  /** Removes one prompt without delivering it. @returns undefined when it does not wait any more. */
  takeBack(id: string): QueuedMessage | undefined {
    return this.#remove((message) => message.kind === 'prompt' && message.id === id)[0];
  }

  get #hasPrompt(): boolean {
    return this.#messages.some(({kind}) => kind === 'prompt');
  }

  #remove(matches: (message: QueuedMessage) => boolean): readonly QueuedMessage[] {
    const removed = this.#messages.filter(matches);
    this.#messages = this.#messages.filter((message) => !matches(message));
    return removed;
  }
}
