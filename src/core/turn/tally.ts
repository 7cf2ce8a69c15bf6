/** Counts what a run used and keeps its last answer. The run's result is made from this. */

import type {ModelReply, Usage} from '../contract/model.ts';
import type {Clock, RunResult, RunTotals, ToolRecord} from '../contract/results.ts';
import {addUsage, addUsageTo, getText, joinTexts, NO_USAGE} from '../util/messages.ts';

/** How a run ended, without the totals. */
export type Ending<T = RunResult> = T extends {outcome: infer O}
  ? {outcome: O} & Omit<T, 'outcome' | keyof RunTotals>
  : never;

export class Tally {
  /** Number of model replies so far. */
  turns = 0;
  readonly #tools: ToolRecord[] = [];
  readonly #warnings = new Set<string>();
  #model: string | undefined;
  #usage: Usage = NO_USAGE;
  #usageByModel: RunTotals['usageByModel'] = {};
  readonly #startedAt: number;
  #modelMs = 0;
  #callStartedAt = 0;
  #text = '';
  #structured: Pick<RunTotals, 'structured'> = {};
  /** Answers of earlier turns. */
  readonly #texts: string[] = [];
  #joinsNextText = false;
  #streamedText = '';
  /** Output tokens of the last reply, and of the one that is the answer. */
  #lastOutput = 0;
  #returned = 0;

  constructor(private readonly clock: Clock) {
    this.#startedAt = clock.now();
  }

  /** Begins a model call, which may take several attempts. */
  beginCall(): void {
    this.#callStartedAt = this.clock.now();
    this.#streamedText = '';
  }

  endCall(): void {
    this.#modelMs += this.clock.now() - this.#callStartedAt;
  }

  addStreamedText(text: string): void {
    this.#streamedText += text;
  }

  /** Removes and returns the text that the current attempt has streamed. */
  takeStreamedText(): string {
    const text = this.#streamedText;
    this.#streamedText = '';
    return text;
  }

  /**
   * Adds a warning, which the result has once.
   * @returns whether the user must see it: it is new, or a part of the answer was already shown
   */
  addWarning(text: string): boolean {
    const isNew = !this.#warnings.has(text) || this.#streamedText !== '';
    this.#warnings.add(text);
    return isNew;
  }

  /** Counts a whole reply. */
  addReply(reply: ModelReply): void {
    this.turns += 1;
    this.#streamedText = '';
    this.#model = reply.model;
    this.#addUsage(reply.usage, reply.model);
    this.#lastOutput = reply.usage.output_tokens;
    const text = getText(reply.content);
    if (text !== '') this.#returned = this.#lastOutput;
    if (text !== '' && !this.#joinsNextText) this.#texts.push(this.#text);
    if (text !== '') this.setText(this.#joinsNextText ? this.#text + text : text);
    this.#joinsNextText = false;
  }

  /** Counts what is used besides the replies: by a summary, or by an attempt that failed or was cut. */
  addCall(usage: Usage, model: string): void {
    this.#model ??= model;
    this.#addUsage(usage, model);
  }

  /** Counts tool calls that ended, and the tokens that the tools used themselves. */
  addToolRecords(records: readonly ToolRecord[]): void {
    this.#tools.push(...records);
    for (const {usage, model} of records.flatMap(({used = []}) => used)) this.#addUsage(usage, model);
  }

  /** Lets the text of the next reply continue the text of this one. */
  joinNextText(): void {
    this.#joinsNextText = true;
  }

  /** Sets the answer as data, and the same data as its text. */
  setStructured(value: unknown): void {
    this.#structured = {structured: value};
    this.#text = JSON.stringify(value);
    this.#returned = this.#lastOutput;
  }

  get text(): string {
    return this.#text;
  }

  setText(text: string): void {
    this.#text = text;
  }

  /** Ends the text with a reply that was cut off. */
  addCutOffText(text: string): void {
    if (text !== '') {
      this.#texts.push(this.#text);
      this.#text = text;
    }
    this.joinAllTexts();
  }

  /** Joins the texts of all turns to the answer of a run that was cut off without a report. */
  joinAllTexts(): this {
    this.#text = joinTexts([...this.#texts, this.#text]);
    return this;
  }

  result(ending: Ending): RunResult {
    return {
      ...ending,
      text: this.#text,
      ...this.#structured,
      usage: this.#usage,
      usageByModel: this.#usageByModel,
      ...(this.#text !== '' && {returnedTokens: this.#returned}),
      turns: this.turns,
      model: this.#model,
      tools: this.#tools,
      durationMs: this.clock.now() - this.#startedAt,
      modelMs: this.#modelMs,
      ...(this.#warnings.size > 0 && {warnings: [...this.#warnings]}),
    };
  }

  #addUsage(usage: Usage, model: string): void {
    this.#usage = addUsage(this.#usage, usage);
    this.#usageByModel = addUsageTo(this.#usageByModel, model, usage);
  }
}
