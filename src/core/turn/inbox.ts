/**
 * Messages that wait for an agent: what a person sends during a turn, announcements of background runs that ended, and
 * companions, which wait for the next prompt. They are delivered at one place, the top of a turn.
 */
import type {PromptContent} from '../contract/model.ts';
import type {Prompt} from '../contract/session-requests.ts';
import type {Announcement} from '../contract/transcript.ts';

export interface QueuedMessage {
  readonly id: string;
  readonly content: PromptContent;
  /**
   * `command` is the prompt of a command file. It gets its own turn, because its rules and its model apply only to it.
   */
  readonly kind: 'prompt' | 'announcement' | 'companion' | 'command';
  readonly command?: Prompt['command'];
  readonly messageId?: Prompt['messageId'];
  /** Content of an announcement as data for the transcript and the screen. */
  readonly announcement?: Announcement;
  /** Name of a companion for a person: `!npm test`. */
  readonly label?: string;
  /** True when a person typed the prompt. Files that it names are then attached. */
  readonly typed?: boolean;
  /** True when an idle agent starts a turn for the message. Otherwise it waits until the next turn. */
  readonly startsTurn: boolean;
}

interface InboxWatcher {
  queued?(message: QueuedMessage): void;
  /** Called when a message was removed for delivery. The caller appends it to the history before anything else. */
  delivered?(message: QueuedMessage): void;
}

export class Inbox {
  #messages: QueuedMessage[] = [];
  #watcher: InboxWatcher = {};

  /** Sets the only watcher: the session whose agent owns this inbox. */
  watch(watcher: InboxWatcher): void {
    this.#watcher = watcher;
  }

  /** Number of messages that can be delivered at this moment. */
  get size(): number {
    return this.#messages.filter((message) => this.#isDue(message)).length;
  }

  /** True when an idle agent starts a turn for one of the messages. */
  get startsTurn(): boolean {
    return this.#messages.some((message) => message.startsTurn);
  }

  put(message: QueuedMessage): void {
    this.#messages.push(message);
    this.#watcher.queued?.(message);
  }

  /**
   * Removes the messages that are due, or all of one kind, to deliver them. Without a kind, companions are due only
   * with a prompt, and commands never.
   * @returns the messages, oldest first
   */
  deliver(kind?: QueuedMessage['kind']): readonly QueuedMessage[] {
    const due = this.#messages.filter((message) => (kind === undefined ? this.#isDue(message) : message.kind === kind));
    return this.#deliver((message) => due.includes(message));
  }

  /** Delivers only the command that has waited longest. @returns an empty list when none waits */
  deliverCommand(): readonly QueuedMessage[] {
    const [first] = this.list('command');
    return this.#deliver((message) => message === first);
  }

  #isDue({kind}: QueuedMessage): boolean {
    return kind !== 'command' && (kind !== 'companion' || this.#hasPrompt);
  }

  /** Removes all messages of this kind without delivering them. @returns the messages, oldest first */
  drop(kind: QueuedMessage['kind']): readonly QueuedMessage[] {
    return this.#remove((message) => message.kind === kind);
  }

  /** Lists the messages of this kind that wait, oldest first. */
  list(kind: QueuedMessage['kind']): readonly QueuedMessage[] {
    return this.#messages.filter((message) => message.kind === kind);
  }

  /** Removes one prompt without delivering it. @returns undefined when it is not in the inbox */
  takeBack(id: string): QueuedMessage | undefined {
    return this.#remove(({kind, id: each}) => (kind === 'prompt' || kind === 'command') && each === id)[0];
  }

  get #hasPrompt(): boolean {
    return this.#messages.some(({kind}) => kind === 'prompt');
  }

  #deliver(matches: (message: QueuedMessage) => boolean): readonly QueuedMessage[] {
    const messages = this.#remove(matches);
    for (const message of messages) this.#watcher.delivered?.(message);
    return messages;
  }

  #remove(matches: (message: QueuedMessage) => boolean): readonly QueuedMessage[] {
    const removed = this.#messages.filter(matches);
    this.#messages = this.#messages.filter((message) => !matches(message));
    return removed;
  }
}
