import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {Glob, matchesPieces} from '../../../src/core/util/glob.ts';
import {measureCpu} from '../../support/cpu-time.ts';
import {createRandom} from '../../support/random.ts';

describe('a glob', () => {
  test.each([
    '*a*a*a*a*a*a*a*b',
    '**/a**/a**/a**/b',
    '{a,aa,aaa}{a,aa,aaa}{a,aa,aaa}{a,aa,aaa}b',
    '*'.repeat(500),
    '[a-a]*'.repeat(100),
  ])('takes time linear in the name: %s', (pattern) => {
    const glob = new Glob(pattern, {braces: true, openStars: true});
    const time = (length: number) => {
      const name = 'a'.repeat(length);
      // The fastest of five, so that other work of this machine does not matter.
      const times = Array.from({length: 5}, () => {
        return measureCpu(() => void glob.matches(name));
      });
      return Math.min(...times);
    };
    time(100);
    // Four times the length: quadratic time would be sixteen times, and exponential time endless.
    expect(time(40_000)).toBeLessThan(time(10_000) * 10 + 40);
  });

  test('forgets sets of states, so that its memory is bounded', () => {
    const glob = new Glob(`*a${'?'.repeat(16)}`);
    const random = createRandom(1);
    const name = Array.from({length: 30_000}, () => 'ab'[random(2)]).join('');
    expect(glob.matches(name)).toBe(name.at(-17) === 'a');
    expect(glob.matches(`${name}a${'b'.repeat(16)}`)).toBe(true);
    expect(glob.matches(`${name}b${'b'.repeat(16)}`)).toBe(false);
  });

  test('matches characters outside of the basic plane and in any case', () => {
    expect(new Glob('?.ts').matches('😀.ts')).toBe(true);
    expect(new Glob('[😀-😂].ts').matches('😁.ts')).toBe(true);
    expect(new Glob('[A-C]É*', {ignoreCase: true}).matches('béX')).toBe(true);
    expect(new Glob('[a-c]x').matches('Bx')).toBe(false);
  });

  test('does what git does with the same pattern', () => {
    const root = mkdtempSync(path.join(tmpdir(), 'mini-cc-glob-'));
    onTestFinished(() => rmSync(root, {recursive: true, force: true}));
    execFileSync('git', ['init', '-q', root]);
    const random = createRandom(7);
    const pick = (from: readonly string[]) => from[random(from.length)]!;
    const word = (parts: readonly string[], most: number) =>
      Array.from({length: 1 + random(most)}, () => pick(parts)).join('');
    const paths = Array.from({length: 400}, () =>
      Array.from({length: 1 + random(4)}, () => word(['a', 'b', 'ab', '.c', 'x-y', 'B'], 3)).join('/'),
    );
    let matching = 0;
    for (let count = 0; count < 60; count += 1) {
      const segment = () => pick(['**', word(['a', 'b', '*', '?', '[ab]', '[!a]', '\\*', '[a-c]', '*'], 4)]);
      const pattern = Array.from({length: 1 + random(3)}, segment).join('/');
      writeFileSync(path.join(root, '.gitignore'), `/${pattern}\n`);
      const input = paths.join('\n');
      const found = runGit(root, input);
      const glob = new Glob(pattern);
      const own = paths.filter((each) => glob.matches(each) || glob.matchesAbove(each));
      expect(own, pattern).toEqual(paths.filter((each) => found.has(each)));
      matching += own.length;
    }
    expect(matching).toBeGreaterThan(500);
  });
});

const ALL = {braces: true, plainBrackets: true, openStars: true};

