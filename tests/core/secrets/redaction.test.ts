import {describe, expect, it} from 'vitest';
import {getKnownSecrets, withoutModelKeys} from '../../../src/core/secrets/known-secrets.ts';
import {findNewMark, RedactingStream, Redactor} from '../../../src/core/secrets/redaction.ts';

const KEY = 'sk-ant-api03-Zm9v+bar/baz_0123456789';
const redactor = (...secrets: readonly (readonly [string, string])[]) =>
  new Redactor(secrets.map(([name, value]) => ({name, value})));
const one = redactor(['MY_KEY', KEY]);
const MARK = '[redacted: MY_KEY]';

describe('keys in texts', () => {
  it('are replaced by a mark that names the variable, wherever and how often they stand', () => {
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

  it('may hold any characters', () => {
    const odd = redactor(['ODD', '$&.*+?^(){}[]|/-\\']);
    expect(odd.text('x$&.*+?^(){}[]|/-\\y')).toBe('x[redacted: ODD]y');
  });

  it('are taken whole where one begins with another, or lies across another', () => {
    const both = redactor(['SHORT', 'abcdefgh'], ['LONG', 'abcdefgh12345678'], ['ACROSS', '5678ABCDEFGH']);
    expect(both.text('abcdefgh abcdefgh12345678')).toBe('[redacted: SHORT] [redacted: LONG]');
    expect(both.text('abcdefgh12345678ABCDEFGH!')).toBe('[redacted: LONG]!');
  });

  it('are taken out also where a text was cut within them', () => {
    expect(one.text(`curl -H ${KEY.slice(0, 20)}…`)).toBe(`curl -H ${MARK}…`);
    expect(one.text(`x ${KEY.slice(0, -1)}`)).toBe(`x ${MARK}`);
    expect(one.text(`${KEY.slice(10)} tail`)).toBe(`${MARK} tail`);
    const cut = `head ${KEY.slice(0, 15)}\n\n[... 9 characters cut; the whole output: /x ...]\n\n${KEY.slice(12)} tail`;
    expect(one.text(cut)).toBe(`head ${MARK}\n\n[... 9 characters cut; the whole output: /x ...]\n\n${MARK} tail`);
    // So little of it is no secret.
    expect(one.text('keys begin with sk-ant-…')).toBe('keys begin with sk-ant-…');
  });

  it('are found in plain data, which stays the same where there is none', () => {
    const clean = {a: ['x', {b: 1, c: null, d: undefined}]};
    expect(one.values(clean)).toBe(clean);
    expect(one.values({a: [KEY, {[KEY]: `<${KEY}>`}], n: 1})).toEqual({a: [MARK, {[MARK]: `<${MARK}>`}], n: 1});
  });

  it('cost little', () => {
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

  it('are found wherever the pieces end', () => {
    const text = `before ${KEY} sk-ant- ${KEY}${KEY} after sk-`;
    for (let size = 1; size < text.length; size += 1) {
      expect(inPieces(text, size)).toBe(`before ${MARK} sk-ant- ${MARK}${MARK} after sk-`);
    }
  });

  it('are taken whole where one begins with another, or lies across another or itself', () => {
    const both = redactor(['SHORT', 'abcdabcd'], ['LONG', 'abcdabcd12345678'], ['ACROSS', '5678ABCDEFGH']);
    for (const text of ['abcdabcd12345678ABCDEFGH!', 'abcdabcd!', 'abcdabcdabcd', 'abcdabcd1234567', 'x abcd']) {
      for (const size of [1, 2, 3, 5, 8]) expect(inPieces(text, size, both)).toBe(both.text(text));
    }
  });

  it('are found as in the whole text, however the keys lie in each other and the pieces fall', () => {
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

  it('hold nothing back that cannot begin a key', () => {
    const stream = new RedactingStream(one);
    expect(stream.push('hello ')).toBe('hello ');
    expect(stream.push('this is s')).toBe('this is ');
    expect(stream.push('k-a')).toBe('');
    expect(stream.push('ge of ice')).toBe('sk-age of ice');
    expect(stream.end()).toBe('');
  });
});

describe('which values are known', () => {
  const known = (env: Record<string, string>, named: string[] = [], shown: string[] = []) =>
    getKnownSecrets(env, named, shown).map(({name, value}) => `${name}=${value}`);

  it("are mini-cc's own keys, those that settings name, and variables that are named like keys", () => {
    const env = {ANTHROPIC_API_KEY: KEY, GLM: 'glm-key-1', FOO_API_KEY: 'foo-secret-1', EDITOR: 'vim-the-editor'};
    expect(known(env, ['GLM'])).toEqual([`ANTHROPIC_API_KEY=${KEY}`, 'GLM=glm-key-1', 'FOO_API_KEY=foo-secret-1']);
    expect(new Redactor(getKnownSecrets({A_TOKEN: KEY, ANTHROPIC_API_KEY: KEY})).text(KEY)).toBe(
      '[redacted: ANTHROPIC_API_KEY]',
    );
  });

  it('are no words, paths, addresses or placeholders', () => {
    const env = {
      ...{DB_PASSWORD: 'postgres', A_TOKEN: 'true', B_SECRET: '/usr/share/x', C_TOKEN: '~/token', D_TOKEN: 'short'},
      ...{ANTHROPIC_AUTH_TOKEN: 'lmstudio', E_API_KEY: 'https://host/path', F_TOKEN: './keys/a.pem'},
    };
    expect(known(env)).toEqual([]);
    expect(known({DB_PASSWORD: 'project1x'}, [], ['/home/me/project1x'])).toEqual([]);
  });

  it('are the passwords in addresses, and each line of a key that has several', () => {
    const lines = [
      '-----BEGIN PRIVATE KEY-----',
      'MIIEvQIBADANBgkqhkiG',
      'w0BAQEFAASCBKcwggSjAgEA',
      '-----END PRIVATE KEY-----',
    ];
    expect(known({HTTPS_PROXY: 'http://me:hunter22@proxy:1', APP_PRIVATE_KEY: lines.join('\n')})).toEqual([
      'HTTPS_PROXY=hunter22',
      `APP_PRIVATE_KEY=${lines[1]}`,
      `APP_PRIVATE_KEY=${lines[2]}`,
    ]);
  });

  it('stay out of the environment of tools when they are keys of mini-cc, under whatever name', () => {
    const env = {
      ANTHROPIC_API_KEY: KEY,
      COPY: `Bearer ${KEY}`,
      GLM: 'glm-key-1',
      GH_TOKEN: 'ghp_0123456789',
      PATH: '/bin:/x',
    };
    const word = {ANTHROPIC_API_KEY: 'anthropic', PATH: '/opt/anthropic/bin', SAME: 'anthropic'};
    expect(withoutModelKeys(word, [])).toEqual({PATH: '/opt/anthropic/bin'});
    expect(withoutModelKeys(env, ['GLM', 'PATH'])).toEqual({GH_TOKEN: 'ghp_0123456789', PATH: '/bin:/x'});
  });
});

it('tells a mark that a text brings in from one that was there', () => {
  expect(findNewMark('a', `KEY=${MARK}`)).toBe(MARK);
  expect(findNewMark(`x ${MARK}`, `y ${MARK}`)).toBeUndefined();
  expect(findNewMark('', 'plain [redacted] text')).toBeUndefined();
});
