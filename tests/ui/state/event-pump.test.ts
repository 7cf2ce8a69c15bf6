/** How often events are drawn. */
import {expect, test, vi} from 'vitest';
import {createEventPump} from '../../../src/ui/state/event-pump.ts';
import {passTime, stopTime} from '../../support/fake-time.ts';

/** Streams a delta each millisecond, for half a second. @param cost of a frame, in milliseconds. @returns when frames were drawn */
async function stream(cost: number, parent?: string): Promise<number[]> {
  stopTime();
  const [drawn, drawnAt]: [string[], number[]] = [[], []];
  const pump = createEventPump((events) => {
    drawn.push(events.map((event) => (event.type === 'text_delta' ? event.text : '?')).join('|'));
    drawnAt.push(performance.now());
    vi.advanceTimersByTime(cost);
  });
  const began = performance.now();
  let sent = '';
  for (let seq = 0; performance.now() - began < 500; seq++) {
    pump.push({type: 'text_delta', text: `${seq} `, agentId: 'a', seq, at: 0, ...(parent && {parent})});
    sent += `${seq} `;
    await passTime(1);
  }
  const frames = drawnAt.map((at) => at - began);
  pump.stop();
  // Neighbouring deltas became one, none is missing.
  expect(drawn.join('')).toBe(sent);
  return frames;
}

test.each([
  ['an answer', 33, 0, undefined],
  ['subagents alone', 100, 0, 'main'],
  ['an answer whose frames take 20 ms', 180, 20, undefined],
])('%s: the first frame at once, then one each %i ms', async (_what, pause, cost, parent) => {
  const frames = await stream(cost, parent);
  const each = pause + cost;
  expect(frames).toEqual(Array.from({length: Math.floor(500 / each) + 1}, (_, index) => index * each));
});
