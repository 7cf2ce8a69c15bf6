import {describe, expect, test} from 'vitest';
import {takeOutForeignFlags} from '../../src/cli/foreign-flags.ts';

const KNOWN = ['print', 'model', 'input-format', 'inputFormat'];
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
