/** Counts what a run used and keeps its last answer. The result of the run is made from this. */

import type {ModelReply, Usage} from '../contract/model.ts';
import type {Clock, RunResult, RunTotals, ToolRecord} from '../contract/results.ts';
import {addUsage, countTokens, getText, NO_USAGE} from '../util/messages.ts';

/** How a run ended, without the totals. */
export type Ending<T = RunResult> = T extends {outcome: infer O}
  ? {outcome: O} & Omit<T, 'outcome' | keyof RunTotals>
  : never;

export class Tally {
  /** Model replies so far. */
  turns = 0;
  readonly #tools: ToolRecord[] = [];
  readonly #warnings = new Set<string>();
  #usage: Usage = NO_USAGE;
  readonly #usageByModel: Record<string, Usage> = {};
  readonly #startedAt: number;
  #modelMs = 0;
  #callStartedAt = 0;
  #text = '';
  #structured: Pick<RunTotals, 'structured'> = {};
  /** Of earlier turns. */
  readonly #texts: string[] = [];
  #joinsNextText = false;
  #streamedText = '';
  /** What the attempt under way has used so far. */
  #attempt: {readonly usage: Usage; readonly model: string} | undefined;

  constructor(private readonly clock: Clock) {
    this.#startedAt = clock.now();
  }

  /** A model call begins. It may take several attempts. */
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

  /** Removes and returns what the attempt under way has streamed. */
  takeStreamedText(): string {
    const text = this.#streamedText;
    this.#streamedText = '';
    return text;
  }

  /** @param usage all that the attempt under way has used so far. */
  setAttemptUsage(usage: Usage, model: string): void {
    this.#attempt = {usage, model};
  }

  /** The attempt under way failed: its text no longer counts, its tokens do. @returns what it used, if anything. */
  abandonAttempt(): {readonly usage: Usage; readonly model: string} | undefined {
    this.#streamedText = '';
    const attempt = this.#attempt;
    this.#attempt = undefined;
    if (!attempt || countTokens(attempt.usage) === 0) return undefined;
    this.#addUsage(attempt.usage, attempt.model);
    return attempt;
  }

  /** The result says it once. @returns whether it is news: it was not said, or a part of the answer was shown */
  addWarning(text: string): boolean {
    const isNew = !this.#warnings.has(text) || this.#streamedText !== '';
    this.#warnings.add(text);
    return isNew;
  }

  /** Counts a whole reply, in place of what its attempt had used so far. */
  addReply(reply: ModelReply): void {
    this.turns += 1;
    this.#streamedText = '';
    this.#attempt = undefined;
    this.#addUsage(reply.usage, reply.model);
    const text = getText(reply.content);
    if (text !== '' && !this.#joinsNextText) this.#texts.push(this.#text);
    if (text !== '') this.setText(this.#joinsNextText ? this.#text + text : text);
    this.#joinsNextText = false;
  }

  /** Counts a model call beside the conversation, as for a summary. */
  addCall(usage: Usage, model: string): void {
    this.#addUsage(usage, model);
  }

  /** Counts tool calls that ended, and the tokens that the tools themselves used. */
  addToolRecords(records: readonly ToolRecord[]): void {
    this.#tools.push(...records);
    for (const {usage, model} of records.flatMap(({used = []}) => used)) this.#addUsage(usage, model);
  }

  /** The text of the next reply continues the text of this one. */
  joinNextText(): void {
    this.#joinsNextText = true;
  }

  /** The answer is data, which its text repeats. */
  setStructured(value: unknown): void {
    this.#structured = {structured: value};
    this.#text = JSON.stringify(value);
  }

  /** The answer of the run so far. */
  get text(): string {
    return this.#text;
  }

  /** Sets the answer of the run so far. */
  setText(text: string): void {
    this.#text = text;
  }

  /** The reply under way was cut off: the run ends with what there is. */
  addCutOffText(text: string): void {
    if (text !== '') {
      this.#texts.push(this.#text);
      this.#text = text;
    }
    this.joinAllTexts();
  }

  /** The run was cut off without a report: what it said in all of its turns is its answer. */
  joinAllTexts(): void {
    this.#text = [...this.#texts, this.#text]
      .filter((text, index, all) => text !== '' && all.indexOf(text) === index)
      .join('\n\n');
  }

  result(ending: Ending): RunResult {
    return {
      ...ending,
      text: this.#text,
      ...this.#structured,
      usage: this.#usage,
      usageByModel: this.#usageByModel,
      turns: this.turns,
      tools: this.#tools,
      durationMs: this.clock.now() - this.#startedAt,
      modelMs: this.#modelMs,
      ...(this.#warnings.size > 0 && {warnings: [...this.#warnings]}),
    };
  }

  #addUsage(usage: Usage, model: string): void {
    this.#usage = addUsage(this.#usage, usage);
    this.#usageByModel[model] = addUsage(this.#usageByModel[model] ?? NO_USAGE, usage);
  }
}
