/** The colours of the screen: they can be read, and they are all in one module. */
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {THEME_NAMES} from '../../src/core/contract/events.ts';
import {AGENT_TONES, getTheme, type Look} from '../../src/ui/theme.ts';

/** By the WCAG. */
function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high! + 0.05) / (low! + 0.05);
}

const exact = THEME_NAMES.filter((name) => name !== 'terminal');

test.each(exact)('in the theme %s every text has a contrast of at least 4.5', (name) => {
  const background = name.startsWith('dark') ? '#1e1e1e' : '#ffffff';
  const weak = Object.entries(getTheme(name)).filter(
    ([, {color, backgroundColor = background}]: [string, Look]) => contrast(`${color}`, `${backgroundColor}`) < 4.5,
  );
  expect(weak).toEqual([]);
});

test.each(THEME_NAMES)('in the theme %s eight agents have eight colours', (name) => {
  for (const bits of [24, 4]) {
    const theme = getTheme(name, bits);
    expect(new Set(AGENT_TONES.map((tone) => theme[tone].color)).size).toBe(8);
  }
});

describe('with sixteen colours', () => {
  test.each(THEME_NAMES)('the theme %s uses the palette of the terminal alone', (name) => {
    const colors = Object.values(getTheme(name, 4)).flatMap(({color, backgroundColor}: Look) => [
      color,
      backgroundColor,
    ]);
    expect(colors.filter((color) => color?.startsWith('#'))).toEqual([]);
  });

  test('a theme for the colour-blind has neither green nor red in a diff', () => {
    for (const name of ['dark-colorblind', 'light-colorblind'] as const) {
      const {added, removed, addedWord, removedWord} = getTheme(name, 4);
      const colors = [added, removed, addedWord, removedWord].map(({color}) => color);
      expect(colors).not.toContain('green');
      expect(colors).not.toContain('red');
    }
  });
});

test('no other module of the screen names a colour', () => {
  const folder = path.resolve(import.meta.dirname, '../../src/ui');
  const files = readdirSync(folder, {recursive: true, encoding: 'utf8'}).filter((file) => /\.tsx?$/.test(file));
  const naming = files.filter((file) =>
    /\b(?:color|backgroundColor)(?:=|: )['"]|dimColor/.test(readFileSync(path.join(folder, file), 'utf8')),
  );
  expect(naming).toEqual(['theme.ts']);
});
