/**
 * Ends a run that makes no progress. A result that differs from those of the last replies is progress, and so are a
 * message of a person and waiting for work in the background. Everything else that leads to one more request is
 * counted: repairs, pauses of the server, empty replies, and calls with the same result as before. All of them are
 * counted in a row, whatever their order. Retries and pauses for a limit of the account are bounded by time instead.
 */
import {createHash} from 'node:crypto';
import type {Ending} from './tally.ts';

/** Reasons for one more request that is no progress, as the ending names them. */
const WORDS = {
  call: 'the same call',
  invalid: 'a call that could not be run',
  pause: 'a pause of the server',
  refusal: 'a refusal of the server',
  compaction: 'a compaction',
  cut: 'a cut answer',
  empty: 'an empty reply',
  hook: 'a hook that does not let the run end',
  dispatch: 'the end of a run that only led to further runs',
} as const;

type Stall = keyof typeof WORDS;

/** Limit of a run that this guard ended. */
export const NO_PROGRESS = 'no_progress';

/** At this count the model gets a note that it makes no progress. */
const TOLD_AT = 4;
/** At this count the run ends. */
const ENDS_AT = 8;
/** Most replies without progress, when no count reaches its end: calls that take turns. */
const MAX_REPLIES = 16;

/** Replies whose calls are remembered. What is called again later may have been cleared from the window meanwhile. */
const MAX_REMEMBERED = 4;

/** The facts about an ended call that show whether the run makes progress. */
export interface SeenCall {
  /** Identifies the call and its result. */
  readonly key: string;
  /** False when the call could not be run: its tool is unknown, its input invalid, or a ceiling reached. */
  readonly isValid: boolean;
  /** Whether it waits for work in the background, or started some. */
  readonly background?: 'waits' | 'starts' | undefined;
}

export class ProgressGuard {
  /** Calls of the last replies, the newest first. */
  #recent: readonly ReadonlySet<string>[] = [];
  /** Since the last progress. */
  readonly #stalls = new Map<Stall, number>();
  /** Counts for each call how often it had the same result since the last progress. */
  readonly #repeats = new Map<string, number>();
  #replies = 0;
  #isTold = false;
  #isAnnounced = false;

  /** Records the calls of one reply. */
  recordCalls(calls: readonly SeenCall[]): void {
    const valid = calls.filter(({isValid}) => isValid);
    if (valid.length === 0) {
      this.record('invalid');
      return;
    }
    const keys = new Set(valid.map(({key}) => toDigest(key)));
    const isProgress =
      valid.some(({background}) => background === 'waits') ||
      [...keys].some((key) => !this.#recent.some((reply) => reply.has(key)));
    if (isProgress) this.recordProgress();
    else this.#replies += 1;
    // An announcement that leads only to further runs, whose ends are announced again, is no progress.
    if (this.#isAnnounced && calls.every(({background}) => background === 'starts')) this.record('dispatch');
    this.#isAnnounced = false;
    this.#recent = [keys, ...this.#recent].slice(0, MAX_REMEMBERED);
    for (const key of keys) this.#repeats.set(key, (this.#repeats.get(key) ?? 0) + 1);
  }

  /** Records one more request that is no progress. @returns how many of this kind came since the last progress */
  record(stall: Stall): number {
    this.#replies += 1;
    const count = this.#count(stall) + 1;
    this.#stalls.set(stall, count);
    return count;
  }

  /** Records that the model reads of the end of a run in the background. */
  recordAnnouncement(): void {
    this.#isAnnounced = true;
  }

  /** Begins to count anew. Runs that announcements led to count until a person sends a prompt. */
  recordProgress(byPerson = false): void {
    const dispatches = this.#count('dispatch');
    this.#stalls.clear();
    if (dispatches > 0 && !byPerson) this.#stalls.set('dispatch', dispatches);
    this.#repeats.clear();
    this.#replies = 0;
    this.#isTold &&= this.#total >= TOLD_AT;
  }

  /** @returns the note for the model, once, before the run ends */
  takeAdvice(): string | undefined {
    if (this.#isTold || (this.#total < TOLD_AT && this.#replies < MAX_REPLIES / 2)) return undefined;
    this.#isTold = true;
    return `This run makes no progress: ${this.#describe()}. Do something else, or answer now with what you have: the run ends soon.`;
  }

  get ending(): Ending | undefined {
    if (this.#total < ENDS_AT && this.#replies < MAX_REPLIES) return undefined;
    return {outcome: 'limit', limit: NO_PROGRESS, reason: `no progress: ${this.#describe()}`};
  }

  /** The first call with a result is counted together with its repetitions. */
  get #sameCalls(): number {
    const most = Math.max(0, ...this.#repeats.values());
    return most > 1 ? most : 0;
  }

  get #total(): number {
    return this.#sameCalls + [...this.#stalls.values()].reduce((sum, count) => sum + count, 0);
  }

  #count(stall: Stall): number {
    return this.#stalls.get(stall) ?? 0;
  }

  #describe(): string {
    if (this.#replies >= 2 * this.#total) return `${this.#replies} replies brought nothing new`;
    const calls = this.#sameCalls;
    const counts = [...(calls > 0 ? [['call', calls] as const] : []), ...this.#stalls];
    return counts.map(([stall, count]) => `${WORDS[stall]} ${count === 1 ? 'once' : `${count} times`}`).join(', ');
  }
}

/** Inputs may be large. */
function toDigest(key: string): string {
  return createHash('sha1').update(key).digest('base64');
}
