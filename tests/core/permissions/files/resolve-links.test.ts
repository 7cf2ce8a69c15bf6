import {mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync} from 'node:fs';
import {homedir, tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {expandHome, resolveLinks} from '../../../../src/core/permissions/files/resolve-links.ts';

const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-paths-')));
mkdirSync(path.join(base, 'far/deep'), {recursive: true});
mkdirSync(path.join(base, 'near'));
writeFileSync(path.join(base, 'file'), '');
const links = {absolute: path.join(base, 'far/deep'), relative: '../far/./deep', dangling: '../far/new'};
for (const [name, target] of Object.entries(links)) symlinkSync(target, path.join(base, 'near', name));

describe('a path with its links resolved', () => {
  it.each([
    ['', ''],
    ['.//x/.', 'x'],
    ['../near/x', '../near/x'],
    ['absolute/x', '../far/deep/x'],
    ['relative/x', '../far/deep/x'],
    ['dangling', '../far/new'],
    // As for the kernel, `..` leads up from where the link leads.
    ['relative/../x', '../far/x'],
    ['../file/x', '../file/x'],
  ])('%j in a folder is %j', (given, expected) => {
    const near = path.join(base, 'near');
    expect(resolveLinks(given, near)).toBe(path.join(near, expected));
    expect(resolveLinks(`${near}/${given}`, '/')).toBe(path.join(near, expected));
  });

  it('has a home for ~, but not for other names that begin with it', () => {
    const home = realpathSync(homedir());
    expect(resolveLinks('~/x', base)).toBe(path.join(home, 'x'));
    expect(resolveLinks('~', base)).toBe(home);
    expect(expandHome('~other/x')).toBe('~other/x');
  });

  it('keeps links of /proc, which lead elsewhere for each process', () => {
    expect(resolveLinks('/proc/self//./cwd/x', base)).toBe('/proc/self/cwd/x');
  });

  it('goes through 40 links, as the kernel does, and no more', () => {
    for (let index = 1; index <= 41; index += 1) {
      symlinkSync(index === 1 ? '../file' : `chain-${index - 1}`, path.join(base, 'near', `chain-${index}`));
    }
    expect(resolveLinks('chain-40', path.join(base, 'near'))).toBe(path.join(base, 'file'));
    expect(() => resolveLinks('chain-41', path.join(base, 'near'))).toThrow('chain-41: too many links');
  });

  it('fails for a path that cannot be looked at', () => {
    expect(() => resolveLinks('x'.repeat(300), base)).toThrow('ENAMETOOLONG');
  });
});
