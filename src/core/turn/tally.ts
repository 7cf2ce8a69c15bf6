/** What a run has used and said so far; its result is made from this. */
import type {Clock} from '../contract/limits.ts';
import type {Usage} from '../contract/messages.ts';
import type {ModelReply} from '../contract/model.ts';
import type {RunResult, ToolRecord} from '../contract/run-result.ts';
import {addUsage, getText, NO_USAGE} from '../util/messages.ts';

type TallyFields = Pick<RunResult, 'text' | 'usage' | 'usageByModel' | 'turns' | 'tools' | 'durationMs' | 'modelMs'>;
/** How a run ended, without what the tally knows. */
export type Ending<T = RunResult> = T extends {outcome: infer O}
  ? {outcome: O} & Omit<T, 'outcome' | keyof TallyFields>
  : never;

export class Tally {
  readonly records: ToolRecord[] = [];
  turns = 0;
  #usage: Usage = NO_USAGE;
  readonly #byModel: Record<string, Usage> = {};
  readonly #startedAt: number;
  #modelMs = 0;
  #callStartedAt = 0;
  #text = '';
  #join = false;
  #streamed = '';
  #unfinished: {readonly usage: Usage; readonly model: string} | undefined;

  constructor(private readonly clock: Clock) {
    this.#startedAt = clock.now();
  }

  beginCall(): void {
    this.#callStartedAt = this.clock.now();
    this.#streamed = '';
  }

  endCall(): void {
    this.#modelMs += this.clock.now() - this.#callStartedAt;
  }

  addStreamedText(text: string): void {
    this.#streamed += text;
  }

  /** What the attempt under way has used so far. */
  setAttemptUsage(usage: Usage, model: string): void {
    this.#unfinished = {usage, model};
  }

  /** The attempt came to nothing; what it used was used. @returns that. */
  abandonAttempt(): Usage {
    this.#streamed = '';
    const {usage, model} = this.#unfinished ?? {usage: NO_USAGE, model: ''};
    if (this.#unfinished) this.#addUsage(usage, model);
    this.#unfinished = undefined;
    return usage;
  }

  takeStreamedText(): string {
    const text = this.#streamed;
    this.#streamed = '';
    return text;
  }

  addReply(reply: ModelReply): void {
    this.turns += 1;
    this.#streamed = '';
    this.#unfinished = undefined;
    this.#addUsage(reply.usage, reply.model);
    const text = getText(reply.content);
    if (text !== '') this.setText(this.#join ? this.#text + text : text);
    this.#join = false;
  }

  /** Tool calls have ended; what they asked of a model is the run's too. */
  addToolRecords(records: readonly ToolRecord[]): void {
    this.records.push(...records);
    for (const {usage, model} of records.flatMap(({used = []}) => used)) this.#addUsage(usage, model);
  }

  /** The next text goes on where this one was cut. */
  joinNextText(): void {
    this.#join = true;
  }

  setText(text: string): void {
    this.#text = text;
  }

  #addUsage(usage: Usage, model: string): void {
    this.#usage = addUsage(this.#usage, usage);
    this.#byModel[model] = addUsage(this.#byModel[model] ?? NO_USAGE, usage);
  }

  result(ending: Ending): RunResult {
    return {
      ...ending,
      text: this.#text,
      usage: this.#usage,
      usageByModel: this.#byModel,
      turns: this.turns,
      tools: this.records,
      durationMs: this.clock.now() - this.#startedAt,
      modelMs: this.#modelMs,
    };
  }
}
