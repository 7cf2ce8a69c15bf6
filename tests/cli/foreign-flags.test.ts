import {describe, expect, test} from 'vitest';
import {takeOutForeignFlags} from '../../src/cli/foreign-flags.ts';

const KNOWN = ['print', 'model', 'debug', 'input-format', 'inputFormat'];
const take = (...args: string[]) => takeOutForeignFlags(args, (flag) => KNOWN.includes(flag));

describe("flags of Claude Code's that mini-cc lacks", () => {
  test('are a warning each, and their values are no prompt', () => {
    const {args, foreignWords} = take('-p', '--betas', 'x,y', '--thinking=adaptive', '--tmux', 'hello', '--model', 'm');
    expect(args).toEqual(['-p', 'hello', '--model', 'm']);
    expect(foreignWords.map(({kind, name}) => `${kind} ${name}`)).toEqual(['flag --betas', 'flag --tmux']);
    expect(foreignWords[0]!.text).toBe('mini-cc has no --betas, so that it has no effect');
  });

  test('turn thinking off where they say so', () => {
    expect(take('--thinking=disabled').args).toEqual(['--effort=off']);
    expect(take('--thinking', 'adaptive').args).toEqual([]);
  });

  test('are known by their short names, also in one word', () => {
    const {args, foreignWords} = take('-n', 'my name', '-w', '-d', '-pc', 'hello');
    expect(args).toEqual(['--debug', '-p', '-c', 'hello']);
    expect(foreignWords.map(({name}) => name)).toEqual(['--name', '--worktree']);
    expect(take('-pr', 'id').args).toEqual(['-p', '-r', 'id']);
    expect(take('-pe', '--', '-pc').args).toEqual(['-pe', '--', '-pc']);
  });

  test.each([
    [
      ['-p', '--worktree', 'feature', 'hi'],
      ['-p', 'hi'],
    ],
    [
      ['--from-pr', '3', '-p', 'hi'],
      ['-p', 'hi'],
    ],
    [
      ['-w', 'feature', '--model', 'opus', 'hi'],
      ['--model', 'opus', 'hi'],
    ],
    [
      ['--worktree', 'fix the bug', 'of today'],
      ['fix the bug', 'of today'],
    ],
    [
      ['--worktree', 'hello', '--model', 'opus'],
      ['hello', '--model', 'opus'],
    ],
  ])('with a value that may be left out take one where a prompt follows it: %j', (typed, left) =>
    expect(take(...typed).args).toEqual(left),
  );

  test('with a value that may be left out take no word of a prompt', () => {
    expect(take('--worktree', 'hello').args).toEqual(['hello']);
    expect(take('--worktree=x', 'hello').args).toEqual(['hello']);
  });

  test.each(['--managed-settings', '--frobnicate', '--permissions-mode', '--safe-mode'])(
    'do not include %s, which stays and is then refused',
    (flag) => expect(take(flag, 'x')).toEqual({args: [flag, 'x'], foreignWords: []}),
  );

  test('what stands after -- is left as it is', () => {
    expect(take('--', '--betas', 'x').args).toEqual(['--', '--betas', 'x']);
  });
});

describe('of a driver', () => {
  test.each([[['--input-format', 'stream-json']], [['--input-format=stream-json']], [['--inputFormat=stream-json']]])(
    'any flag is a warning, with the word after it (%j)',
    (format) => {
      const {args, foreignWords} = take('--frob', 'bar', ...format, '--other');
      expect(args).toEqual(format);
      expect(foreignWords.map(({name}) => name)).toEqual(['--frob', '--other']);
    },
  );

  test.each(['--sandbox-mode', '--deny-all', '--managed-settings', '--frob-permissions'])(
    'but what restricts stays, and is then refused (%s)',
    (flag) => expect(take(flag, '--input-format=stream-json').args).toEqual([flag, '--input-format=stream-json']),
  );
});
