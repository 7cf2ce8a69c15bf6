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
  read(of: 'this folder' | 'all folders' = 'this folder'): SentPrompt[] {
    if (!existsSync(this.#file)) return [];
    const prompts: SentPrompt[] = [];
    for (const line of readFileSync(this.#file, 'utf8').split('\n')) {
      const {cwd, prompt: text, pastes} = parse(line) ?? {};
      if (text === undefined || (of === 'this folder' && cwd !== this.cwd) || prompts.at(-1)?.text === text) continue;
      prompts.push({text, ...(pastes && {pastes})});
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

interface StoredPrompt extends Pick<SentPrompt, 'pastes'> {
  readonly cwd: string;
  readonly prompt: string;
}

function parse(line: string): StoredPrompt | undefined {
  try {
    const value = JSON.parse(line) as Partial<StoredPrompt> | null;
    return typeof value?.prompt === 'string' ? (value as StoredPrompt) : undefined;
  } catch (error) {
    // A crash cut the line off, or it is the empty end of the file.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
