/** Good settings changed at random are either read, or refused with line and column. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {getEffectiveSettings} from '../../src/config/effective-settings.ts';
import {loadSettings} from '../../src/config/settings.ts';
import {UsageError} from '../../src/core/util/errors.ts';
import {makeFolders, USER} from './fixture.ts';

const GOOD = JSON.stringify(
  {
    version: 1,
    model: 'sonnet',
    agents: {explore: {model: 'haiku', maxTurns: 8}, 'my-agent': {timeoutSeconds: 0}},
    permissions: {allow: ['bash(npm test)'], ask: ['web_fetch'], deny: ['edit_file(src/**)']},
    subagents: {maxConcurrent: 'auto', resultTokens: 500, tools: {allow: ['*'], deny: []}},
    limits: {profile: 'graded', idleSeconds: 90},
    providers: {ollama: {baseURL: 'http://127.0.0.1:11434', local: true}},
    sandbox: {mode: 'auto', hide: ['~/.keys']},
    fanOut: 'ask',
    hooks: {Stop: [{hooks: []}]},
    retention: {days: 0.5},
  },
  null,
  2,
);

const PIECES = [
  ...'{}[]",:\\/*#\n\r\t0-1e9.',
  'null',
  'true',
  '__proto__',
  '"constructor"',
  '"toString": {}',
  '{"a":',
  '[[[[',
  '1e999',
  '-0',
  '//',
  '/*',
  '"\\u0000"',
  '\\ud800',
  '\uD800',
  '\uFEFF',
  '\u202E',
  '\u0000',
  '"permissions"',
  '"version": 99,',
  '"deny"',
  '"model": {"x": [1, {}]},',
];

/** The same numbers in every run (mulberry32). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function mutate(text: string, random: (below: number) => number): string {
  let mutated = text;
  for (let times = 1 + random(4); times > 0; times--) {
    const at = random(mutated.length + 1);
    const end = at + random(12);
    const piece = PIECES[random(PIECES.length)]!;
    const from = random(mutated.length + 1);
    mutated = [
      () => mutated.slice(0, at) + piece + mutated.slice(at),
      () => mutated.slice(0, at) + mutated.slice(end),
      () => mutated.slice(0, at) + piece + mutated.slice(end),
      () => mutated.slice(0, at) + mutated.slice(from, from + 40) + mutated.slice(at),
      () => mutated.slice(0, at),
      // Other kinds of values with correct syntax, so that the checks of the schema are reached.
      () =>
        mutated.replaceAll(/: ("[^"]*"|\d+)/g, (all) =>
          random(4) === 0 ? `: ${['null', '[]', '{}', '-1', '"x"', 'true'][random(6)]}` : all,
        ),
      () => mutated.replaceAll(/"(\w+)":/g, (all, key) => (random(6) === 0 ? `"${key.slice(1)}${key[0]}":` : all)),
    ][random(7)]!();
  }
  return mutated;
}

it('300 random mutations of good settings are read, or refused by a usage error with line and column', () => {
  const at = makeFolders({[USER]: GOOD});
  const file = path.join(at.base, USER);
  expect(loadSettings(at).settings).toMatchObject({model: 'sonnet', retention: {days: 0.5}});
  const random = numbers(20_260_101);
  const ends = {read: 0, refused: 0};
  for (let round = 0; round < 300; round++) {
    const text = mutate(GOOD, random);
    writeFileSync(file, text);
    try {
      const {settings} = loadSettings(at);
      expect(getEffectiveSettings(at, {}).settings.length).toBeGreaterThan(10);
      expect(Object.getPrototypeOf(settings)).toBe(Object.prototype);
      ends.read++;
    } catch (error) {
      if (!(error instanceof UsageError)) throw new Error(`round ${round}: ${JSON.stringify(text)}`, {cause: error});
      for (const line of error.message.split('\n'))
        expect(line).toMatch(/^(?:\/.*settings\.json:\d+:\d+: \S|and \d+ more$)/);
      ends.refused++;
    }
  }
  expect(ends.read).toBeGreaterThan(15);
  expect(ends.refused).toBeGreaterThan(100);
});
