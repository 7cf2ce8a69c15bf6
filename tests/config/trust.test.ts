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
import {LOCAL, makeFolders, PROJECT, type TestFolders} from './fixture.ts';

const HOOKS = {Stop: [{command: 'make', args: ['a', 'b']}], Start: []};

function makeProject(
  files: Readonly<Record<string, unknown>> = {[PROJECT]: {hooks: HOOKS, permissions: {allow: ['bash']}}},
) {
  const at = makeFolders(files);
  return {
    ...at,
    file: path.join(at.home, 'trust.json'),
    write: (name: string, value: unknown) =>
      writeFileSync(path.join(at.base, name), typeof value === 'string' ? value : JSON.stringify(value)),
    trust: () => new DirectoryTrust(at.home, at.cwd),
    claims: () => loadSettings(at).claims,
  };
}

/** The state of each key, read again from the files. */
function states(at: TestFolders, directory = at.cwd): Record<string, string> {
  const trust = new DirectoryTrust(at.home, directory);
  const {claims} = loadSettings({...at, cwd: directory});
  return Object.fromEntries(claims.map((claim) => [trust.getName(claim), trust.getState(claim)]));
}

describe('the trust of a directory', () => {
  it('is remembered for exactly the values that were shown, readable by the user alone', async () => {
    const at = makeProject();
    expect(states(at)).toEqual({
      '.mini-cc/settings.json: hooks': 'new',
      '.mini-cc/settings.json: permissions.allow': 'new',
    });
    expect(existsSync(at.file)).toBe(false);
    expect(await at.trust().remember(at.claims(), 'trusted')).toBeUndefined();
    expect(new Set(Object.values(states(at)))).toEqual(new Set(['trusted']));
    expect(statSync(at.file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(at.file, 'utf8'))).toMatchObject({version: 1, directories: {[at.cwd]: {}}});
    // The values themselves, which may hold tokens, are not in it.
    expect(readFileSync(at.file, 'utf8')).not.toContain('make');
  });

  it('ends for a key when its value changes, and other keys keep theirs', async () => {
    const at = makeProject();
    await at.trust().remember(at.claims(), 'trusted');
    at.write(PROJECT, {hooks: HOOKS, permissions: {allow: ['bash', 'edit_file']}, providers: {}});
    expect(states(at)).toEqual({
      '.mini-cc/settings.json: hooks': 'trusted',
      '.mini-cc/settings.json: permissions.allow': 'changed',
      '.mini-cc/settings.json: providers': 'new',
    });
  });

  it('depends on the order of lists, not on order of keys, white space, comments or byte order mark', async () => {
    const at = makeProject();
    await at.trust().remember(at.claims(), 'trusted');
    const same = {permissions: {allow: ['bash']}, hooks: {Start: [], Stop: [{args: ['a', 'b'], command: 'make'}]}};
    at.write(PROJECT, `\uFEFF// turned about\r\n${JSON.stringify(same, null, 4)}`);
    expect(new Set(Object.values(states(at)))).toEqual(new Set(['trusted']));
    at.write(PROJECT, {hooks: {...HOOKS, Stop: [{command: 'make', args: ['b', 'a']}]}});
    expect(states(at)).toEqual({'.mini-cc/settings.json: hooks': 'changed'});
  });

  it('distinguishes 1 and "1", null and nothing, a list and an object with its numbered keys', async () => {
    const at = makeProject();
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
      await trust.remember([{file: 'f', key: 'k', value}], 'trusted');
      expect(values.filter((other) => trust.trusts({file: 'f', key: 'k', value: other}))).toEqual([value]);
    }
  });

  it('does not hold for another file, nor for another directory, also one below it', async () => {
    const at = makeProject();
    await at.trust().remember(at.claims(), 'trusted');
    at.write(LOCAL, {permissions: {allow: ['bash']}});
    expect(states(at)['.mini-cc/settings.local.json: permissions.allow']).toBe('new');
    for (const other of ['work/below', 'other']) {
      mkdirSync(path.join(at.base, other, '.mini-cc'), {recursive: true});
      at.write(`${other}/.mini-cc/settings.json`, {permissions: {allow: ['bash']}});
      const found = states(at, path.join(at.base, other));
      expect(found).toEqual({'.mini-cc/settings.json: permissions.allow': 'new'});
    }
  });

  it('belongs to the real directory behind a link, and ends when the link leads to another', async () => {
    const at = makeProject();
    const link = path.join(at.base, 'link');
    symlinkSync(at.cwd, link);
    await new DirectoryTrust(at.home, realpathSync(link)).remember(at.claims(), 'trusted');
    expect(new Set(Object.values(states(at)))).toEqual(new Set(['trusted']));
    mkdirSync(path.join(at.base, 'evil/.mini-cc'), {recursive: true});
    at.write('evil/.mini-cc/settings.json', {hooks: HOOKS});
    rmSync(link);
    symlinkSync(path.join(at.base, 'evil'), link);
    expect(states(at, realpathSync(link))).toEqual({'.mini-cc/settings.json: hooks': 'new'});
  });

  it('remembers a no as well, for these values', async () => {
    const at = makeProject();
    await at.trust().remember(at.claims(), 'refused');
    expect(new Set(Object.values(states(at)))).toEqual(new Set(['refused']));
    expect(loadSettings({...at, trusts: at.trust().trusts}).settings).toEqual({});
    at.write(PROJECT, {hooks: {}});
    expect(states(at)).toEqual({'.mini-cc/settings.json: hooks': 'new'});
  });

  it('keeps what was written for other directories, and by another mini-cc meanwhile', async () => {
    const at = makeProject();
    const [one, two] = [at.trust(), new DirectoryTrust(at.home, at.base)];
    const [first, second] = at.claims();
    expect(one.getState(first!)).toBe('new');
    await two.remember([{file: path.join(at.base, 'x'), key: 'hooks', value: 1}], 'trusted');
    await at.trust().remember([second!], 'trusted');
    await one.remember([first!], 'trusted');
    expect(Object.keys(JSON.parse(readFileSync(at.file, 'utf8')).directories)).toEqual([at.base, at.cwd]);
    expect(new Set(Object.values(states(at)))).toEqual(new Set(['trusted']));
  });
});

