import {describe, expect, it} from 'vitest';
import type {ModelProgress} from '../../src/core/contract/model.ts';
import {ModelError} from '../../src/core/util/errors.ts';
import {type Attempt, withRetries} from '../../src/models/retry.ts';
import {FakeClock} from '../core/fake-clock.ts';

/** How one attempt goes: it takes `ms` milliseconds and fails; content began to come after `begunMs`. */
interface Failed {
  readonly ms: number;
  readonly begunMs?: number;
  readonly retryAfterMs?: number;
  readonly error?: Error;
}

/** Makes calls that fail so, and all later ones as the last. The time between two attempts passes at once. */
function retrying(maxWaitSeconds: number, failures: readonly Failed[]) {
  const clock = new FakeClock();
  const abort = new AbortController();
  const steps: ModelProgress[] = [];
  let attempts = 0;
  const ended = withRetries(
    {maxWaitSeconds, clock, signal: abort.signal, onProgress: (step) => void steps.push(step)},
    async (attempt: Attempt) => {
      const {ms, begunMs, retryAfterMs, error} = failures[Math.min(attempts, failures.length - 1)]!;
      attempts += 1;
      const startedAt = clock.now();
      clock.advance(ms);
      if (begunMs !== undefined) attempt.begunAt = startedAt + begunMs;
      if (error) throw error;
      const details = {retryable: true, status: 529, ...(retryAfterMs !== undefined && {retryAfterMs})};
      throw new ModelError('overloaded', `failed ${attempts}`, details);
    },
  );
  ended.catch(() => undefined);
  const settled = async () => {
    let isSettled = false;
    const end = () => {
      isSettled = true;
    };
    ended.then(end, end);
    for (let seconds = 0; seconds < 1_000 && !isSettled; seconds += 1) {
      clock.advance(1_000);
      for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
    }
    if (!isSettled) throw new Error('the calls do not end');
    return ended.catch((error: unknown) => error);
  };
  const waits = () => steps.map((step) => (step.type === 'retry' ? step.waitMs : 0));
  return {clock, abort, ended, settled, steps, waits, attempts: () => attempts};
}

describe('calls that fail again and again', () => {
  it('may take no longer than the settings allow, their own time counted after the first one', async () => {
    const {settled, attempts} = retrying(60, [{ms: 100_000}, {ms: 30_000}]);
    expect(await settled()).toMatchObject({message: 'failed 3'});
    expect(attempts()).toBe(3);
  });

  it('do not count the time of a reply that had begun', async () => {
    const {settled, attempts} = retrying(60, [{ms: 0}, {ms: 600_000, begunMs: 1}, {ms: 60_000}]);
    await settled();
    expect(attempts()).toBe(3);
  });

  it('are made as soon as the server allows, and not at all when it asks for more than what is left', async () => {
    const {settled, attempts, waits} = retrying(60, [{ms: 0, retryAfterMs: 31_000}]);
    expect(await settled()).toMatchObject({
      message: 'failed 2; the server asks to wait 31 s',
      details: {retryable: false},
    });
    expect([attempts(), waits()]).toEqual([2, [31_000]]);
  });

  it('wait twice as long each time, up to 20 s, never longer than what is left', async () => {
    const {settled, steps, waits} = retrying(70, [{ms: 0}]);
    await settled();
    const all = waits();
    for (const [index, ms] of all.slice(0, -1).entries()) {
      const middle = Math.min(500 * 2 ** index, 20_000);
      expect(ms).toBeGreaterThanOrEqual(0.75 * middle);
      expect(ms).toBeLessThanOrEqual(1.25 * middle);
    }
    expect(all.length).toBeGreaterThan(6);
    // Whole milliseconds: sums of random fractions are not exact.
    const leftMs = Math.round(70_000 - all.reduce((sum, ms) => sum + ms, 0));
    expect(leftMs).toBeGreaterThanOrEqual(0);
    expect(leftMs).toBeLessThan(100);
    expect(steps.map((step) => step.type === 'retry' && step.attempt)).toEqual(all.map((_, index) => index + 2));
  });

  it('to a server on this machine that refuses the connection are given up after 5 s, with the word why', async () => {
    const refusal = new ModelError('connection', 'cannot reach it', {retryable: true, isRefusedHere: true});
    const {settled, waits} = retrying(120, [{ms: 0, error: refusal}]);
    expect(await settled()).toMatchObject({message: 'cannot reach it: it does not seem to run'});
    const sum = Math.round(waits().reduce((all, ms) => all + ms, 0));
    expect(sum).toBeGreaterThan(4_800);
    expect(sum).toBeLessThanOrEqual(5_000);
    const other = retrying(120, [{ms: 0, error: refusal}, {ms: 0, error: refusal}, {ms: 0}]);
    expect(await other.settled()).toMatchObject({message: expect.stringMatching(/^failed \d+$/)});
  });

  it.each([
    ['that another attempt cannot mend', new ModelError('billing', 'pay', {retryable: false})],
    ['that is not of the model', new TypeError('a defect')],
  ])('are not made again after an error %s', async (_, error) => {
    const {settled, attempts} = retrying(60, [{ms: 0, error}]);
    expect([await settled(), attempts()]).toEqual([error, 1]);
  });

  it.each([
    ['by its status', undefined, '529'],
    ['by its words, where it has no status', new ModelError('connection', 'no reply', {retryable: true}), 'no reply'],
  ])('name each failure %s', async (_, error, reason) => {
    const {settled, steps} = retrying(1, [{ms: 0, ...(error && {error})}]);
    await settled();
    expect(steps[0]).toMatchObject({reason});
  });

  it('end at once when they are aborted, with the reason', async () => {
    const {abort, ended, clock, attempts} = retrying(60, [{ms: 0}]);
    await expect.poll(() => clock.timers).toBe(1);
    abort.abort(new Error('enough'));
    await expect(ended).rejects.toThrow('enough');
    expect([attempts(), clock.timers]).toEqual([1, 0]);
  });
});