test.each([
  ['{a,b*}.ts', {braces: true}, ['a.ts', 'b.ts', 'bc.ts'], ['c.ts', '{a,b}.ts', 'a,b.ts', 'a']],
  ['x{a,{b,c}d}', {braces: true}, ['xa', 'xbd', 'xcd'], ['xb', 'xad', 'x']],
  ['{a,b', {braces: true}, ['{a,b'], ['a', 'b']],
  ['{a\\}b', {braces: true}, ['{a}b'], ['ab']],
  ['{a\\,b,c}', {braces: true}, ['a,b', 'c'], ['a', 'b']],
  ['{**,x}/a', {braces: true}, ['b/c/a', '/a', 'x/a'], ['a']],
  ['{b,**/a}', {braces: true}, ['b', 'a', 'c/d/a'], ['c/b']],
  ['{a,b}', {}, ['{a,b}'], ['a', 'b']],
  ['**.ts', {openStars: true}, ['a/b.ts', '.ts'], ['a.tsx']],
  ['**.ts', {}, ['a.ts'], ['a/b.ts']],
  ['a**.ts', ALL, ['ab.ts'], ['a/b.ts']],
  ['a/**', {}, ['a/b', 'a/b/c'], ['a', 'b/a']],
  ['**/a', {}, ['a', 'b/a', 'b/c/a'], ['ba', 'a/b']],
  ['app/[id]/x', {plainBrackets: true}, ['app/[id]/x', 'app/i/x', 'app/d/x'], ['app/x/x', 'app/id/x']],
  ['[id]', {}, ['i', 'd'], ['[id]']],
  ['a[!b]c', {}, ['axc'], ['abc', 'a/c', 'ac']],
  ['a[^b-d]', {}, ['aa', 'ae'], ['ab', 'ac', 'ad']],
  ['[]x]', {}, [']', 'x'], ['[', '[]x]']],
  ['[a-]', {}, ['a', '-'], ['b']],
  ['[\\]a]', {}, [']', 'a'], ['\\']],
  ['[d-b]', {}, [], ['b', 'c', 'd', '-']],
  ['[ab', {}, ['[ab'], ['a']],
  ['a\\*b\\', {}, ['a*b\\'], ['axb\\', 'a*b']],
  ['a?c', {}, ['abc'], ['a/c', 'ac']],
  ['[b-d]', {ignoreCase: true}, ['C', 'c'], ['A']],
  ['[B-D]', {}, ['C'], ['c']],
] as const)('the glob %s with %j matches %j and not %j', (pattern, options, matching, others) => {
  const glob = new Glob(pattern, options);
  expect([...matching, ...others].filter((each) => glob.matches(each))).toEqual(matching);
});

test('a glob matches above a path where it matches one of its folders', () => {
  const glob = new Glob('a/*');
  expect(['a/b/c', 'a/b/c/d', 'a/b', 'a', 'b/a/b'].map((each) => glob.matchesAbove(each))).toEqual([
    ...[true, true, false, false, false],
  ]);
  expect(glob.matches('a/b/c')).toBe(false);
});

function runGit(cwd: string, input: string): Set<string> {
  try {
    const env = {...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null'};
    const output = execFileSync('git', ['check-ignore', '--no-index', '--stdin'], {cwd, input, env, encoding: 'utf8'});
    return new Set(output.trim().split('\n'));
  } catch (error) {
    // Exit code 1: none is ignored.
    if ((error as {status?: number}).status === 1) return new Set();
    throw error;
  }
}

test('pieces of a text are found in their order, in linear time', () => {
  expect(matchesPieces(['mcp__', '__read'], 'mcp__files__read')).toBe(true);
  expect(matchesPieces(['a', 'a'], 'a')).toBe(false);
  expect(matchesPieces(['a', 'b', 'b'], 'ab')).toBe(false);
  expect(matchesPieces(['a', 'b', 'c', ''], 'a-c-b-')).toBe(false);
  expect(matchesPieces(['a', 'b', 'c', ''], 'abc')).toBe(true);
  expect([matchesPieces(['a'], 'ab'), matchesPieces(['a', ''], 'ba'), matchesPieces([], '')]).toEqual([
    ...[false, false, true],
  ]);
  expect(matchesPieces([...'a'.repeat(30)].concat('b'), 'a'.repeat(100_000))).toBe(false);
});
