/**
 * Messages that wait for an agent: what a person sends during a turn, and announcements of background runs that ended.
 * They are delivered at one place, the top of a turn.
 */
import type {PromptContent} from '../contract/model.ts';
import type {Announcement} from '../contract/transcript.ts';

export interface QueuedMessage {
  readonly id: string;
  readonly content: PromptContent;
  readonly kind: 'prompt' | 'announcement';
  /** What an announcement says, as data for the transcript and the screen. */
  readonly announcement?: Announcement;
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

  get size(): number {
    return this.#messages.length;
  }

  /** Whether a message waits for which an idle agent starts a turn. */
  get startsTurn(): boolean {
    return this.#messages.some((message) => message.startsTurn);
  }

  put(message: QueuedMessage): void {
    this.#messages.push(message);
    this.#watcher.queued?.(message);
  }

  /** Removes all messages (of this kind) to deliver them. @returns them, oldest first. */
  deliver(kind?: QueuedMessage['kind']): readonly QueuedMessage[] {
    const messages = this.#remove((message) => kind === undefined || message.kind === kind);
    for (const message of messages) this.#watcher.delivered?.(message);
    return messages;
  }

  /** Removes all messages of this kind without delivering them. @returns them, oldest first. */
  drop(kind: QueuedMessage['kind']): readonly QueuedMessage[] {
    return this.#remove((message) => message.kind === kind);
  }

  /** Removes one prompt without delivering it. @returns undefined when it does not wait any more. */
  takeBack(id: string): QueuedMessage | undefined {
    return this.#remove((message) => message.kind === 'prompt' && message.id === id)[0];
  }

  #remove(matches: (message: QueuedMessage) => boolean): readonly QueuedMessage[] {
    const removed = this.#messages.filter(matches);
    this.#messages = this.#messages.filter((message) => !matches(message));
    return removed;
  }
}
