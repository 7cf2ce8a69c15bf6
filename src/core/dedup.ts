/**
 * The same task twice: while it runs, a second dispatch joins it; for five minutes after, its result is given again
 * if it was read-only and nothing in the workspace has changed since it began.
 */
import {createHash} from 'node:crypto';

/** Milliseconds for which an ended task's result may be given again. */
const KEPT_MS = 5 * 60 * 1000;
const MOST_KEPT = 50;

/** What makes two tasks the same. */
export interface TaskIdentity {
  readonly agent: unknown;
  readonly prompt: string;
  readonly model: string;
  readonly limits: unknown;
  readonly isolation: string;
  readonly session: string;
}

/** White space aside, every character of the prompt counts, and its case. */
export function taskKey(task: TaskIdentity): string {
  const prompt = task.prompt.trim().replaceAll(/\s+/g, ' ');
  return createHash('sha256')
    .update(JSON.stringify([task.agent, prompt, task.model, task.limits, task.isolation, task.session]))
    .digest('hex');
}

export interface DedupOptions<R> {
  /** Milliseconds that never jump. */
  readonly now: () => number;
  /** What the workspace is like; two equal answers mean that nothing changed between them. */
  readonly fingerprint: () => Promise<string>;
  /** May this result be given again? Never one that failed, was stopped, or is empty. */
  readonly isReusable: (result: R) => boolean;
}

interface Entry<R> {
  readonly running: Promise<R>;
  readonly before: Promise<string> | undefined;
  result?: R;
  endedAt?: number;
}

export type Deduplicated<R> = {readonly result: R; readonly source: 'run' | 'joined' | 'cached'};

export class TaskDedup<R> {
  /** In order of dispatch. */
  readonly #entries = new Map<string, Entry<R>>();

  constructor(private readonly options: DedupOptions<R>) {}

  /**
   * @param readOnly only then may the result be given again after the end.
   * @param start runs the task; called unless a result is there or on its way.
   */
  async run(key: string, readOnly: boolean, start: () => Promise<R>): Promise<Deduplicated<R>> {
    const known = this.#entries.get(key);
    if (known && known.endedAt === undefined) return {result: await known.running, source: 'joined'};
    if (known?.result !== undefined && (await this.#stillHolds(known))) return {result: known.result, source: 'cached'};
    // Another dispatch may have started it while the workspace was looked at.
    const meanwhile = this.#entries.get(key);
    if (meanwhile && meanwhile !== known) return this.run(key, readOnly, start);

    const entry: Entry<R> = {before: readOnly ? this.options.fingerprint() : undefined, running: start()};
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#dropOldest();
    try {
      const result = await entry.running;
      entry.endedAt = this.options.now();
      if (readOnly && this.options.isReusable(result)) entry.result = result;
      else this.#forget(key, entry);
      return {result, source: 'run'};
    } catch (error) {
      this.#forget(key, entry);
      throw error;
    }
  }

  async #stillHolds(entry: Entry<R>): Promise<boolean> {
    if (entry.endedAt === undefined || this.options.now() - entry.endedAt > KEPT_MS) return false;
    const [before, now] = await Promise.all([entry.before, this.options.fingerprint()]);
    return before !== undefined && before === now;
  }

  #forget(key: string, entry: Entry<R>): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }

  /** The oldest ended one goes first; one that runs never does. */
  #dropOldest(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= MOST_KEPT) return;
      if (entry.endedAt !== undefined) this.#entries.delete(key);
    }
  }
}
