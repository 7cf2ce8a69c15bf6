/** How often events are drawn. A busy machine draws less often, never more: the bounds hold on each. */
import {setTimeout as sleep} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {createEventPump} from '../../../src/ui/state/event-pump.ts';

/** Streams deltas for half a second. @param cost of a frame, in milliseconds */
async function stream(cost: number, parent?: string) {
  const drawn: string[] = [];
  const pump = createEventPump((events) => {
    drawn.push(events.map((event) => (event.type === 'text_delta' ? event.text : '?')).join('|'));
    const end = performance.now() + cost;
    while (performance.now() < end);
  });
  const began = performance.now();
  let sent = '';
  for (let seq = 0; performance.now() - began < 500; seq++) {
    pump.push({type: 'text_delta', text: `${seq} `, agentId: 'a', seq, at: 0, ...(parent && {parent})});
    sent += `${seq} `;
    await sleep(1);
  }
  const ms = performance.now() - began;
  const frames = drawn.length;
  pump.stop();
  // Neighbouring deltas became one, none is missing.
  expect(drawn.join('')).toBe(sent);
  return {frames, ms};
}

test.each([
  ['an answer', 33, 0, undefined],
  ['subagents alone', 100, 0, 'main'],
  ['an answer whose frames take 20 ms', 180, 20, undefined],
])('%s: a frame at most each %i ms', async (_what, pause, cost, parent) => {
  const {frames, ms} = await stream(cost, parent);
  expect(frames).toBeGreaterThan(0);
  expect(frames).toBeLessThanOrEqual(ms / pause + 2);
});
