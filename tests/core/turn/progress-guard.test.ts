/** What counts as progress, and when a run without it is told and ends. With the loop: `no-progress.test.ts`. */
import {describe, expect, it} from 'vitest';
import {ProgressGuard, type SeenCall} from '../../../src/core/turn/progress-guard.ts';

const seen = (key: string, change: Partial<SeenCall> = {}): SeenCall => ({key, isValid: true, ...change});

/** Repeats a step until the guard ends the run. @returns at which steps the model was told and the run ended, and why */
function repeat(step: (guard: ProgressGuard, index: number) => void, guard = new ProgressGuard()) {
  const told: number[] = [];
  for (let index = 0; index < 100; index += 1) {
    step(guard, index);
    const {ending} = guard;
    if (ending) return {told, ended: index + 1, ending};
    if (guard.takeAdvice() !== undefined) told.push(index + 1);
  }
  return {told, ended: undefined, ending: undefined};
}

const ends = (reason: string) => ({
  ...{told: [4], ended: 8},
  ending: {outcome: 'limit', limit: 'no_progress', reason: `no progress: ${reason}`},
});

describe('a run that makes no progress', () => {
  it.each<[string, (guard: ProgressGuard, index: number) => void, string]>([
    ['calls the same with the same result', (guard) => guard.recordCalls([seen('a')]), 'the same call 8 times'],
    [
      'makes the same two calls in each reply',
      (guard) => guard.recordCalls([seen('a'), seen('b')]),
      'the same call 8 times',
    ],
    [
      'calls what cannot be run, each time another',
      (guard, index) => guard.recordCalls([seen(`${index}`, {isValid: false})]),
      'a call that could not be run 8 times',
    ],
    ['gets pauses of the server', (guard) => guard.record('pause'), 'a pause of the server 8 times'],
    ['gets empty replies', (guard) => guard.record('empty'), 'an empty reply 8 times'],
    [
      'goes from one repair to another',
      (guard, index) => guard.record(index % 2 === 0 ? 'pause' : 'compaction'),
      'a pause of the server 4 times, a compaction 4 times',
    ],
  ])('and %s is told at the fourth and ends at the eighth', (_, step, reason) => {
    expect(repeat(step)).toEqual(ends(reason));
  });

  it('ends when calls take turns, and when a call and repairs do', () => {
    expect(repeat((guard, index) => guard.recordCalls([seen(`${index % 2}`)])).ended).toBe(16);
    expect(repeat((guard, index) => guard.recordCalls([seen(`${index % 4}`)]))).toEqual({
      ...{told: [12], ended: 20},
      ending: {outcome: 'limit', limit: 'no_progress', reason: 'no progress: 16 replies brought nothing new'},
    });
    const both = repeat((guard, index) => (index % 2 === 0 ? guard.recordCalls([seen('a')]) : guard.record('cut')));
    expect(both).toMatchObject({
      ended: 8,
      ending: {reason: 'no progress: the same call 4 times, a cut answer 4 times'},
    });
  });
});

describe('progress', () => {
  it.each<[string, (guard: ProgressGuard, index: number) => void]>([
    ['a call that is made again after some others', (guard, index) => guard.recordCalls([seen(`${index % 5}`)])],
    ['a result that differs', (guard, index) => guard.recordCalls([seen('a'), seen(`${index}`)])],
    ['a wait for work in the background', (guard) => guard.recordCalls([seen('a', {background: 'waits'})])],
    ['a message of a person', (guard, index) => (index % 3 === 0 ? guard.recordProgress(true) : guard.record('empty'))],
  ])('is %s', (_, step) => {
    expect(repeat(step)).toMatchObject({told: [], ended: undefined});
  });

  it('lets repetitions be counted anew, and the model be told again', () => {
    const {told, ended} = repeat((guard, index) => guard.recordCalls([seen(index === 6 ? 'new' : 'a')]));
    // After the new one, the known call begins at one.
    expect([told, ended]).toEqual([[4, 11], 15]);
  });

  it('is no announcement that only leads to further runs, until a person sends a prompt', () => {
    const guard = new ProgressGuard();
    const chain = (each: ProgressGuard, index: number) => {
      each.recordAnnouncement();
      each.recordCalls([seen(`${index}`, {background: 'starts'})]);
    };
    expect(repeat(chain, guard)).toEqual(ends('the end of a run that only led to further runs 8 times'));
    guard.recordProgress(true);
    expect(guard.ending).toBeUndefined();
    const works = repeat((each, index) => {
      each.recordAnnouncement();
      each.recordCalls([seen(`${index}`), seen(`task ${index}`, {background: 'starts'})]);
    }, guard);
    expect(works).toMatchObject({told: [], ended: undefined});
  });
});
