import {getEventListeners} from 'node:events';
import {describe, expect, it} from 'vitest';
import type {JournalFault} from '../../../src/core/contract/transcript.ts';
import {History} from '../../../src/core/turn/history.ts';
import {waitUntilWritten} from '../../../src/core/turn/transcript-writing.ts';
import {FakeClock} from '../fake-clock.ts';

const full = (change: Partial<JournalFault> = {}): JournalFault => ({
  ...{text: 'The disk is full', mayPass: true, isNew: true},
  ...change,
});

describe('a run whose transcript cannot be written', () => {
  /** @param faults what each attempt to write meets; later ones succeed */
  function wait(...faults: JournalFault[]) {
    const clock = new FakeClock();
    const abort = new AbortController();
    const notices: string[] = [];
    let attempts = 0;
    const history = new History({append: () => undefined, flush: () => faults[attempts++]});
    const ended = waitUntilWritten({
      ...{history, clock, signal: abort.signal},
      emit: (event) => void (event.type === 'notice' && notices.push(`${event.level}: ${event.text}`)),
    });
    ended.catch(() => undefined);
    return {clock, abort, notices, ended, attempts: () => attempts};
  }

  it('goes on at once, and says nothing, where all is written', async () => {
    const {ended, notices, attempts} = wait();
    await ended;
    expect([notices, attempts()]).toEqual([[], 1]);
  });

  it('tries again each second, and says once that it waits and once that it goes on', async () => {
    const {ended, clock, notices, attempts, abort} = wait(full(), full({isNew: false}), full({isNew: false}));
    for (const count of [1, 2, 3]) {
      await expect.poll(() => clock.timers).toBe(1);
      clock.advance(999);
      expect(attempts()).toBe(count);
      clock.advance(1);
    }
    await ended;
    expect(attempts()).toBe(4);
    expect(notices).toEqual([
      expect.stringMatching(/^warning: The disk is full: the work waits/),
      expect.stringMatching(/^info: It can be written again/),
    ]);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });

  it('ends at once when it is aborted, with the reason, and leaves no timer', async () => {
    const {ended, clock, abort, attempts} = wait(full(), full(), full());
    await expect.poll(() => clock.timers).toBe(1);
    abort.abort(new Error('enough'));
    await expect(ended).rejects.toThrow('enough');
    expect([clock.timers, attempts()]).toEqual([0, 2]);
  });

  it('fails where the fault does not pass with time', async () => {
    const {ended, notices} = wait(full({mayPass: false, text: 'The file is gone'}));
    await expect(ended).rejects.toMatchObject({code: 'TRANSCRIPT_FAULT', message: 'The file is gone.'});
    expect(notices).toEqual([]);
  });
});
