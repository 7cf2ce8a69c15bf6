import {describe, expect, it} from 'vitest';
import type {OutputStore} from '../../../src/core/contract/results.ts';
import {cutContent, cutMiddle, describeInput, WatchedOutput} from '../../../src/core/util/tool-output.ts';

/** Keeps what is written, by call id. */
function createStore(): OutputStore & {readonly kept: Map<string, string>} {
  const kept = new Map<string, string>();
  return {
    kept,
    open: (callId) => ({
      path: `/outputs/${callId}`,
      write: (chunk) => void kept.set(callId, (kept.get(callId) ?? '') + chunk),
      close: () => void kept.set(callId, `${kept.get(callId)}.`),
    }),
  };
}

const CUT = '\n\n[... 3 characters cut; the whole output: /outputs/c ...]\n\n';

describe('a long output', () => {
  it('keeps head and tail, together as many characters as allowed', () => {
    expect(cutMiddle('12345678', 5, '/outputs/c')).toBe(`12${CUT}678`);
    expect(cutMiddle('12345', 5, '/outputs/c')).toBe('12345');
    expect(cutMiddle('1😀23😀4', 4, '/outputs/c')).toBe(`1\ufffd${CUT.replace('3', '4')}\ufffd4`);
  });

  it('of a result is kept whole in a file, beside its images', () => {
    const image = {type: 'image', source: {type: 'base64', media_type: 'image/png', data: ''}} as const;
    const store = createStore();
    expect(cutContent([{type: 'text', text: '12345678'}, image], 5, store, 'c')).toEqual([
      ...[{type: 'text', text: `12${CUT}678`}, image],
    ]);
    expect(store.kept.get('c')).toBe('12345678.');
    expect(cutContent([{type: 'text', text: '12345678'}], 5, store, 'c')).toBe(`12${CUT}678`);
    const short = [{type: 'text', text: '12345'}] as const;
    expect(cutContent(short as never, 5, store, 'd')).toBe(short);
    expect([cutContent(undefined, 5, store, 'd'), store.kept.has('d')]).toEqual([undefined, false]);
    expect(cutContent('x'.repeat(30_000), undefined, store, 'e')).toHaveLength(30_000);
  });

  it('is told by the store that watches it', () => {
    const output = new WatchedOutput(createStore());
    expect(output.file).toBeUndefined();
    output.open('c');
    expect(output.file).toBe('/outputs/c');
  });
});

it.each([
  [{path: 'a.ts', other: 'b'}, 'a.ts'],
  [{other: 'b', command: 'npm\n test'}, 'npm test'],
  [{first: 'x', second: 'y'}, 'x'],
  [{first: 5}, ''],
  [{}, ''],
  [null, ''],
  ['text', ''],
])('a call with the input %j is named %j', (input, name) => {
  expect(describeInput(input)).toBe(name);
});
