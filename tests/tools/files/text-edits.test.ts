import {describe, expect, it} from 'vitest';
import {applyEdits, fitReplacement} from '../../../src/tools/files/text-edits.ts';

/** Why one edit changed nothing. */
function getProblem(text: string, old_string: string): string {
  const edited = applyEdits(text, [{old_string, new_string: 'something else'}]);
  return 'problem' in edited ? edited.problem.replace(/ ?Nothing was changed\.$/, '') : 'none';
}
const MISSING = 'old_string was not found';

describe('a replacement', () => {
  it.each([
    ['keeps what the edit leaves at both ends', 'a\r\nb\nc', 'a\nb\nc', 'a\nX\nc', '\n', 'a\r\nX\nc'],
    ['may be shorter than what it repeats', 'aaa', 'aaa', 'aa', '\n', 'aa'],
    ['may be longer than what it repeats', 'aa', 'aa', 'aaaa', '\n', 'aaaa'],
    ['may repeat an end that overlaps its beginning', 'aba', 'aba', 'ababa', '\n', 'ababa'],
    ['takes the line ends of the passage', 'a\r\nb', 'a\nb', 'x\ny\nz', '\n', 'x\r\ny\r\nz'],
    ['takes those of the file', 'a', 'a', 'x\ny', '\r\n', 'x\r\ny'],
    ['takes its own where the file has none', 'a', 'a', 'x\r\ny', undefined, 'x\r\ny'],
    ['has plain ones else', 'a', 'a', 'x\ny', undefined, 'x\ny'],
  ] as const)('%s', (_, passage, wanted, inserted, lineEnd, result) => {
    expect(fitReplacement(passage, wanted, inserted, lineEnd)).toBe(result);
  });
});

describe('a string that is there several times', () => {
  it('is named with the lines of the first 20', () => {
    const numbers = (count: number) => Array.from({length: count}, (_, at) => 2 * at + 1).join(', ');
    const lines = (count: number) => 'a\nb\n'.repeat(count);
    expect(getProblem(lines(20), 'a')).toContain(`20 times (lines ${numbers(20)}):`);
    expect(getProblem(lines(21), 'a')).toContain(`21 times (lines ${numbers(20)}, …):`);
    expect(getProblem('x\n\nx', 'x')).toContain('(lines 1, 3)');
  });
});

describe('a string that is not there', () => {
  it.each([
    ['1\tone\n  2\ttwo', true],
    ['\n1\tone\n\n', true],
    ['1\tone\ntwo', false],
  ])('is taken for one with line numbers only where each line has one: %j', (wanted, isNumbered) => {
    expect(getProblem('one\ntwo\n', wanted).includes('leave out the line numbers')).toBe(isNumbered);
  });

  it.each([
    [
      'x\n\tif (a) {\n\tb;\n}\n',
      'if (a){\n  b;',
      `${MISSING}: only white space differs at line 2, where the file has:\n\tif (a) {\n\tb;\n`,
    ],
    [
      'x\nlet a  = 1; // note\n',
      'a = 1;',
      `${MISSING}: only white space differs at line 2, where the file has:\nlet a  = 1; // note\n`,
    ],
    [
      'if (a) {\nc;\nif (a) {\nb;\n',
      'if (a)  {\nb;',
      `${MISSING}: only white space differs at line 3, where the file has:\nif (a) {\nb;\n`,
    ],
  ])('of %j differs only in white space from %j', (text, wanted, problem) => {
    expect(getProblem(text, wanted)).toBe(problem);
  });

  it.each([
    ['a\nb\nc', 'b\nd', 'its first 1 line is at line 2, but at line 3 the file has:\nc\nwhere old_string has:\nd\n'],
    [
      ' a\nx\na \nb\nc',
      'a\nb\nd',
      'its first 2 lines are at line 3, but at line 5 the file has:\nc\nwhere old_string has:\nd\n',
    ],
    ['x\na\nb', 'a\nb\nd', 'its first 2 lines are at line 2, but at line 4 the file ends\nwhere old_string has:\nd\n'],
  ])('begins like a passage of %j: %j', (text, wanted, problem) => {
    expect(getProblem(text, wanted)).toBe(`${MISSING}: ${problem}`);
  });

  it('gets 1000 characters of the file at most', () => {
    const shown = (length: number) => getProblem(`a\n${'b'.repeat(length)}`, 'a\nc').split('\n')[1];
    expect(shown(1000)).toBe('b'.repeat(1000));
    expect(shown(1001)).toBe(`${'b'.repeat(999)}…`);
  });

  it('of white space alone gets no passage', () => {
    expect(getProblem('a\nb\n', ' \t\n ')).toBe(`${MISSING}.`);
    expect(getProblem(' \n', 'a')).toBe('The file is empty: use write_file.');
  });
});
