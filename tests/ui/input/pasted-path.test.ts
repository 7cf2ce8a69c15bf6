import {expect, test} from 'vitest';
import {toImageMention} from '../../../src/ui/input/key-router.ts';

test.each([
  ['/tmp/a.png', '@/tmp/a.png '],
  ['/tmp/my\\ shot.PNG ', '@"/tmp/my shot.PNG" '],
  ["'/tmp/my shot.jpeg'", '@"/tmp/my shot.jpeg" '],
  ['file:///tmp/my%20shot.webp', '@"/tmp/my shot.webp" '],
  ['/tmp/a.png /tmp/b.png', undefined],
  ['/tmp/notes.txt', undefined],
  ['see a.png', undefined],
  ['/tmp/a.png\n/tmp/b.png', undefined],
])('the pasted %j becomes %j', (pasted, mention) => {
  expect(toImageMention(pasted)).toBe(mention);
});
