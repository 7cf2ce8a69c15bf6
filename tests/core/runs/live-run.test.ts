/** Whose end ends a run, and who waits for it. */
import {getEventListeners} from 'node:events';
import {describe, expect, it} from 'vitest';
import type {RunSpec} from '../../../src/core/contract/run-spec.ts';
import type {OpenRun, SubagentResult} from '../../../src/core/contract/runs.ts';
import {LiveRun} from '../../../src/core/runs/live-run.ts';
import {History} from '../../../src/core/turn/history.ts';
import {RunAborted} from '../../../src/core/turn/run-ending.ts';
import {FakeClock} from '../fake-clock.ts';

const SPEC: RunSpec = {
  runId: 'r',
  agent: 'explore',
  description: 'look',
  model: 'm',
  background: false,
  cleanup: 'keep',
};

function open(parent?: AbortSignal) {
  const history = new History({append: () => undefined});
  const live = new LiveRun({spec: SPEC, round: 1, transcript: {} as OpenRun, history}, parent);
  const end = Promise.withResolvers<SubagentResult>();
  return {live, end: () => end.resolve({} as SubagentResult), begin: () => live.begin(() => end.promise)};
}
const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

describe('a run that is at work', () => {
  it("ends with its parent's turn, for the same reason, also where that had ended before", () => {
    const [later, before] = [new AbortController(), new AbortController()];
    const why = new RunAborted('user');
    before.abort(why);
    const runs = [open(later.signal), open(before.signal)];
    expect(runs.map(({live}) => live.isStopping)).toEqual([false, true]);
    later.abort(why);
    expect(runs.map(({live}) => live.signal.reason)).toEqual([why, why]);
  });

  it('listens to its parent no more once it has ended, or outlives it', async () => {
    const parent = new AbortController();
    const {live, begin, end} = open(parent.signal);
    expect(live).toMatchObject({runId: 'r', round: 1, endsForGood: false});
    expect(() => live.ended).toThrow('run r has not begun');
    begin();
    expect(listeners(parent.signal)).toBe(1);
    end();
    await live.ended;
    expect(listeners(parent.signal)).toBe(0);
    const other = open(parent.signal);
    other.live.outlive();
    expect([listeners(parent.signal), other.live.isDetached]).toEqual([0, false]);
  });

  it('that is sent to the background says so to those who wait, and outlives its parent', async () => {
    const parent = new AbortController();
    const {live} = open(parent.signal);
    expect(live.isDetached).toBe(false);
    live.detach();
    await live.detached;
    parent.abort();
    expect([live.isDetached, live.isStopping]).toEqual([true, false]);
  });

  it('is over when it is stopped, for the first reason, and while its end is written', () => {
    const [stopped, ending] = [open().live, open().live];
    expect(stopped.isOver).toBe(false);
    stopped.stop('close');
    stopped.stop('stop');
    ending.isEnding = true;
    expect([stopped.signal.reason.reason, stopped.isOver, ending.isOver]).toEqual(['close', true, true]);
  });
});

it('who waits for a run for some time leaves neither a timer nor a listener behind', async () => {
  const clock = new FakeClock();
  const {live, begin, end} = open();
  const {signal} = new AbortController();
  begin();
  const late = live.endsWithin(10, clock, signal);
  expect([clock.timers, listeners(signal)]).toEqual([1, 1]);
  clock.advance(10);
  await late;
  expect([clock.timers, listeners(signal)]).toEqual([0, 0]);
  const early = live.endsWithin(10, clock, signal);
  end();
  await early;
  expect([clock.timers, listeners(signal)]).toEqual([0, 0]);
});
