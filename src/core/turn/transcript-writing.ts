/** Decides when a run writes its transcript: streamed text soon after it was shown, all else before the run goes on. */
import type {Emit} from '../contract/events.ts';
import type {Usage} from '../contract/model.ts';
import type {Clock} from '../contract/results.ts';
import type {UsedSoFar} from '../contract/transcript.ts';
import {MiniCcError} from '../util/errors.ts';
import {countTokens, NO_USAGE} from '../util/messages.ts';
import type {History} from './history.ts';
import type {Account} from './model-request.ts';

const POLL_MS = 1_000;

interface Waiter {
  readonly history: History;
  readonly emit: Emit;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Pauses a run while the disk is full: all lines of the transcript must be on disk before the model, a tool or the
 * screen gets anything further. The run continues by itself when there is free space. The wait counts for the run's
 * time limit, which may end it.
 * @throws the signal's reason when the run is aborted, MiniCcError for a fault of the disk that does not pass
 */
export async function waitUntilWritten({history, emit, clock, signal}: Waiter): Promise<void> {
  let hasWaited = false;
  for (let fault = history.flush(); fault; fault = history.flush()) {
    signal.throwIfAborted();
    if (!fault.mayPass) throw new MiniCcError('TRANSCRIPT_FAULT', `${fault.text}.`);
    if (fault.isNew) {
      hasWaited = true;
      const text = `${fault.text}: the work waits, and goes on by itself once there is room. Nothing is lost.`;
      emit({type: 'notice', level: 'warning', text});
    }
    await waitFor(POLL_MS, clock, signal);
  }
  if (hasWaited) emit({type: 'notice', level: 'info', text: 'It can be written again: the work goes on.'});
}

/** Resolves after this many milliseconds, or when the signal is aborted. */
async function waitFor(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.setTimer(done, ms);
    signal.addEventListener('abort', done, {once: true});
  });
}

/** Shorter than the promised half second, because timers may be late. */
const WRITE_EVERY_MS = 300;

/** What a crash may lose of a fast reply: this share of its cost, but not fewer tokens than these. */
const MAX_LOST_SHARE = 0.01;
const MIN_LOST_TOKENS = 25;

function isMissed(now: Usage, written: Usage): boolean {
  const measure = (usage: Usage) => usage.cost_usd ?? countTokens(usage);
  const tokens = countTokens(now) - countTokens(written);
  return tokens >= MIN_LOST_TOKENS && measure(now) > measure(written) * (1 + MAX_LOST_SHARE);
}

/**
 * Writes a reply into the transcript while it streams: text that was on the screen for half a second survives a crash,
 * and what the reply has used so far is never forgotten. Each write has only the new text. A reader replaces all of it
 * by the whole message, or by the usage of a reply that was cut.
 */
export class StreamedReply {
  #new = '';
  #used: UsedSoFar | undefined;
  #writtenUse: UsedSoFar | undefined;
  #isWritten = false;
  #startsAnew = true;
  #cancel: (() => void) | undefined;

  constructor(
    private readonly history: History,
    private readonly clock: Clock,
  ) {}

  add(text: string): void {
    this.#new += text;
    this.#plan();
  }

  /**
   * The first usage is written at once, because the server has the request, and so is one that grew by a share that
   * would be missed after a crash.
   */
  count({usage, model}: UsedSoFar): void {
    this.#used = {usage, model};
    const written = this.#writtenUse?.usage;
    if (!written || isMissed(usage, written)) this.#writeUse();
    else this.#plan();
  }

  /** Discards the text so far, because the reply begins again and the screen drops the text too. */
  restart(): void {
    this.end();
    this.#startsAnew = true;
    if (this.#isWritten) this.history.recordPartial('', true);
    this.#isWritten = false;
  }

  /** @returns the account. What it records replaces the usage that this object wrote */
  follow(account: Account): Account {
    return {
      ...account,
      onUsage: (usage, by) => {
        account.onUsage(usage, by);
        this.settle();
      },
    };
  }

  /** The usage of a reply is in a separate line, or in the line of the whole message. */
  settle(): void {
    this.#writtenUse = undefined;
  }

  /** Stops writing: the whole message follows, or its part so far. The usage of a call that failed is taken back. */
  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#new = '';
    if (this.#writtenUse) this.history.recordUsageSoFar({...this.#writtenUse, usage: NO_USAGE});
    this.#used = this.#writtenUse = undefined;
  }

  #plan(): void {
    this.#cancel ??= this.clock.setTimer(() => this.#write(), WRITE_EVERY_MS);
  }

  #write(): void {
    this.#cancel = undefined;
    this.#writeUse();
    if (this.#new === '') return;
    this.history.recordPartial(this.#new, this.#startsAnew);
    this.#new = '';
    this.#startsAnew = false;
    this.#isWritten = true;
  }

  #writeUse(): void {
    if (!this.#used || this.#used === this.#writtenUse) return;
    this.#writtenUse = this.#used;
    this.history.recordUsageSoFar(this.#used);
  }
}
