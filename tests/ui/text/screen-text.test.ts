import {expect, test} from 'vitest';
import {screenLine, screenText} from '../../../src/ui/text/screen-text.ts';

test('escape sequences become visible characters', () => {
  expect(screenText('\x1b]0;title\x07 \x1b[2J')).toBe('␛]0;title␇ ␛[2J');
  expect(screenText('\x9b2J\x85')).toBe('\\u009B2J\\u0085');
  expect(screenText('\x7f\x00\x08')).toBe('␡␀␈');
});

test('bidi controls become visible characters', () => {
  expect(screenText('a\u202eb\u2066c\u2069\u200f')).toBe('a\\u202Eb\\u2066c\\u2069\\u200F');
});

test('newlines stay, line ends of Windows become newlines, a lone carriage return becomes visible', () => {
  expect(screenText('a\r\nb\nc\rd')).toBe('a\nb\nc␍d');
});

test('tabs become spaces up to the next stop', () => {
  expect(screenText('\tx\nab\ty')).toBe('    x\nab  y');
});

test('joined emoji and wide characters stay as they are', () => {
  expect(screenText('👩‍👩‍👧 漢字 é')).toBe('👩‍👩‍👧 漢字 é');
});

test('screenLine gives one line', () => {
  expect(screenLine(' a\n\tb\x1b ')).toBe('a b␛');
});
