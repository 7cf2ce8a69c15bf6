import {describe, expect, it} from 'vitest';
import {findNewMark, RedactingStream, Redactor} from '../../../src/core/secrets/redaction.ts';

const KEY = 'sk-ant-api03-Zm9v+bar/baz_0123456789';
const redactor = (...secrets: readonly (readonly [string, string])[]) =>
  new Redactor(secrets.map(([name, value]) => ({name, value})));
const one = redactor(['MY_KEY', KEY]);
const MARK = '[redacted: MY_KEY]';

describe('keys in texts', () => {
  it('are replaced by a mark that names the variable, each time that they occur', () => {
    expect(one.text(`a ${KEY}, b${KEY}${KEY}`)).toBe(`a ${MARK}, b${MARK}${MARK}`);
    expect(one.text('nothing of the kind')).toBe('nothing of the kind');
    expect(new Redactor([]).text(KEY)).toBe(KEY);
  });

  it('are found in their usual encodings', () => {
    expect(one.text(`?key=${encodeURIComponent(KEY)}&x`)).toBe(`?key=${MARK}&x`);
    expect(one.text(`?key=${KEY.replace('+', '%2b').replace('/', '%2f')}`)).toBe(`?key=${MARK}`);
    for (const before of ['', 'u:', 'ab', 'user:', 'longer name:']) {
      for (const code of ['base64', 'base64url'] as const) {
        expect(one.text(Buffer.from(`${before}${KEY}:after`).toString(code))).toContain(MARK);
      }
    }
    const quoted = redactor(['Q', 'pass"word\\with 1']);
    expect(quoted.text(JSON.stringify({a: 'pass"word\\with 1'}))).toBe('{"a":"[redacted: Q]"}');
  });

  it('may contain any characters', () => {
    const odd = redactor(['ODD', '$&.*+?^(){}[]|/-\\']);
    expect(odd.text('x$&.*+?^(){}[]|/-\\y')).toBe('x[redacted: ODD]y');
  });

  it('are replaced whole when one begins with another, or overlaps another', () => {
    const both = redactor(['SHORT', 'abcdefgh'], ['LONG', 'abcdefgh12345678'], ['ACROSS', '5678ABCDEFGH']);
    expect(both.text('abcdefgh abcdefgh12345678')).toBe('[redacted: SHORT] [redacted: LONG]');
    expect(both.text('abcdefgh12345678ABCDEFGH!')).toBe('[redacted: LONG]!');
  });

  it('are replaced also when the text was cut inside them', () => {
    expect(one.text(`curl -H ${KEY.slice(0, 20)}…`)).toBe(`curl -H ${MARK}…`);
    expect(one.text(`x ${KEY.slice(0, -1)}`)).toBe(`x ${MARK}`);
    expect(one.text(`${KEY.slice(10)} tail`)).toBe(`${MARK} tail`);
    const cut = `head ${KEY.slice(0, 15)}\n\n[... 9 characters cut; the whole output: /x ...]\n\n${KEY.slice(12)} tail`;
    expect(one.text(cut)).toBe(`head ${MARK}\n\n[... 9 characters cut; the whole output: /x ...]\n\n${MARK} tail`);
    // So few characters of a key are no secret.
    expect(one.text('keys begin with sk-ant-…')).toBe('keys begin with sk-ant-…');
  });

  it('are found in plain data; data without keys stays the same object', () => {
    const clean = {a: ['x', {b: 1, c: null, d: undefined}]};
    expect(one.values(clean)).toBe(clean);
    expect(one.values({a: [KEY, {[KEY]: `<${KEY}>`}], n: 1})).toEqual({a: [MARK, {[MARK]: `<${MARK}>`}], n: 1});
  });

  it('are found in less than a second in a megabyte', () => {
    const many = new Redactor(
      Array.from({length: 20}, (_, index) => ({
        name: `K${index}`,
        value: `${index}-secret-${'x'.repeat(60)}-${index}`,
      })),
    );
    const text = 'The quick brown fox jumps over the lazy dog; export function secretOf(x: string) {}\n'.repeat(12_000);
    const start = performance.now();
    many.text(text);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe('keys in a text that comes in pieces', () => {
  const inPieces = (text: string, size: number, by: Redactor = one) => {
    const stream = new RedactingStream(by);
    let shown = '';
    for (let at = 0; at < text.length; at += size) shown += stream.push(text.slice(at, at + size));
    return shown + stream.end();
  };

  it('are found at each border of pieces', () => {
    const text = `before ${KEY} sk-ant- ${KEY}${KEY} after sk-`;
    for (let size = 1; size < text.length; size += 1) {
      expect(inPieces(text, size)).toBe(`before ${MARK} sk-ant- ${MARK}${MARK} after sk-`);
    }
  });

  it('are replaced whole when one begins with another, or overlaps another or itself', () => {
    const both = redactor(['SHORT', 'abcdabcd'], ['LONG', 'abcdabcd12345678'], ['ACROSS', '5678ABCDEFGH']);
    for (const text of ['abcdabcd12345678ABCDEFGH!', 'abcdabcd!', 'abcdabcdabcd', 'abcdabcd1234567', 'x abcd']) {
      for (const size of [1, 2, 3, 5, 8]) expect(inPieces(text, size, both)).toBe(both.text(text));
    }
  });

  it('are found as in the whole text, for all borders of pieces and overlaps of keys', () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
      return seed % below;
    };
    const word = (length: number) => Array.from({length}, () => 'ab'[random(2)]).join('');
    for (let round = 0; round < 2_000; round += 1) {
      const values = Array.from({length: 1 + random(3)}, () => word(8 + random(8)));
      const by = redactor(...values.map((value, index) => [`K${index}`, value] as const));
      const parts = Array.from({length: 1 + random(6)}, () => values[random(values.length)]!.slice(0, 16 - random(12)));
      const text = ` ${parts.join(random(2) ? '' : word(3))}`;
      const shown = inPieces(text, 1 + random(5), by);
      expect(shown).toBe(by.text(text));
      expect(values.filter((value) => shown.includes(value))).toEqual([]);
    }
  });

  it('delay only text that may begin a key', () => {
    const stream = new RedactingStream(one);
    expect(stream.push('hello ')).toBe('hello ');
    expect(stream.push('this is s')).toBe('this is ');
    expect(stream.push('k-a')).toBe('');
    expect(stream.push('ge of ice')).toBe('sk-age of ice');
    expect(stream.end()).toBe('');
  });
});

it('finds a mark that the new text contains and the old text does not', () => {
  expect(findNewMark('a', `KEY=${MARK}`)).toBe(MARK);
  expect(findNewMark(`x ${MARK}`, `y ${MARK}`)).toBeUndefined();
  expect(findNewMark('', 'plain [redacted] text')).toBeUndefined();
});
