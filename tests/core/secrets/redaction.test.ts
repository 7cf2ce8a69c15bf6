import {describe, expect, it} from 'vitest';
import {findNewMark, RedactingStream, Redactor} from '../../../src/core/secrets/redaction.ts';
import {measureCpu} from '../../support/cpu-time.ts';

const KEY = 'sk-ant-api03-Zm9v+bar/baz_0123456789';
const redactor = (...secrets: readonly (readonly [string, string])[]) =>
  new Redactor(secrets.map(([name, value]) => ({name, value})));
const one = redactor(['MY_KEY', KEY]);
const MARK = '[redacted: MY_KEY]';

const inPieces = (text: string, size: number, by: Redactor = one) => {
  const stream = new RedactingStream(by);
  let shown = '';
  for (let at = 0; at < text.length; at += size) shown += stream.push(text.slice(at, at + size));
  return shown + stream.end();
};

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

  const base32 = (text: string) => {
    const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
    const codes = bits.match(/.{1,5}/g)!.map((five) => Number.parseInt(five.padEnd(5, '0'), 2));
    return codes.map((code) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[code]).join('');
  };
  const each = (text: string, encode: (char: string, code: string) => string) =>
    [...text].map((char) => encode(char, char.charCodeAt(0).toString(16))).join('');
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const wrapped = (text: string, width: number, end = '\n') => text.match(new RegExp(`.{1,${width}}`, 'gs'))!.join(end);
  const entity: Record<string, string> = {'+': '&plus;', '/': '&sol;', _: '&lowbar;', '-': '&#45;'};

  /** Each encodes a text that contains the key. */
  const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
    base64,
    'base64 for addresses': (text) => Buffer.from(text).toString('base64url'),
    'base64 twice': (text) => base64(base64(text)),
    'base64 in lines': (text) => wrapped(base64(text), 16),
    'base64 in lines with CRLF, indented': (text) => wrapped(base64(text), 16, '\r\n    '),
    'base64 twice, in lines': (text) => wrapped(base64(base64(text)), 20),
    'base64 in lines inside a JSON text': (text) => JSON.stringify(wrapped(base64(text), 16)),
    base32,
    'base32 in small letters': (text) => base32(text).toLowerCase(),
    hex: (text) => Buffer.from(text).toString('hex'),
    'hex with blanks, as od writes it': (text) =>
      Buffer.from(text)
        .toString('hex')
        .replace(/..(?!$)/g, '$& '),
    'hex with colons': (text) =>
      Buffer.from(text)
        .toString('hex')
        .toUpperCase()
        .replace(/..(?!$)/g, '$&:'),
    'hex in capital letters, in lines': (text) => wrapped(Buffer.from(text).toString('hex').toUpperCase(), 30),
    'an address': encodeURIComponent,
    'an address that keeps the slash': (text) => encodeURIComponent(text).replaceAll('%2F', '/'),
    'an address in small letters': (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
    'an address in an address': (text) => encodeURIComponent(encodeURIComponent(text)),
    'each character as in an address': (text) => each(text, (_, code) => `%${code}`),
    'decimal entities of HTML': (text) => each(text, (char) => `&#${char.charCodeAt(0)};`),
    'hexadecimal entities of HTML': (text) => each(text, (_, code) => `&#x${code};`),
    'named entities of HTML': (text) => text.replace(/[-+/_]/g, (char) => entity[char]!),
    'escapes of JSON': (text) => each(text, (_, code) => `\\u${code.padStart(4, '0')}`),
    'escapes of JSON inside of JSON': (text) => JSON.stringify(each(text, (_, code) => `\\u00${code}`)),
    'escaped slashes': (text) => text.replaceAll('/', '\\/'),
    'hexadecimal escapes': (text) => each(text, (_, code) => `\\x${code}`),
    'octal escapes': (text) => each(text, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`),
    'numbered lines': (text) => `     1\t${wrapped(text, 11, '\n     2\t')}`,
    'numbered lines that cat -A shows': (text) => `     1^I${wrapped(text, 11, '$\n     2^I')}`,
    'lines of a search': (text) => `src/fold-it.txt:1:${wrapped(text, 11, '\nsrc/fold-it.txt:12:')}`,
    'lines around a match': (text) => `src/fold.txt:1:${wrapped(text, 11, '\nsrc/fold.txt-12-')}`,
    'lines of a diff': (text) => `+${wrapped(text, 11, '\n+')}`,
    'lines that a diff removes': (text) => `-${wrapped(text, 11, '\n-')}`,
    'lines of a quote': (text) => `> ${wrapped(text, 11, '\n> ')}`,
    'numbered lines inside a JSON text': (text) => JSON.stringify(`     1\t${wrapped(text, 11, '\n     2\t')}`),
    'base64 in numbered lines': (text) => `     1\t${wrapped(base64(text), 16, '\n     2\t')}`,
    'bytes of a program': (text) => each(text, (_, code) => `0x${code}, `),
    'lines of bytes of a program': (text) =>
      wrapped(
        each(text, (_, code) => `0x${code}, `),
        72,
        '\n  ',
      ).replaceAll(' \n', '\n'),
    'lines of od': (text) =>
      ` ${wrapped(
        each(text, (_, code) => `${code} `),
        48,
        '\n ',
      ).replaceAll(' \n', '\n')}`,
    lines: (text) => wrapped(text, 11, '\r\n  '),
    'lines of a shell': (text) => wrapped(text, 11, '\\\n'),
  };

  it.each(Object.keys(ENCODINGS))('are found in %s, whole and in pieces, and nothing behind them changes', (name) => {
    for (const before of ['', 'u', 'ab', 'abc:', 'user:']) {
      const text = `${ENCODINGS[name]!(`${before}${KEY}::after`)} tail`;
      const shown = one.text(text);
      expect(shown).toContain(MARK);
      expect(shown.length - MARK.length).toBeLessThan(text.length / 2);
      expect(shown).toMatch(/ tail$/);
      for (const size of [1, 3, 7, 20, 64]) expect(inPieces(text, size), `${before} ${size}`).toBe(shown);
    }
  });

  it('are found where lines of base64 were encoded once more', () => {
    const inner = wrapped(base64(`KEY=${KEY.repeat(3)}`), 76);
    const long = redactor(['MY_KEY', KEY.repeat(3)]);
    expect(long.text(`x ${wrapped(base64(inner), 76)} y`)).toBe(`x ${MARK} y`);
  });

  /** Formats lines of sixteen bytes as the programs do. */
  const dump = (text: string, format: (offset: string, hex: string[], shown: string) => string) =>
    text
      .match(/.{1,16}/gs)!
      .map((part, at) => {
        const hex = [...part].map((char) => char.charCodeAt(0).toString(16).padStart(2, '0'));
        return format((at * 16).toString(16).padStart(8, '0'), hex, part.replace(/[^ -~]/g, '.'));
      })
      .join('\n');

  it.each(
    Object.entries({
      xxd: (offset: string, hex: string[], shown: string) =>
        `${offset}: ${hex
          .join('')
          .replace(/.{4}(?!$)/g, '$& ')
          .padEnd(39)}  ${shown}`,
      'hexdump -C': (offset: string, hex: string[], shown: string) =>
        `${offset}  ${`${hex.slice(0, 8).join(' ')}  ${hex.slice(8).join(' ')}`.padEnd(48)}  |${shown}|`,
      'od -tx1': (offset: string, hex: string[]) => `${offset.slice(1)} ${hex.join(' ')}`,
      'od -tx1z': (offset: string, hex: string[], shown: string) =>
        `${offset.slice(1)} ${hex.join(' ').padEnd(47)}  >${shown}<`,
      'xxd, in numbered lines': (offset: string, hex: string[], shown: string) =>
        `     7\t${offset}: ${hex
          .join('')
          .replace(/.{4}(?!$)/g, '$& ')
          .padEnd(39)}  ${shown}`,
    }),
  )('are found in the lines of %s with their characters, also where the key has line breaks', (_, format) => {
    for (const before of ['', 'u', 'name='.repeat(5)]) {
      for (const key of [KEY, wrapped(KEY, 16)]) {
        const text = `# ${'x'.repeat(30)}\n${dump(`${before}${key}\n`, format)}\ntail\n`;
        const shown = one.text(text);
        expect(shown).toContain(MARK);
        for (const piece of KEY.match(/.{4}/g)!) {
          expect(shown).not.toContain(piece);
          expect(shown.replace(/\W/g, '')).not.toContain(Buffer.from(piece).toString('hex'));
        }
        expect(shown).toMatch(/\ntail\n$/);
        for (const size of [1, 3, 7, 20, 64]) expect(inPieces(text, size), `${before} ${size}`).toBe(shown);
      }
    }
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
    // So few characters of a key are no secret: less than a third of it, or less than eight.
    const short = redactor(['S', 'pw-0123456789']);
    for (const [by, key, least, mark] of [
      [one, KEY, 12, MARK],
      [short, 'pw-0123456789', 8, '[redacted: S]'],
    ] as const) {
      expect(by.text(`x ${key.slice(0, least)}…`)).toBe(`x ${mark}…`);
      expect(by.text(`x ${key.slice(0, least - 1)}…`)).toBe(`x ${key.slice(0, least - 1)}…`);
      expect(by.text(`${key.slice(-least)} x`)).toBe(`${mark} x`);
      expect(by.text(`${key.slice(1 - least)} x`)).toBe(`${key.slice(1 - least)} x`);
    }
  });

  it('are found in plain data; data without keys stays the same object', () => {
    const clean = {a: ['x', {b: 1, c: null, d: undefined}]};
    expect(one.values(clean)).toBe(clean);
    expect(one.values({a: [KEY, {[KEY]: `<${KEY}>`}], n: 1})).toEqual({a: [MARK, {[MARK]: `<${MARK}>`}], n: 1});
    expect(one.values([Object.assign(Object.create(null), {a: KEY})])).toEqual([{a: MARK}]);
    const other = {when: new Date(0)};
    expect(one.values(other)).toBe(other);
  });

  it('are found beside what only looks like an escape', () => {
    for (const text of ['&constructor;', '&nosuch;', '&#x110000;', '\\u{110000}', '%ff', '%e2%82', '100% & \\']) {
      expect(one.text(text)).toBe(text);
      const key = KEY.replace('+', '&PLUS;');
      expect(one.text(`${text}${key}${text}`), text).toBe(`${text}${MARK}${text}`);
    }
  });

  it.each(
    Object.entries({
      code: 'The quick brown fox jumps over the lazy dog; export function secretOf(x: string) {}\n',
      'JSON of JSON': JSON.stringify(JSON.stringify({path: 'C:\\new\\table', text: 'a "b"\n&amp; %41'})),
      base64: `${base64('\u0000\u0001\u0010 binary data of a picture \n')}\n`,
      'numbered lines': '     1\tconst value = call(argument);\nsrc/a.ts:12:export const other = 1;\n+ added\n',
      'a hex dump': '00000010: 0a6e 6f70 2d51 5253 5455 5657 5859 5a30  .nop-QRSTUVWXYZ0\n',
      'bytes of a program': '  0x73, 0x6b, 0x2d, 0x61, 0x62, 0x63,\n 73 6b 2d 61\n',
      'the first half of a key': '0-secret-xxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    }),
  )('are looked for in a megabyte of %s in a time linear in it, and it stays as it is', (_, line) => {
    const secrets = Array.from({length: 20}, (_each, index) => ({
      name: `K${index}`,
      value: `${index}-secret-${'x'.repeat(60)}-${index}`,
    }));
    const text = line.repeat(1_000_000 / line.length);
    let redacted = '';
    const ms = measureCpu(() => {
      redacted = new Redactor(secrets).text(`${text}.`);
    });
    expect(redacted).toBe(`${text}.`);
    // Half a second alone; a time by its square would be minutes.
    expect(ms).toBeLessThan(5000);
  });

  it('are not found in random text', () => {
    const text = Buffer.from(Array.from({length: 60_000}, () => Math.floor(Math.random() * 256)));
    for (const code of ['base64', 'hex', 'latin1'] as const)
      expect(one.text(text.toString(code))).toBe(text.toString(code));
  });

  it('are no short or empty values', () => {
    expect(redactor(['A', ''], ['B', 'short']).text('a short text')).toBe('a short text');
  });
});

describe('keys in a text that comes in pieces', () => {
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
    expect(stream.push('ge of ice! ')).toBe('sk-age of ice! ');
    expect(stream.end()).toBe('');
  });
});

it('finds a mark that the new text contains and the old text does not', () => {
  expect(findNewMark('a', `KEY=${MARK}`)).toBe(MARK);
  expect(findNewMark(`x ${MARK}`, `y ${MARK}`)).toBeUndefined();
  expect(findNewMark('', 'plain [redacted] text')).toBeUndefined();
});
