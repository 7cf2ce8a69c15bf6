/** The same for a text that comes in pieces, whose borders may lie within a key. */
import type {Redactor} from './redaction.ts';

export class RedactingStream {
  #held = '';

  constructor(private readonly redactor: Redactor) {}

  /** @returns what can be shown; the end that could become a key waits for the next piece. */
  push(piece: string): string {
    const text = this.#held + piece;
    const open = this.redactor.openFrom(text);
    this.#held = text.slice(open);
    return this.redactor.piece(text.slice(0, open));
  }

  /** Nothing follows. @returns what was held. */
  end(): string {
    const rest = this.redactor.text(this.#held);
    this.#held = '';
    return rest;
  }
}
