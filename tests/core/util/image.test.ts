import {expect, it} from 'vitest';
import {describeOversize, findImageProblem, MAX_PIXELS_OF_MANY, measureImage} from '../../../src/core/util/image.ts';

/** The start of a PNG. */
function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(60);
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

it('an image is known by its content, and has a size', () => {
  expect(measureImage(png(2, 3))).toEqual({type: 'image/png', width: 2, height: 3});
  const others = [
    png(0, 3),
    png(3, 0),
    Buffer.from('<svg width="1" height="1"/>'),
    Buffer.from('text'),
    Buffer.alloc(0),
  ];
  expect(others.map(measureImage)).toEqual(others.map(() => undefined));
});

it.each([
  [8_000, 1, undefined, false],
  [8_001, 1, undefined, true],
  [1, 8_001, undefined, true],
  [2_000, 2_000, MAX_PIXELS_OF_MANY, false],
  [1, 2_001, MAX_PIXELS_OF_MANY, true],
])('an image of %d × %d pixels, where a side may have %s, is too large: %s', (width, height, max, isTooLarge) => {
  const words = describeOversize({type: 'image/png', width, height}, max);
  expect(words).toBe(
    isTooLarge ? `${width} × ${height} pixels; at most ${max ?? 8_000} a side can be shown` : undefined,
  );
  expect(findImageProblem({data: png(width, height).toString('base64'), media_type: 'image/png'}, max)).toBe(words);
});

it.each([
  ['', 'a damaged image'],
  ['AAA', 'a damaged image'],
  ['AA!A', 'a damaged image'],
  ['AAAA', 'a damaged image, or of a type that cannot be shown'],
  ['A'.repeat(5 * 1024 * 1024), 'a damaged image, or of a type that cannot be shown'],
  ['A'.repeat(5 * 1024 * 1024 + 4), '6 MB in base64; at most 5 MB can be shown'],
])('what no server takes is named (%#)', (data, problem) => {
  expect(findImageProblem({data, media_type: 'image/png'})).toBe(problem);
});

it('an image under the name of another type is named', () => {
  expect(findImageProblem({data: png(1, 1).toString('base64'), media_type: 'image/gif'})).toBe(
    'an image of type image/png that was named image/gif',
  );
});
