/**
 * The same task twice: while it runs, a second dispatch joins it; for five minutes after, its result is given again
 * if it was read-only and nothing in the workspace has changed since it began.
 */
import {createHash} from 'node:crypto';
import type {Model} from '../contract/model.ts';
import type {SubagentResult} from '../contract/runs.ts';
import {NO_USAGE} from '../util/messages.ts';
import {ANNOUNCE_SKIP} from './announcement.ts';

/** Milliseconds for which an ended task's result may be given again. */
const KEPT_MS = 5 * 60 * 1000;
const MAX_KEPT = 50;

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
export function hashTask(task: TaskIdentity): string {
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

/** A run under way. */
export interface Started<R> {
  readonly ended: Promise<R>;
  /** It is being stopped, or ends just now: nobody may join it. */
  readonly isOver?: boolean;
}

interface Entry<R, S extends Started<R>> {
  /** Gone after the end: nothing of the run is kept but its result. */
  started?: S;
  readonly before: Promise<string> | undefined;
  result?: R;
  endedAt?: number;
}

export type Deduplicated<R, S extends Started<R>> =
  | {readonly source: 'run' | 'joined'; readonly started: S}
  | {readonly source: 'cached'; readonly result: R};

export class TaskDedup<R, S extends Started<R> = Started<R>> {
  /** In order of dispatch. */
  readonly #entries = new Map<string, Entry<R, S>>();

  constructor(private readonly options: DedupOptions<R>) {}

  /**
   * Does not wait for the end of the run.
   * @param readOnly only then may the result be given again after the end.
   * @param start begins the task; called unless a result is there or on its way.
   */
  async dispatch(key: string, readOnly: boolean, start: () => S): Promise<Deduplicated<R, S>> {
    const known = this.#entries.get(key);
    if (known?.started && !known.started.isOver) return {source: 'joined', started: known.started};
    if (known?.result !== undefined && (await this.#stillHolds(known))) return {source: 'cached', result: known.result};
    // Another dispatch may have started it while the workspace was looked at.
    const meanwhile = this.#entries.get(key);
    if (meanwhile && meanwhile !== known) return this.dispatch(key, readOnly, start);

    const before = readOnly ? this.options.fingerprint() : undefined;
    const started = start();
    const entry: Entry<R, S> = {before, started};
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#dropOldest();
    void this.#follow(key, entry, started, readOnly);
    return {source: 'run', started};
  }

  async #follow(key: string, entry: Entry<R, S>, started: S, readOnly: boolean): Promise<void> {
    try {
      const result = await started.ended;
      delete entry.started;
      entry.endedAt = this.options.now();
      if (readOnly && this.options.isReusable(result)) entry.result = result;
      else this.#forget(key, entry);
    } catch {
      // Whoever waits for the run is told by the same promise.
      this.#forget(key, entry);
    }
  }

  async #stillHolds(entry: Entry<R, S>): Promise<boolean> {
    if (entry.endedAt === undefined || this.options.now() - entry.endedAt > KEPT_MS) return false;
    const [before, now] = await Promise.all([entry.before, this.options.fingerprint()]);
    return before !== undefined && before === now;
  }

  #forget(key: string, entry: Entry<R, S>): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }

  /** The oldest ended one goes first; one that runs never does. */
  #dropOldest(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= MAX_KEPT) return;
      if (entry.endedAt !== undefined) this.#entries.delete(key);
    }
  }
}

/**
 * Fake model that replays a cached result through the normal run path, marked, with the receipt of its run.
 * @param model gives the run its model's name
 */
export function createReplayModel(model: Model, {result, report}: SubagentResult): Model {
  const text = result.text === ANNOUNCE_SKIP ? ANNOUNCE_SKIP : `[cached]\n${report}`;
  const {name, offline, local} = model;
  return {
    ...{name, offline, local},
    reply: async () => ({
      id: 'cached',
      content: [{type: 'text', text, citations: null}],
      stopReason: 'end_turn',
      usage: NO_USAGE,
      model: name,
      garbledInputs: new Map(),
    }),
  };
}
