/**
 * Finds the part of a long transcript that the window shows. Messages are requested when they come into view, and only
 * visible rows are laid out, so the number of messages does not matter.
 */

import type {TranscriptPart} from '../../core/contract/session-requests.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import type {RestoredMessage} from '../../core/contract/transcript.ts';
import {plainText, type Row} from '../text/styled-text.tsx';
import {messageText} from './message-rows.ts';

/** Number of messages in one request. */
const PAGE = 200;
/** Number of messages whose rows are stored. */
const MAX_LAID = 500;

interface Place {
  /** Index of the message. */
  readonly index: number;
  readonly row: number;
}

export class TranscriptScroll {
  readonly #ask: (from: number, to?: number) => TranscriptPart;
  readonly #layout: (message: RestoredMessage) => readonly Row[];
  readonly #messages = new Map<number, RestoredMessage>();
  readonly #laid = new Map<number, readonly Row[]>();
  /** The message that the model is writing, below the last message. */
  #open: RestoredMessage | undefined;
  #count: number;
  #top: Place = {index: 0, row: 0};
  #height = 1;
  #isAtEnd = true;

  /**
   * @param ask requests a part of the transcript
   * @param layout lays out the rows of one message
   * @param tools facts of the tools, whose names a search finds
   */
  constructor(
    ask: (from: number, to?: number) => TranscriptPart,
    layout: (message: RestoredMessage) => readonly Row[],
    private readonly tools: readonly ToolFacts[],
  ) {
    this.#ask = ask;
    this.#layout = layout;
    this.#count = this.#load(-PAGE);
  }

  get count(): number {
    return this.#count;
  }

  /** Numbers of the first and the last message in view, from 1. */
  get range(): {readonly first: number; readonly last: number} {
    let place = this.#top;
    for (let row = 1; row < this.#height; row++) place = this.#after(place) ?? place;
    const cut = (index: number) => Math.min(index + 1, this.#count);
    return {first: cut(this.#top.index), last: cut(place.index)};
  }

  resize(height: number): void {
    this.#height = Math.max(1, height);
    this.#laid.clear();
    if (this.#isAtEnd) this.toEnd();
    else this.#top = {...this.#top, row: Math.min(this.#top.row, Math.max(0, this.#rows(this.#top.index).length - 1))};
  }

  /** Reads the newest messages again after some were added. */
  refresh(): void {
    this.#count = this.#load(-PAGE);
    this.#laid.clear();
    if (this.#isAtEnd) this.toEnd();
  }

  /** @param open the message that the model is writing; undefined when there is none */
  setOpen(open: RestoredMessage | undefined): void {
    this.#open = open;
    this.#laid.delete(this.#count);
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
    if (wanted === '') return false;
    this.#load(0);
    const inTop = this.#rows(this.#top.index).map((row) => plainText(row).toLowerCase());
    const here = inTop.map((row, index) => (row.includes(wanted) ? index : -1)).filter((row) => row >= 0);
    const near = direction > 0 ? here.find((row) => row > this.#top.row) : here.findLast((row) => row < this.#top.row);
    if (near !== undefined) return this.#goTo({index: this.#top.index, row: near});
    const total = this.#total;
    for (let step = 1; step <= total; step++) {
      const index = (this.#top.index + direction * step + total * 2) % total;
      if (!messageText(this.#message(index)!, this.tools).toLowerCase().includes(wanted)) continue;
      const rows = this.#rows(index).map((row) => plainText(row).toLowerCase().includes(wanted));
      return this.#goTo({index, row: Math.max(0, direction > 0 ? rows.indexOf(true) : rows.lastIndexOf(true))});
    }
    return false;
  }

  #goTo(place: Place): true {
    this.#top = place;
    this.#isAtEnd = false;
    return true;
  }

  get #total(): number {
    return this.#count + (this.#open ? 1 : 0);
  }

  /** @returns the number of all messages */
  #load(from: number, to?: number): number {
    const {messages, count} = this.#ask(from, to);
    const first = from < 0 ? Math.max(0, count + from) : from;
    for (const [index, message] of messages.entries()) this.#messages.set(first + index, message);
    return count;
  }

  #message(index: number): RestoredMessage | undefined {
    if (index === this.#count) return this.#open;
    if (!this.#messages.has(index)) {
      const page = Math.floor(index / PAGE) * PAGE;
      this.#load(page, page + PAGE);
    }
    return this.#messages.get(index);
  }

  #rows(index: number): readonly Row[] {
    if (index < 0 || index >= this.#total) return [];
    const known = this.#laid.get(index);
    if (known) return known;
    const message = this.#message(index);
    const rows = message ? this.#layout(message) : [];
    if (this.#laid.size >= MAX_LAID) this.#laid.clear();
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
