/** How often events are drawn. */
import {expect, test, vi} from 'vitest';
import {createEventPump} from '../../../src/ui/state/event-pump.ts';
import {passTime, stopTime} from '../../support/fake-time.ts';

/** Streams a delta each millisecond, for half a second. @param costs of each frame, in milliseconds; the last one stands for all further ones. @returns when frames were drawn */
async function stream(costs: readonly number[], parent?: string): Promise<number[]> {
  stopTime();
  const [drawn, drawnAt]: [string[], number[]] = [[], []];
  const pump = createEventPump((events) => {
    drawn.push(events.map((event) => (event.type === 'text_delta' ? event.text : '?')).join('|'));
    drawnAt.push(performance.now());
    vi.advanceTimersByTime(costs[drawnAt.length - 1] ?? costs.at(-1)!);
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
  ['an answer', [0], undefined, [33]],
  ['subagents alone', [0], 'main', [100]],
  // From the third frame on, two frames have shown what a frame costs.
  ['an answer whose frames take 20 ms', [20], undefined, [33, 180]],
  ['an answer after one frame that loaded code', [90, 1], undefined, [33]],
])('%s: the first frame at once, then one after each pause', async (_what, costs, parent, pauses) => {
  const expected: number[] = [];
  for (let at = 0; at <= 500; ) {
    const index = expected.push(at) - 1;
    at += (costs[index] ?? costs.at(-1)!) + (pauses[index] ?? pauses.at(-1)!);
  }
  expect(await stream(costs, parent)).toEqual(expected);
});