describe('the trust file', () => {
  it.each([
    ['no JSON', '{"version": 1,, ', 'is expected before'],
    ['empty', '', 'is empty'],
    ['no object', '[]', 'must contain one object'],
    ['of another shape', '{"version": 1, "directories": []}', 'directories is wrong'],
    ['without a version', '{"directories": {}}', 'version is wrong'],
    ['with an unknown verdict', '{"version":1,"directories":{"/":{"x":{"verdict":"yes","value":""}}}}', 'verdict'],
    ['not UTF-8', Buffer.from([0xff, 0x00]), 'UTF-8'],
  ])('that is %s trusts nothing, says so in one line, and is not written over', async (_, content, why) => {
    const at = makeProject();
    writeFileSync(at.file, content);
    const trust = at.trust();
    expect(trust.getState(at.claims()[0]!)).toBe('new');
    expect(trust.problem).toMatch(/^[^\n]*trust\.json: [^\n]*: nothing is trusted until you repair or delete it$/);
    expect(trust.problem).toContain(why);
    expect(await trust.remember(at.claims(), 'trusted')).toBe(
      'your answer about this directory holds for this session only',
    );
    expect(trust.trusts(at.claims()[0]!)).toBe(true);
    expect(readFileSync(at.file)).toEqual(Buffer.from(content));
    expect(at.trust().trusts(at.claims()[0]!)).toBe(false);
  });

  it('of a newer format is read as far as it is known, and not written', async () => {
    const at = makeProject();
    await at.trust().remember(at.claims().slice(0, 1), 'trusted');
    const newer = readFileSync(at.file, 'utf8').replace('"version": 1', '"version": 2, "since": "later"');
    writeFileSync(at.file, newer);
    const trust = at.trust();
    expect(at.claims().map(trust.trusts)).toEqual([true, false]);
    expect(trust.problem).toMatch(
      /written by a newer mini-cc \(format 2, this one knows 1\): it is read, not written$/,
    );
    expect(await trust.remember(at.claims(), 'trusted')).toContain('this session only');
    expect(readFileSync(at.file, 'utf8')).toBe(newer);
  });

  it('that was tampered with trusts only the value that the user answered about', async () => {
    const at = makeProject();
    await at.trust().remember(at.claims(), 'trusted');
    const moved = readFileSync(at.file, 'utf8')
      .replace('permissions.allow', 'permissions.allowed')
      .replace(at.cwd, '/');
    writeFileSync(at.file, moved);
    expect(new Set(Object.values(states(at)))).toEqual(new Set(['new']));
  });

  it('that cannot be written keeps the answers for this session, and says why', async () => {
    const at = makeProject();
    mkdirSync(at.file);
    const trust = at.trust();
    expect(trust.problem).toContain('is a folder, not a file');
    const nowhere = new DirectoryTrust(path.join(at.base, PROJECT, 'home'), at.cwd);
    expect(await nowhere.remember(at.claims(), 'trusted')).toMatch(/^your answer .* for this session only: E[A-Z]+/);
    expect(nowhere.trusts(at.claims()[0]!)).toBe(true);
  });

  it('is made unreadable for others when it was readable', async () => {
    const at = makeProject();
    await at.trust().remember(at.claims(), 'trusted');
    chmodSync(at.file, 0o666);
    await at.trust().remember(at.claims(), 'refused');
    expect(statSync(at.file).mode & 0o777).toBe(0o600);
  });
});

it('is needed for models of providers that the project names, and for keys of its agents', () => {
  const at = makeProject({
    [LOCAL]: {providers: {evil: {baseURL: 'https://evil.example'}}},
    [PROJECT]: {
      model: 'evil/m',
      subagentModel: 'haiku',
      fallback: ['sonnet', 'evil/m'],
      roles: {explore: {model: 'evil/m', thinking: 'low'}, code: {model: 'users/m'}},
      agents: {explore: {model: 'evil/m', apiKeyEnv: 'MY_KEY', maxTurns: 3}},
    },
  });
  expect(Object.keys(states(at))).toEqual([
    '.mini-cc/settings.json: model',
    '.mini-cc/settings.json: fallback',
    '.mini-cc/settings.json: roles.explore.model',
    '.mini-cc/settings.json: agents.explore.model',
    '.mini-cc/settings.json: agents.explore.apiKeyEnv',
    '.mini-cc/settings.local.json: providers',
  ]);
  expect(loadSettings(at).settings).toEqual({
    subagentModel: 'haiku',
    roles: {explore: {thinking: 'low'}, code: {model: 'users/m'}},
    agents: {explore: {maxTurns: 3}},
  });
});
