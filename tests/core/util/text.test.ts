import {describe, expect, it} from 'vitest';
import {
  dropOverwritten,
  formatJson,
  formatRetry,
  formatTokens,
  removeLogins,
  showControls,
  toOneLine,
  toShortLine,
} from '../../../src/core/util/text.ts';
import {measureCpu} from '../../support/cpu-time.ts';

it.each([
  ['plain\n', 'plain\n'],
  ['\r1 %\r2 %\ndone', '2 %\ndone'],
  ['a\rb\r\r\nc\r\n\r\n', 'b\nc\n\n'],
  ['1 %\r2 %\r', '2 %'],
  ['\r', ''],
])('of the output %j a terminal shows %j', (output, shown) => expect(dropOverwritten(output)).toBe(shown));

describe('characters that a terminal would obey or hide', () => {
  it.each([
    ['\x1b[31mred', '␛[31mred'],
    ['\x1b]52;c;aGk=\x07', '␛]52;c;aGk=␇'],
    ['\x9b2J\x9d0;t\x9c', '\\u009B2J\\u009D0;t\\u009C'],
    ['a\rb\bc\0\x7f', 'a␍b␈c␀␡'],
    ['a\u202eb\u2066c\u061c\u200f', 'a\\u202Eb\\u2066c\\u061C\\u200F'],
    ['a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
    ['pay\u200bload\u2060x\ufeff', 'pay\\u200Bload\\u2060x\\uFEFF'],
    ['soft\u00adhyphen', 'soft\\u00ADhyphen'],
    ['ad\u200dmin ad\u200cmin', 'ad\\u200Dmin ad\\u200Cmin'],
    ['hi\u{e0041}\u{e0042}', 'hi\\u{E0041}\\u{E0042}'],
    ['\u{1f3f4}\u{e0068}\u{e0069}\u{e007f}', '\u{1f3f4}\\u{E0068}\\u{E0069}\\u{E007F}'],
    ['x\ufe0f\ufe01\u{e0101}', 'x\\uFE0F\\uFE01\\u{E0101}'],
    ['1\ufe0f2', '1\\uFE0F2'],
    ['❤️\ufe0f', '❤️\\uFE0F'],
    ['a\u3164b\u115fc\u1160', 'a\\u3164b\\u115Fc\\u1160'],
    ['half \ud83d of it', 'half \\uD83D of it'],
    ['\ufff9a\ufffab\ufffb', '\\uFFF9a\\uFFFAb\\uFFFB'],
  ])('are replaced by visible ones: %j', (text, expected) => {
    expect(showControls(text)).toBe(expected);
  });

  it.each([
    ...['tabs\tand\nnewlines', 'é ü 漢字 한국어', '👩‍👩‍👧 👍🏽 ❤️‍🔥 🏳️‍🌈 1️⃣ ☎️', '🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇫🇷', 'می‌خواهم', 'क्‍ष', '葛󠄀'],
    ...['𝒳 😀 𠮷', '…', '\u2800\u00a0'],
  ])('stay when they are part of an emoji or a letter: %j', (text) => {
    expect(showControls(text)).toBe(text);
  });

  it('are replaced in a megabyte of text in a time linear in it', () => {
    const text = `plain text with some ünïcödé and 👩‍👩‍👧 emoji\n`.repeat(20_000);
    expect(measureCpu(() => void showControls(text))).toBeLessThan(5000);
  });
});

describe('a text in one line', () => {
  it('has single spaces, and none at its ends', () => {
    expect(toOneLine('  a\n\n\tb  c\r\n')).toBe('a b c');
  });

  it('ends with … where it is too long', () => {
    expect([toShortLine(' 12345\n', 5), toShortLine('123456', 5), toShortLine('123😀6', 5)]).toEqual([
      ...['12345', '1234…', '123\ufffd…'],
    ]);
  });
});

it('JSON keeps what a terminal would obey, as escapes', () => {
  const value = {a: '\x1b[31m\u202e\u{e0041}', b: [1]};
  expect(formatJson(value)).toBe('{\n  "a": "\\u001b[31m\\u202e\\udb40\\udc41",\n  "b": [\n    1\n  ]\n}');
  expect(JSON.parse(formatJson(value))).toEqual(value);
});

it.each([
  [{waitMs: 3_200, attempt: 2}, false, 'retrying in 4s (429), attempt 2'],
  [{waitMs: 0, attempt: 3}, false, 'retrying in 1s (429), attempt 3'],
  [{waitMs: 1_000, attempt: 2}, true, 'Connection lost; retrying in 1s (429), attempt 2. The answer starts over.'],
  [{waitMs: 0, attempt: 1, fallback: {from: 'a', to: 'b'}}, false, 'a cannot answer (429): b answers instead'],
  [
    ...[{waitMs: 0, attempt: 1, fallback: {from: 'a', to: 'b'}}, true],
    'a cannot answer (429): b answers instead. The answer starts over.',
  ],
] as const)('a retry is told in words: %j, starts over: %s', (retry, startsOver, text) => {
  expect(formatRetry({...retry, reason: '429'}, startsOver)).toBe(text);
});

it('names, passwords and queries of addresses are left out', () => {
  expect(removeLogins('see https://me:pw@host/a?key=1#top and redis://:pw@h:1/0, not a@b or x?y')).toBe(
    'see https://…@host/a?…#top and redis://…@h:1/0, not a@b or x?y',
  );
});

it.each([
  [999, '999'],
  [1_000, '1.0k'],
  [999_940, '999.9k'],
  [1_000_000, '1.0M'],
])('%d tokens are %s', (count, text) => {
  expect(formatTokens(count)).toBe(text);
});
