import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {execa} from 'execa';
import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';
import {
  createTemporaryFolder,
  createTemporaryFolderBelow,
  listTemporaryFolders,
  removeLeftTemporaryFolders,
} from '../../../../src/core/util/files/temporary-folder.ts';

const module = path.resolve(import.meta.dirname, '../../../../src/core/util/files/temporary-folder.ts');
const start = `const {createTemporaryFolder} = await import(${JSON.stringify(module)});`;
let home: string;
let place: string;

afterEach(() => {
  vi.unstubAllEnvs();
});

beforeEach(() => {
  writeFileSync(path.join(tmpdir(), 'a-file'), '');
  home = mkdtempSync(path.join(tmpdir(), 'home-'));
  place = mkdtempSync(path.join(tmpdir(), 'place-'));
  vi.stubEnv('TMPDIR', place);
});

async function createAndKill(code = 'createTemporaryFolder()'): Promise<string> {
  const script = `${start} console.log(${code}); process.kill(process.pid, 'SIGKILL')`;
  const node = ['--experimental-transform-types', '--input-type=module', '-e', script];
  return (await execa(process.execPath, node, {reject: false})).stdout;
}

describe('a temporary folder', () => {
  it('of a killed process is removed by the next one, also below the home; that of a living process stays', async () => {
    const own = createTemporaryFolder(home);
    const left = await createAndKill();
    vi.stubEnv('TMPDIR', path.join(place, 'missing'));
    const below = await createAndKill(`createTemporaryFolder(${JSON.stringify(home)})`);
    vi.stubEnv('TMPDIR', place);
    expect([left, below].map((folder) => existsSync(folder))).toEqual([true, true]);
    expect(path.dirname(below)).toBe(path.join(home, 'tmp'));
    const inUse = createTemporaryFolderBelow(home);
    expect(statSync(inUse).mode & 0o777).toBe(0o700);
    removeLeftTemporaryFolders(home);
    expect(listTemporaryFolders(place)).toEqual([own]);
    expect(listTemporaryFolders(path.join(home, 'tmp'))).toEqual([inUse]);
  });

  it('stays where nobody can know whether its owner lives, and where it has none but content', () => {
    const elsewhere = createTemporaryFolder();
    const file = path.join(elsewhere, 'owner.json');
    writeFileSync(file, JSON.stringify({...JSON.parse(readFileSync(file, 'utf8')), pid: 1, pidNamespace: 'pid:[1]'}));
    const old = path.join(place, 'mini-cc-abcdef');
    mkdirSync(path.join(old, 'tmp'), {recursive: true});
    symlinkSync(home, path.join(place, 'mini-cc-123456'));
    utimesSync(old, 1000, 1000);
    removeLeftTemporaryFolders(home);
    expect(readdirSync(place).toSorted()).toEqual(
      ['mini-cc-123456', 'mini-cc-abcdef', path.basename(elsewhere)].toSorted(),
    );
  });

  it('without a record is removed once its process had a minute to write it', () => {
    const [fresh, old] = ['mini-cc-fresh1', 'mini-cc-older1'].map((name) => path.join(place, name));
    for (const folder of [fresh!, old!]) mkdirSync(folder);
    utimesSync(old!, 1000, 1000);
    removeLeftTemporaryFolders(home);
    expect(listTemporaryFolders(place)).toEqual([fresh]);
  });

  it.each([
    ['missing', () => path.join(place, 'missing')],
    ['a file', () => path.join(path.dirname(place), 'a-file')],
    ['not writable', () => '/proc/self'],
  ])('is in the home where the one of the system is %s', (_, get) => {
    vi.stubEnv('TMPDIR', get());
    expect(path.dirname(createTemporaryFolder(home))).toBe(path.join(home, 'tmp'));
    expect(() => createTemporaryFolder()).toThrow();
  });
});
