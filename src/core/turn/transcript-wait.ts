/**
 * Pauses a run while the disk is full: all lines of the transcript must be on disk before the model, a tool or the
 * screen sees the next thing. The run continues by itself when there is free space. The wait counts for the run's time
 * limit, which may end it.
 */
import type {Emit} from '../contract/events.ts';
import type {Clock} from '../contract/results.ts';
import {MiniCcError} from '../util/errors.ts';
import type {History} from './history.ts';

const POLL_MS = 1_000;

interface Waiter {
  readonly history: History;
  readonly emit: Emit;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** @throws the signal's reason when the run is aborted, MiniCcError for a fault of the disk that does not pass */
export async function waitUntilWritten({history, emit, clock, signal}: Waiter): Promise<void> {
  let told: string | undefined;
  for (let fault = history.flush(); fault; fault = history.flush()) {
    signal.throwIfAborted();
    if (!fault.mayPass) throw new MiniCcError('TRANSCRIPT_FAULT', `${fault.text}.`);
    if (fault.isNew) {
      told = fault.text;
      const text = `${told}: the work waits, and goes on by itself once there is room. Nothing is lost.`;
      emit({type: 'notice', level: 'warning', text});
    }
    await waitFor(POLL_MS, clock, signal);
  }
  if (told !== undefined)
    emit({type: 'notice', level: 'info', text: 'There is room on the disk again: the work goes on.'});
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
