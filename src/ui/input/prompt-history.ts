/** The prompts typed in a directory, kept across sessions: one JSON line for each in `<home>/history.jsonl`. */
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {appendPrivateFile} from '../../core/util/files/private-file.ts';

/** How many prompts are offered; older ones stay in the file. */
const MAX_OFFERED = 200;

export class PromptHistory {
  readonly #file: string;

  constructor(
    home: string,
    private readonly cwd: string,
  ) {
    this.#file = path.join(home, 'history.jsonl');
  }

  /** Oldest first, without lines that cannot be read. */
  read(): string[] {
    if (!existsSync(this.#file)) return [];
    const prompts: string[] = [];
    for (const line of readFileSync(this.#file, 'utf8').split('\n')) {
      const entry = parse(line);
      if (entry?.cwd === this.cwd && prompts.at(-1) !== entry.prompt) prompts.push(entry.prompt);
    }
    return prompts.slice(-MAX_OFFERED);
  }

  add(prompt: string): void {
    appendPrivateFile(this.#file, `${JSON.stringify({cwd: this.cwd, prompt, at: Date.now()})}\n`);
  }
}

function parse(line: string): {cwd: string; prompt: string} | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || !('cwd' in value) || !('prompt' in value)) return undefined;
    const {cwd, prompt} = value;
    return typeof cwd === 'string' && typeof prompt === 'string' ? {cwd, prompt} : undefined;
  } catch (error) {
    // A line that a crash cut off, or the empty end of the file.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
