import {mkdtempSync, symlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {z} from 'zod';
import {
  describeReadError,
  getErrorCode,
  getErrorMessage,
  ignoreMissing,
  ModelError,
  UsageError,
} from '../../../src/core/util/errors.ts';
import {parseRoot, setProperty} from '../../../src/core/util/json-syntax.ts';
import {
  formatIssues,
  formatMessage,
  formatProblem,
  hasError,
  mustBe,
  ProblemList,
  positionAt,
  quote,
} from '../../../src/core/util/problem.ts';

describe('the problems of a file', () => {
  it('have a place, a rule and what was probably meant; only errors make it fail', () => {
    const list = new ProblemList('/p/a.json');
    list.warn('unknown-key', {line: 2, column: 3}, 'unknown key', 'tools');
    expect(list.failed).toBe(false);
    list.error('syntax', {line: 4, column: 1}, 'is empty');
    expect(list.failed).toBe(true);
    expect(list.all).toEqual([
      ...[
        {file: '/p/a.json', line: 2, column: 3, severity: 'warning', rule: 'unknown-key', message: 'unknown key'},
      ].map((each) => ({...each, meant: 'tools'})),
      {file: '/p/a.json', line: 4, column: 1, severity: 'error', rule: 'syntax', message: 'is empty'},
    ]);
    expect(list.all.map(formatProblem)).toEqual([
      ...['/p/a.json:2:3: unknown key (did you mean tools?)', '/p/a.json:4:1: is empty'],
    ]);
    expect([formatMessage({message: 'a'}), hasError([])]).toEqual(['a', false]);
  });

  it.each([
    [0, 1, 1],
    [2, 1, 3],
    [3, 2, 1],
    [5, 3, 1],
    [9, 5, 1],
  ])('offset %d is in line %d, column %d, for all kinds of line ends', (offset, line, column) => {
    expect(positionAt('ab\nc\rd\r\n\nx', offset)).toEqual({line, column});
  });

  it.each([
    ['a\n"b"', '"a\\n\\"b\\""'],
    [{a: [1]}, '"{\\"a\\":[1]}"'],
    [undefined, '"undefined"'],
    ['x'.repeat(60), `"${'x'.repeat(60)}"`],
    ['x'.repeat(61), `"${'x'.repeat(59)}…"`],
  ])('quote the value %j as %s', (value, text) => {
    expect(quote(value)).toBe(text);
  });

  it.each([
    [undefined, 'is missing'],
    [null, 'must be a name, not null'],
    [[], 'must be a name, not an empty list'],
    [[1], 'must be a name, not a list'],
    [{a: 1}, 'must be a name, not an object'],
    [-3, 'must be a name, not -3'],
    ['x'.repeat(40), `must be a name, not "${'x'.repeat(40)}"`],
    ['x'.repeat(41), `must be a name, not "${'x'.repeat(39)}…"`],
    ['http://me:pw@host', 'must be a name, not "http://…@host"'],
  ])('say what was given where a schema wants something else: %j', (input, text) => {
    expect(mustBe('a name').error({input})).toBe(text);
  });

  it('of a schema are named in one line', () => {
    const {error} = z
      .object({a: z.object({b: z.string('wants text')}), c: z.number('wants a number')})
      .safeParse({a: {}});
    expect(formatIssues(error!)).toBe('a.b: wants text; c: wants a number');
    expect(formatIssues(z.string('wants text').safeParse(1).error!)).toBe('wants text');
  });
});

describe('JSON with comments', () => {
  it.each([
    ['{"a": 1, // one\n}', ['a'], 2, '{"a": 2, // one\n}'],
    ['{\n  "a": 1\n}', ['b', 'c'], 'x', '{\n  "a": 1,\n  "b": {\n    "c": "x"\n  }\n}'],
    ['{"a": 1, "b": 2}', ['a'], undefined, '{\n  "b": 2\n}'],
    ['[]', ['a'], 1, undefined],
  ] as const)('%j with another value at %j keeps the rest', (text, at, value, expected) => {
    const problems = new ProblemList('a');
    expect(setProperty(text, at, value, problems)).toBe(expected);
    expect(problems.failed).toBe(expected === undefined);
  });

  it.each([
    [' \n', 'is empty'],
    ['{"a" 1 2}', 'a colon is missing before "1"'],
    ['{"a": [1 2]}', 'a comma is missing before "2"'],
    ['{"a": [1', 'a closing ] is missing'],
    ['{a: 1}', '"a" is not JSON: text needs double quotes'],
    ['{1: 1}', 'a key in double quotes is expected before "1"'],
    ['{"a": "\\u12"}', '\\u must be followed by four hexadecimal digits'],
    ['{"a": 1.}', 'this number is incomplete'],
    ['{"a": "b\tc"}', 'a control character must be escaped: a new line in text is \\n, a tab \\t'],
  ])('the fault of %j is told in words: %s', (text, message) => {
    const problems = new ProblemList('a');
    expect(parseRoot(text, problems)).toBeUndefined();
    expect(problems.all.map((each) => each.message)).toEqual([message]);
  });
});

describe('errors', () => {
  const systemError = (code: string) => Object.assign(new Error(`${code}: so it is`), {code});

  it('have a stable name and code, and keep their cause', () => {
    const cause = new Error('a');
    expect(new UsageError('b', {cause})).toMatchObject({name: 'UsageError', code: 'USAGE', message: 'b', cause});
    const failed = new ModelError('rate_limit', 'b', {status: 429, retryable: true}, {cause});
    expect(failed).toMatchObject({name: 'ModelError', code: 'MODEL_RATE_LIMIT', kind: 'rate_limit', cause});
    expect([getErrorMessage(cause), getErrorMessage('b'), getErrorMessage(3)]).toEqual(['a', 'b', '3']);
    expect([systemError('ENOENT'), Object.assign(cause, {code: 5}), {code: 'ENOENT'}].map(getErrorCode)).toEqual([
      ...['ENOENT', undefined, undefined],
    ]);
  });

  it('of a missing file are passed over, and no others', () => {
    for (const code of ['ENOENT', 'ENOTDIR']) expect(ignoreMissing(systemError(code))).toBeUndefined();
    expect(() => ignoreMissing(systemError('EACCES'))).toThrow('EACCES');
  });

  it('of reading a file say what is wrong with it', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-read-error-'));
    symlinkSync('nowhere', path.join(folder, 'broken'));
    const tell = (code: string, name = 'missing') =>
      describeReadError(path.join(folder, name), systemError(code), 'is missing');
    expect(tell('ENOENT')).toBe('is missing');
    expect(tell('ENOENT', 'broken')).toBe('is a link to "nowhere", which is not there');
    expect(tell('ENOTDIR')).toBe('is missing');
    expect(tell('ELOOP')).toBe('is a link that leads back to itself');
    expect([tell('EACCES'), tell('EPERM')]).toEqual(Array(2).fill('cannot be read: permission denied'));
    expect(tell('EIO')).toBe('cannot be read: EIO: so it is');
  });
});
