/** Stores the prompts of each directory across sessions, as one JSON line for each in `<home>/history.jsonl`. */
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {appendPrivateFile} from '../../core/util/files/private-file.ts';

/** Maximal number of prompts that are offered. Older ones stay in the file. */
const MAX_OFFERED = 200;

export interface SentPrompt {
  readonly text: string;
  /** Start and end of each big paste in the text. Big pastes are shown as labels. */
  readonly pastes?: readonly (readonly [start: number, end: number])[];
}

export class PromptHistory {
  readonly #file: string;

  constructor(
    home: string,
    private readonly cwd: string,
  ) {
    this.#file = path.join(home, 'history.jsonl');
  }

  /** Returns the prompts, oldest first, without lines that cannot be read. */
  read(): SentPrompt[] {
    if (!existsSync(this.#file)) return [];
    const prompts: SentPrompt[] = [];
    for (const line of readFileSync(this.#file, 'utf8').split('\n')) {
      const entry = parse(line);
      if (entry?.cwd === this.cwd && prompts.at(-1)?.text !== entry.text) prompts.push(entry);
    }
    return prompts.slice(-MAX_OFFERED);
  }

  /** Tells whether nothing was typed in the directory before. */
  isEmpty(): boolean {
    return !existsSync(this.#file) || !readFileSync(this.#file, 'utf8').includes(`{"cwd":${JSON.stringify(this.cwd)},`);
  }

  add({text, pastes}: SentPrompt): void {
    appendPrivateFile(this.#file, `${JSON.stringify({cwd: this.cwd, prompt: text, pastes, at: Date.now()})}\n`);
  }
}

function parse(line: string): (SentPrompt & {readonly cwd: string}) | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || !('cwd' in value) || !('prompt' in value)) return undefined;
    const {cwd, prompt: text} = value;
    if (typeof cwd !== 'string' || typeof text !== 'string') return undefined;
    return {cwd, text, ...('pastes' in value && isRanges(value.pastes, text.length) && {pastes: value.pastes})};
  } catch (error) {
    // A crash cut the line off, or it is the empty end of the file.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Checks that the ranges are in order and within the text. */
function isRanges(value: unknown, length: number): value is readonly (readonly [number, number])[] {
  if (!Array.isArray(value)) return false;
  const ends = [
    0,
    ...value.flatMap((range: unknown) => (Array.isArray(range) && range.length === 2 ? range : [Number.NaN])),
    length,
  ];
  return ends.every((end, index) => Number.isInteger(end) && (index === 0 || end >= ends[index - 1]));
}
