import {expect, test} from 'vitest';
import {cutPatch, formatPatch} from '../../../src/tools/files/patch.ts';
import {measureCpu} from '../../support/cpu-time.ts';

test('a patch shows what changed with three lines around it', () => {
  expect(formatPatch('1\n2\n3\n4\n5\n6\n7\n8\n9\n', '1\n2\n3\n4\nfive\n6\n7\n8\n9\n')).toBe(
    '@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8',
  );
  expect(formatPatch('', 'a\n')).toBe('@@ -0,0 +1,1 @@\n+a');
  expect(formatPatch('a\n', '')).toBe('@@ -1,1 +0,0 @@\n-a');
  expect(formatPatch('a\n', 'a\n')).toBe('');
});

test('a patch of texts that have little in common is made within a time limit', () => {
  const lines = (word: string) => Array.from({length: 20_000}, (_, index) => `${word} ${index}\n`).join('');
  let patch = '';
  const ms = measureCpu(() => {
    patch = formatPatch(`a\nb\nc\nd\n${lines('old')}e\n`, `a\nb\nc\nd\n${lines('new')}e\n`);
  });
  expect(ms).toBeLessThan(2000);
  expect(patch).toMatch(/^@@ -2,20005 \+2,20005 @@\n b\n c\n d\n-old 0\n-old 1\n/);
  expect(patch.length).toBeLessThan(100_100);
});

test('a patch is cut after a whole line, and says how many more there are', () => {
  expect(cutPatch('a\nb\nc\nd', 4)).toBe('a\nb\n(2 more lines of the diff)');
  expect(cutPatch('a\nb', 4)).toBe('a\nb');
});
