import {describe, expect, it, test} from 'vitest';
import {cutText, cutWords, rowWidth, textWidth, wrapText} from '../../../src/ui/text/wrap.ts';

const apart = (text: string) => [...text].reduce((sum, character) => sum + textWidth(character), 0);

describe('emoji that some terminals draw as one picture and others as several', () => {
  const texts = [
    '👍🏽'.repeat(30),
    '👩‍👩‍👧‍👦'.repeat(12),
    `${'❤️'.repeat(9)}${'👩🏽‍🚀'.repeat(9)}`,
    `word 👍🏽 `.repeat(10),
  ];

  it.each(texts)('are wrapped so that no terminal has to break a row again: %s', (text) => {
    const rows = wrapText(text, 20);
    expect(rows.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
    for (const row of rows) {
      expect(apart(row)).toBeLessThanOrEqual(20);
      expect(textWidth(row)).toBeLessThanOrEqual(20);
    }
    expect(apart(cutText(text, 20))).toBeLessThanOrEqual(20);
  });

  it('have the usual width when nothing is joined', () => {
    for (const text of ['plain', '漢字', 'é', '🇫🇷', '❤️', '한국어']) expect(rowWidth(text)).toBe(textWidth(text));
  });
});

test('the later rows of a numbered table stand below what follows the number', () => {
  expect(wrapText(' 1  processing  explore  look around', 24)).toEqual([' 1  processing  explore', '    look around']);
});

test('a sentence is cut after a whole word', () => {
  expect(cutWords('press Ctrl+C again to leave', 20)).toBe('press Ctrl+C again…');
  expect(cutWords('digit, or arrows · Enter or Esc: no', 21)).toBe('digit, or arrows…');
  expect(cutWords('short', 20)).toBe('short');
  expect(cutWords('incomprehensibilities', 10)).toBe('incompreh…');
});
