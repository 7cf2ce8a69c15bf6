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
  /** `command`: of a command file. It gets a turn of its own, since its rules and its model hold for that alone. */
  readonly kind: 'prompt' | 'announcement' | 'companion' | 'command';
  readonly command?: Prompt['command'];
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
    return this.#messages.filter((message) => this.#isDue(message)).length;
  }

  /** Whether a message waits for which an idle agent starts a turn. */
  get startsTurn(): boolean {
    return this.#messages.some((message) => message.startsTurn);
  }

  put(message: QueuedMessage): void {
    this.#messages.push(message);
    this.#watcher.queued?.(message);
  }

  /**
   * Removes all messages (of this kind) to deliver them; companions only with a prompt, commands only by their kind.
   * @returns them, oldest first.
   */
  deliver(kind?: QueuedMessage['kind']): readonly QueuedMessage[] {
    const due = this.#messages.filter((message) => (kind === undefined ? this.#isDue(message) : message.kind === kind));
    const messages = this.#remove((message) => due.includes(message));
    for (const message of messages) this.#watcher.delivered?.(message);
    return messages;
  }

  /** The command that has waited longest. Undefined: none waits. */
  deliverCommand(): QueuedMessage | undefined {
    const [first] = this.list('command');
    if (!first) return undefined;
    this.#remove((message) => message === first);
    this.#watcher.delivered?.(first);
    return first;
  }

  #isDue({kind}: QueuedMessage): boolean {
    return kind !== 'command' && (kind !== 'companion' || this.#hasPrompt);
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
    return this.#remove(({kind, id: each}) => (kind === 'prompt' || kind === 'command') && each === id)[0];
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
