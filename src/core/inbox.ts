/** Messages that wait for an agent: what a person sends during a turn. Read at one place, the top of a turn. */
export interface Letter {
  readonly id: string;
  readonly text: string;
}

export class Inbox {
  #letters: Letter[] = [];

  constructor(private readonly onTaken: (letter: Letter) => void = () => undefined) {}

  get size(): number {
    return this.#letters.length;
  }

  put(letter: Letter): void {
    this.#letters.push(letter);
  }

  /** Nothing waits any more, and nothing was taken up. */
  drop(): readonly Letter[] {
    const letters = this.#letters;
    this.#letters = [];
    return letters;
  }

  /** All that waits, in order; the inbox is empty afterwards. */
  take(): readonly Letter[] {
    const letters = this.#letters;
    this.#letters = [];
    for (const letter of letters) this.onTaken(letter);
    return letters;
  }
}
