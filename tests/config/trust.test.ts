import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {loadSettings} from '../../src/config/settings.ts';
import {DirectoryTrust} from '../../src/config/trust.ts';
import {LOCAL, type Places, PROJECT, places} from './fixture.ts';

const HOOKS = {Stop: [{command: 'make', args: ['a', 'b']}], Start: []};

function house(files: Readonly<Record<string, unknown>> = {[PROJECT]: {hooks: HOOKS, permissions: {allow: ['bash']}}}) {
  const at = places(files);
  return {
    ...at,
    file: path.join(at.home, 'trust.json'),
    write: (name: string, value: unknown) =>
      writeFileSync(path.join(at.base, name), typeof value === 'string' ? value : JSON.stringify(value)),
    trust: () => new DirectoryTrust(at.home, at.cwd),
    claims: () => loadSettings(at).claims,
  };
}

/** How each key stands, read anew. */
function standings(at: Places, directory = at.cwd): Record<string, string> {
  const trust = new DirectoryTrust(at.home, directory);
  const {claims} = loadSettings({...at, cwd: directory});
  return Object.fromEntries(claims.map((claim) => [trust.nameOf(claim), trust.standing(claim)]));
}

describe('the trust of a directory', () => {
  it('is remembered for exactly the values that were shown, readable by the user alone', () => {
    const at = house();
    expect(standings(at)).toEqual({
      '.mini-cc/settings.json: hooks': 'new',
      '.mini-cc/settings.json: permissions.allow': 'new',
    });
    expect(existsSync(at.file)).toBe(false);
    expect(at.trust().judge(at.claims(), 'trusted')).toBeUndefined();
    expect(new Set(Object.values(standings(at)))).toEqual(new Set(['trusted']));
    expect(statSync(at.file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(at.file, 'utf8'))).toMatchObject({version: 1, directories: {[at.cwd]: {}}});
    // The values themselves, which may hold tokens, are not in it.
    expect(readFileSync(at.file, 'utf8')).not.toContain('make');
  });

  it('goes, key by key, when a value changes, and other keys keep theirs', () => {
    const at = house();
    at.trust().judge(at.claims(), 'trusted');
    at.write(PROJECT, {hooks: HOOKS, permissions: {allow: ['bash', 'edit_file']}, providers: {}});
    expect(standings(at)).toEqual({
      '.mini-cc/settings.json: hooks': 'trusted',
      '.mini-cc/settings.json: permissions.allow': 'changed',
      '.mini-cc/settings.json: providers': 'new',
    });
  });

  it('minds no order of keys, white space, comments or byte order mark, but the order of lists', () => {
    const at = house();
    at.trust().judge(at.claims(), 'trusted');
    const same = {permissions: {allow: ['bash']}, hooks: {Start: [], Stop: [{args: ['a', 'b'], command: 'make'}]}};
    at.write(PROJECT, `\uFEFF// turned about\r\n${JSON.stringify(same, null, 4)}`);
    expect(new Set(Object.values(standings(at)))).toEqual(new Set(['trusted']));
    at.write(PROJECT, {hooks: {...HOOKS, Stop: [{command: 'make', args: ['b', 'a']}]}});
    expect(standings(at)).toEqual({'.mini-cc/settings.json: hooks': 'changed'});
  });

  it('tells values of one look apart: 1 and "1", null and nothing, a list and its numbered keys', () => {
    const at = house();
    const values = [
      {a: 1},
      {a: '1'},
      {a: null},
      {},
      {a: ['x']},
      {a: {0: 'x'}},
      {a: [['x']]},
      JSON.parse('{"__proto__":1}'),
    ];
    for (const value of values) {
      const trust = at.trust();
      trust.judge([{file: 'f', key: 'k', value}], 'trusted');
      expect(values.filter((other) => trust.trusts({file: 'f', key: 'k', value: other}))).toEqual([value]);
    }
  });

  it('says nothing of another file, nor of another directory, also one below it', () => {
    const at = house();
    at.trust().judge(at.claims(), 'trusted');
    at.write(LOCAL, {permissions: {allow: ['bash']}});
    expect(standings(at)['.mini-cc/settings.local.json: permissions.allow']).toBe('new');
    for (const other of ['work/below', 'other']) {
      mkdirSync(path.join(at.base, other, '.mini-cc'), {recursive: true});
      at.write(`${other}/.mini-cc/settings.json`, {permissions: {allow: ['bash']}});
      const found = standings(at, path.join(at.base, other));
      expect(found).toEqual({'.mini-cc/settings.json: permissions.allow': 'new'});
    }
  });

  it('is that of the real directory, whatever link leads to it, and goes with another behind the link', () => {
    const at = house();
    const link = path.join(at.base, 'link');
    symlinkSync(at.cwd, link);
    new DirectoryTrust(at.home, realpathSync(link)).judge(at.claims(), 'trusted');
    expect(new Set(Object.values(standings(at)))).toEqual(new Set(['trusted']));
    mkdirSync(path.join(at.base, 'evil/.mini-cc'), {recursive: true});
    at.write('evil/.mini-cc/settings.json', {hooks: HOOKS});
    rmSync(link);
    symlinkSync(path.join(at.base, 'evil'), link);
    expect(standings(at, realpathSync(link))).toEqual({'.mini-cc/settings.json: hooks': 'new'});
  });

  it('remembers a no as well, for these values', () => {
    const at = house();
    at.trust().judge(at.claims(), 'refused');
    expect(new Set(Object.values(standings(at)))).toEqual(new Set(['refused']));
    expect(loadSettings({...at, trusts: at.trust().trusts}).settings).toEqual({});
    at.write(PROJECT, {hooks: {}});
    expect(standings(at)).toEqual({'.mini-cc/settings.json: hooks': 'new'});
  });

  it('keeps what other directories, and another mini-cc meanwhile, have written', () => {
    const at = house();
    const [one, two] = [at.trust(), new DirectoryTrust(at.home, at.base)];
    const [first, second] = at.claims();
    expect(one.standing(first!)).toBe('new');
    two.judge([{file: path.join(at.base, 'x'), key: 'hooks', value: 1}], 'trusted');
    at.trust().judge([second!], 'trusted');
    one.judge([first!], 'trusted');
    expect(Object.keys(JSON.parse(readFileSync(at.file, 'utf8')).directories)).toEqual([at.base, at.cwd]);
    expect(new Set(Object.values(standings(at)))).toEqual(new Set(['trusted']));
  });
});

