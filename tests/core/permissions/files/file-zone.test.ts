import {mkdirSync, mkdtempSync, realpathSync, symlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {Workspace} from '../../../../src/core/contract/permission.ts';
import {getFileZone, isAlwaysAsked, withLinkTargets} from '../../../../src/core/permissions/files/file-zone.ts';

const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-zones-')));
const workspace: Workspace = {
  root: '/project',
  extraRoots: ['/more', '/own/worktrees/mine'],
  cwd: '/project',
  confinement: 'none',
  env: {},
};
const paths = {
  ownFolders: () => ['/own'],
  secretPaths: ['/project/.ssh', '/keys'],
  systemFolders: ['/usr', '/keys/shown'],
};

describe('the zone of a file', () => {
  it.each([
    ['/project/a.ts', 'workspace'],
    ['/more/a.ts', 'workspace'],
    ['/worker/a.ts', 'outside'],
    ['/usr/lib/x', 'system'],
    ['/USR/lib/x', 'outside'],
    ['/keys/id', 'secret'],
    ['/KEYS/id', 'secret'],
    ['/keys/shown/x', 'system'],
    ['/project/.ssh/id', 'secret'],
    ['/own/output.txt', 'own'],
    // The worktree of another run, and that of this one.
    ['/own/worktrees/other/a.ts', 'secret'],
    ['/own/worktrees/mine/a.ts', 'workspace'],
  ])('%s is %s', (file, zone) => {
    expect(getFileZone(file, workspace, paths)).toBe(zone);
  });

  it('is that of the workspace where a folder of mini-cc is the workspace', () => {
    expect(getFileZone('/own/a', {...workspace, root: '/own'}, paths)).toBe('own');
    expect(getFileZone('/a', workspace, {ownFolders: () => [], secretPaths: []})).toBe('outside');
  });
});

describe('a write is always asked about', () => {
  const isAsked = (file: string, change: Partial<Workspace> = {}) =>
    isAlwaysAsked(file, {...workspace, ...change}, paths);

  it.each(['/project/.git/config', '/project/a/.bashrc', '/project/.ssh/id', '/keys/id', '/own/output.txt'])(
    'in %s',
    (file) => {
      expect(isAsked(file)).toBe(true);
    },
  );

  it.each(['/project/a.ts', '/project/.github/x', '/project/.bashrc/x', '/elsewhere/x'])('not in %s', (file) => {
    expect(isAsked(file)).toBe(false);
  });

  it('where it completes a folder that git takes for a repository, or changes what git runs there', () => {
    const bare = path.join(base, 'bare');
    for (const part of ['objects', 'refs']) mkdirSync(path.join(bare, part), {recursive: true});
    expect(isAsked(path.join(bare, 'HEAD'))).toBe(true);
    expect(isAsked(path.join(bare, 'hooks/pre-commit'))).toBe(false);
    mkdirSync(path.join(bare, 'HEAD'));
    for (const file of ['hooks/pre-commit', 'config', 'commondir']) {
      expect(isAsked(path.join(bare, file)), file).toBe(true);
      expect(isAsked(path.join(base, file)), file).toBe(false);
    }
    expect(isAsked(path.join(bare, 'description'))).toBe(false);
  });

  it('in a worktree by the path below it, since the worktree itself lies in a folder of mini-cc', () => {
    const root = '/project/.mini-cc/worktrees/one';
    const at = {root, extraRoots: ['/x'], confinement: 'worktree'} as const;
    expect(isAsked(`${root}/a.ts`, at)).toBe(false);
    expect(isAsked(`${root}/a.ts`, {...at, confinement: 'none'})).toBe(true);
    expect(isAsked(`${root}/.git/config`, at)).toBe(true);
    // A further folder inside of the worktree does not make its name count less.
    expect(isAsked(`${root}/.claude/a`, {...at, extraRoots: [`${root}/.claude`]})).toBe(true);
    expect(isAsked('/project/.mini-cc/a', at)).toBe(true);
  });
});

it('adds where paths that are links lead, and keeps those that are not there or lead nowhere', () => {
  mkdirSync(path.join(base, 'real'));
  for (const [name, to] of Object.entries({linked: 'real', broken: 'nothing'})) symlinkSync(to, path.join(base, name));
  const at = (...names: string[]) => names.map((name) => path.join(base, name));
  expect(withLinkTargets(at('linked', 'broken', 'missing', 'real'))).toEqual(at('linked', 'real', 'broken', 'missing'));
});
