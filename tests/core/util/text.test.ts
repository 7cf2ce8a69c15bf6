import {describe, expect, it} from 'vitest';
import {showControls} from '../../../src/core/util/text.ts';
import {measureCpu} from '../../support/cpu-time.ts';

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

  it('are replaced in a megabyte of text within a second', () => {
    const text = `plain text with some ünïcödé and 👩‍👩‍👧 emoji\n`.repeat(20_000);
    expect(measureCpu(() => void showControls(text))).toBeLessThan(1000);
  });
});