describe('a file of trust', () => {
  it.each([
    ['no JSON', '{"version": 1,, ', 'is expected before'],
    ['empty', '', 'is empty'],
    ['no object', '[]', 'must hold one object'],
    ['of another shape', '{"version": 1, "directories": []}', 'directories is wrong'],
    ['without a version', '{"directories": {}}', 'version is wrong'],
    [
      'with a verdict that there is not',
      '{"version":1,"directories":{"/":{"x":{"verdict":"yes","value":""}}}}',
      'verdict',
    ],
    ['not UTF-8', Buffer.from([0xff, 0x00]), 'UTF-8'],
  ])('that is %s trusts nothing, says so in one line, and is not written over', (_, content, why) => {
    const at = house();
    writeFileSync(at.file, content);
    const trust = at.trust();
    expect(trust.standing(at.claims()[0]!)).toBe('new');
    expect(trust.problem).toMatch(/^[^\n]*trust\.json: [^\n]*: nothing is trusted until it is mended or deleted$/);
    expect(trust.problem).toContain(why);
    expect(trust.judge(at.claims(), 'trusted')).toBe('what you said of this directory holds for this session only');
    expect(trust.trusts(at.claims()[0]!)).toBe(true);
    expect(readFileSync(at.file)).toEqual(Buffer.from(content));
    expect(at.trust().trusts(at.claims()[0]!)).toBe(false);
  });

  it('of a newer format is read as far as it is known, and not written', () => {
    const at = house();
    at.trust().judge(at.claims().slice(0, 1), 'trusted');
    const newer = readFileSync(at.file, 'utf8').replace('"version": 1', '"version": 2, "since": "later"');
    writeFileSync(at.file, newer);
    const trust = at.trust();
    expect(at.claims().map(trust.trusts)).toEqual([true, false]);
    expect(trust.problem).toMatch(
      /written by a newer mini-cc \(format 2, this one knows 1\): it is read, not written$/,
    );
    expect(trust.judge(at.claims(), 'trusted')).toContain('this session only');
    expect(readFileSync(at.file, 'utf8')).toBe(newer);
  });

  it('that was tampered with trusts no value but the one that was judged', () => {
    const at = house();
    at.trust().judge(at.claims(), 'trusted');
    const moved = readFileSync(at.file, 'utf8')
      .replace('permissions.allow', 'permissions.allowed')
      .replace(at.cwd, '/');
    writeFileSync(at.file, moved);
    expect(new Set(Object.values(standings(at)))).toEqual(new Set(['new']));
  });

  it('that cannot be written leaves what was said for this session, and says why', () => {
    const at = house();
    mkdirSync(at.file);
    const trust = at.trust();
    expect(trust.problem).toContain('is a folder, not a file');
    const nowhere = new DirectoryTrust(path.join(at.base, PROJECT, 'home'), at.cwd);
    expect(nowhere.judge(at.claims(), 'trusted')).toMatch(/^what you said .* for this session only: E[A-Z]+/);
    expect(nowhere.trusts(at.claims()[0]!)).toBe(true);
  });

  it('is closed to others again where it was open to them', () => {
    const at = house();
    at.trust().judge(at.claims(), 'trusted');
    chmodSync(at.file, 0o666);
    at.trust().judge(at.claims(), 'refused');
    expect(statSync(at.file).mode & 0o777).toBe(0o600);
  });
});
