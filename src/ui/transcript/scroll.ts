/**
 * Finds the part of a long transcript that the window shows. Only visible rows are laid out, so the number of messages
 * does not matter.
 */

import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import type {RestoredMessage} from '../../core/contract/transcript.ts';
import {plainText, type Row} from '../text/styled-text.tsx';
import {messageText} from './message-rows.ts';

interface Place {
  /** Index of the message. */
  readonly index: number;
  readonly row: number;
}

export class TranscriptScroll {
  #messages: readonly RestoredMessage[] = [];
  readonly #laid = new Map<number, readonly Row[]>();
  /** The message that the model is writing, below the last message. */
  #open: RestoredMessage | undefined;
  #top: Place = {index: 0, row: 0};
  #height = 1;
  #isAtEnd = true;

  /**
   * @param read reads all messages
   * @param layout lays out the rows of one message
   * @param tools facts of the tools, whose names a search finds
   */
  constructor(
    private readonly read: () => readonly RestoredMessage[],
    private readonly layout: (message: RestoredMessage) => readonly Row[],
    private readonly tools: readonly ToolFacts[],
  ) {
    this.refresh();
  }

  get count(): number {
    return this.#messages.length;
  }

  /** Numbers of the first and the last message in view, from 1. */
  get range(): {readonly first: number; readonly last: number} {
    let place = this.#top;
    for (let row = 1; row < this.#height; row++) place = this.#after(place) ?? place;
    const cut = (index: number) => Math.min(index + 1, this.count);
    return {first: cut(this.#top.index), last: cut(place.index)};
  }

  resize(height: number): void {
    this.#height = Math.max(1, height);
    this.#laid.clear();
    if (this.#isAtEnd) this.toEnd();
    else this.#top = {...this.#top, row: Math.min(this.#top.row, Math.max(0, this.#rows(this.#top.index).length - 1))};
  }

  /** Reads the messages again after some were added. */
  refresh(): void {
    this.#messages = this.read();
    this.#laid.clear();
    if (this.#isAtEnd) this.toEnd();
  }

  /** @param open the message that the model is writing; undefined when there is none */
  setOpen(open: RestoredMessage | undefined): void {
    this.#open = open;
    this.#laid.delete(this.count);
    if (this.#isAtEnd) this.toEnd();
  }

  visible(): Row[] {
    const rows: Row[] = [];
    let place: Place | undefined = this.#rows(this.#top.index).length > 0 ? this.#top : this.#after(this.#top);
    while (place && rows.length < this.#height) {
      rows.push(this.#rows(place.index)[place.row]!);
      place = this.#after(place);
    }
    return rows;
  }

  /** @param rows number of rows to move; negative for up */
  move(rows: number): void {
    let left = Math.abs(rows);
    for (; left > 0; left -= 1) {
      const next = rows > 0 ? this.#after(this.#top) : this.#before(this.#top);
      if (!next) break;
      this.#top = next;
    }
    this.#clamp();
  }

  page(direction: 1 | -1): void {
    this.move(direction * Math.max(1, this.#height - 2));
  }

  toStart(): void {
    this.#top = {index: 0, row: 0};
    this.#clamp();
  }

  toEnd(): void {
    this.#top = this.#endTop();
    this.#isAtEnd = true;
  }

  /**
   * Goes to the next row with the text. At an end of the transcript it continues at the other end.
   * @returns false when no row has it
   */
  find(text: string, direction: 1 | -1): boolean {
    const wanted = text.toLowerCase();
    const {index: from, row: top} = this.#top;
    const total = this.#total;
    if (wanted === '' || total === 0) return false;
    for (let step = 0; step <= total; step++) {
      const index = (from + direction * step + total) % total;
      // Rows are laid out only where the text is.
      if (!messageText(this.#message(index)!, this.tools).toLowerCase().includes(wanted)) continue;
      const rows = this.#rows(index).flatMap((row, at) => (plainText(row).toLowerCase().includes(wanted) ? [at] : []));
      const left = step > 0 ? rows : rows.filter((row) => (row - top) * direction > 0);
      // A text that is wrapped is in no row.
      const row = left.at(direction > 0 ? 0 : -1) ?? (step > 0 ? 0 : undefined);
      if (row === undefined) continue;
      this.#top = {index, row};
      this.#isAtEnd = false;
      return true;
    }
    return false;
  }

  get #total(): number {
    return this.count + (this.#open ? 1 : 0);
  }

  #message(index: number): RestoredMessage | undefined {
    return index === this.count ? this.#open : this.#messages[index];
  }

  #rows(index: number): readonly Row[] {
    const known = this.#laid.get(index);
    if (known) return known;
    const message = this.#message(index);
    const rows = message ? this.layout(message) : [];
    this.#laid.set(index, rows);
    return rows;
  }

  #after({index, row}: Place): Place | undefined {
    if (row + 1 < this.#rows(index).length) return {index, row: row + 1};
    let next = index + 1;
    while (next < this.#total && this.#rows(next).length === 0) next += 1;
    return next < this.#total ? {index: next, row: 0} : undefined;
  }

  #before({index, row}: Place): Place | undefined {
    if (row > 0) return {index, row: row - 1};
    let before = index - 1;
    while (before >= 0 && this.#rows(before).length === 0) before -= 1;
    return before >= 0 ? {index: before, row: this.#rows(before).length - 1} : undefined;
  }

  /** Returns the place of the first row when the last row is at the bottom. */
  #endTop(): Place {
    let place: Place = {index: this.#total, row: 0};
    for (let row = 0; row < this.#height; row++) {
      const before = this.#before(place);
      if (!before) break;
      place = before;
    }
    return place;
  }

  #clamp(): void {
    const end = this.#endTop();
    const {index, row} = this.#top;
    this.#isAtEnd = index > end.index || (index === end.index && row >= end.row);
    if (this.#isAtEnd) this.#top = end;
  }
}
