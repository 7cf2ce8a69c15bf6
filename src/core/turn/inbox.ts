/**
 * Messages that wait for an agent: what a person sends during a turn, and how background runs ended. Read at one
 * place, the top of a turn.
 */
import type {PromptContent} from '../contract/messages.ts';
import type {Announcement} from '../contract/transcript.ts';

export interface Letter {
  readonly id: string;
  readonly content: PromptContent;
  readonly kind: 'prompt' | 'announcement';
  /** What an announcement says, for the transcript and the screen. */
  readonly announcement?: Announcement;
  /** An idle agent begins a turn for it; otherwise it is read when the next turn begins. */
  readonly wakes: boolean;
}

export interface InboxWatcher {
  /** A letter came. */
  put?(letter: Letter): void;
  /** A letter is taken up; it goes into the history before anything else happens. */
  taken?(letter: Letter): void;
}

export class Inbox {
  #letters: Letter[] = [];
  #watcher: InboxWatcher = {};

  /** One watcher: the session whose agent reads here. */
  watch(watcher: InboxWatcher): void {
    this.#watcher = watcher;
  }

  get size(): number {
    return this.#letters.length;
  }

  /** Something waits for which an idle agent begins a turn. */
  get wakes(): boolean {
    return this.#letters.some((letter) => letter.wakes);
  }

  put(letter: Letter): void {
    this.#letters.push(letter);
    this.#watcher.put?.(letter);
  }

  /** Nothing of this kind waits any more, and nothing was taken up. */
  drop(kind: Letter['kind']): readonly Letter[] {
    return this.#remove((letter) => letter.kind === kind);
  }

  /** Takes a prompt back from the queue; undefined when it does not wait any more. */
  takeBack(id: string): Letter | undefined {
    return this.#remove((letter) => letter.kind === 'prompt' && letter.id === id)[0];
  }

  /** All that waits (of this kind), in order; it waits no more. */
  take(kind?: Letter['kind']): readonly Letter[] {
    const letters = this.#remove((letter) => kind === undefined || letter.kind === kind);
    for (const letter of letters) this.#watcher.taken?.(letter);
    return letters;
  }

  #remove(which: (letter: Letter) => boolean): readonly Letter[] {
    const removed = this.#letters.filter(which);
    this.#letters = this.#letters.filter((letter) => !which(letter));
    return removed;
  }
}
