/**
 * Avoids running the same task twice. While a task runs, a second dispatch joins it. For five minutes after its end,
 * another dispatch gets the same result if the task was read-only and nothing in the workspace has changed since its
 * start.
 */

import type {Model} from '../contract/model.ts';
import type {SubagentResult} from '../contract/runs.ts';
import {inBackground, neverRejects} from '../util/background.ts';
import {NO_USAGE} from '../util/messages.ts';
import {ANNOUNCE_SKIP} from './announcement.ts';

/** Milliseconds after its end in which a task's result may be reused. */
const REUSE_MS = 5 * 60 * 1000;
const MAX_KEPT = 50;

interface DedupOptions<R> {
  /** Milliseconds of a clock that never jumps. */
  readonly now: () => number;
  /** Returns a fingerprint of the workspace. Two equal ones mean that nothing changed between them. */
  readonly fingerprint: () => Promise<string>;
  /** Whether this result may be reused. A result that failed, was stopped, or is empty never is. */
  readonly isReusable: (result: R) => boolean;
}

/** A run that has started. */
interface Started<R> {
  readonly ended: Promise<R>;
  /** Whether the run is being stopped or is ending. No dispatch may join it then. */
  readonly isOver?: boolean;
}

interface TaskEntry<R, S extends Started<R>> {
  /** Deleted at the end of the run, so that only its result stays in memory. */
  started?: S;
  readonly before: Promise<string> | undefined;
  result?: R;
  endedAt?: number;
}

export type Deduplicated<R, S extends Started<R>> =
  | {readonly source: 'run' | 'joined'; readonly started: S}
  | {readonly source: 'cached'; readonly result: R};

export class TaskDedup<R, S extends Started<R> = Started<R>> {
  /** Entries in the order of dispatch. */
  readonly #entries = new Map<string, TaskEntry<R, S>>();

  constructor(private readonly options: DedupOptions<R>) {}

  /**
   * Starts the task, joins a run of it or returns its cached result. It does not wait for the end of the run.
   * @param readOnly whether the result may be reused after the end
   * @param start begins the task; not called when there is a result or a run to join
   */
  async dispatch(key: string, readOnly: boolean, start: () => S): Promise<Deduplicated<R, S>> {
    const known = this.#entries.get(key);
    if (known?.started && !known.started.isOver) return {source: 'joined', started: known.started};
    if (known?.result !== undefined && (await this.#stillHolds(known))) return {source: 'cached', result: known.result};
    // Another dispatch may have started the task while this one read the workspace.
    const meanwhile = this.#entries.get(key);
    if (meanwhile && meanwhile !== known) return this.dispatch(key, readOnly, start);

    const before = readOnly ? this.options.fingerprint() : undefined;
    const started = start();
    const entry: TaskEntry<R, S> = {before, started};
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#dropOldest();
    inBackground(this.#follow(key, entry, started, readOnly), neverRejects);
    return {source: 'run', started};
  }

  async #follow(key: string, entry: TaskEntry<R, S>, started: S, readOnly: boolean): Promise<void> {
    try {
      const result = await started.ended;
      delete entry.started;
      entry.endedAt = this.options.now();
      if (readOnly && this.options.isReusable(result)) entry.result = result;
      else this.#forget(key, entry);
    } catch {
      // The callers that wait for the run get the same error from the same promise.
      this.#forget(key, entry);
    }
  }

  async #stillHolds(entry: TaskEntry<R, S>): Promise<boolean> {
    if (entry.endedAt === undefined || this.options.now() - entry.endedAt > REUSE_MS) return false;
    const [before, now] = await Promise.all([entry.before, this.options.fingerprint()]);
    return before !== undefined && before === now;
  }

  #forget(key: string, entry: TaskEntry<R, S>): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }

  /** Drops the oldest entries that have ended. Entries of runs at work stay. */
  #dropOldest(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= MAX_KEPT) return;
      if (entry.endedAt !== undefined) this.#entries.delete(key);
    }
  }
}

/**
 * Fake model that replays a cached result through the normal run path. The text has a mark and what the runtime
 * counted of that run.
 * @param model model whose name the run gets
 */
export function createReplayModel(model: Model, {runId, result, receipt}: SubagentResult): Model {
  const counted = receipt.line.replace(/^Receipt: /, '');
  const text = result.text === ANNOUNCE_SKIP ? ANNOUNCE_SKIP : `[cached]\n${result.text}\n\n(run ${runId}: ${counted})`;
  const {name, offline, local, maxOutputTokens} = model;
  return {
    name,
    offline,
    local,
    maxOutputTokens,
    contextWindow: async () => undefined,
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
