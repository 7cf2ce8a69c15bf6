import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {Workspace} from '../../../../src/core/contract/permission.ts';
import {permissionSandbox} from '../../../support/sandbox.ts';
import {createPolicy, permissionFixture, type Rules} from '../fixture.ts';

const {decide, outside, root, run, workspace} = permissionFixture();

const confined: Workspace = {...workspace, confinement: 'read-only'};

const searching = (folder: string) => ({tool: 'grep', accesses: [{kind: 'read', path: folder}]}) as const;

describe('a rule about files', () => {
  const write = (place: string, rules: Rules, tool = 'write_file') =>
    decide({kind: 'write', path: place}, {rules, tool});
  const read = (place: string, rules: Rules, tool = 'read_file') => decide({kind: 'read', path: place}, {rules, tool});

  it('is a pattern as in .gitignore, from the root of the workspace; edit_file covers write_file', async () => {
    const rules = {allow: ['edit_file(src/**)', 'edit_file(*.md)', 'edit_file(/top.txt)', 'edit_file(./here.txt)']};
    for (const place of ['src/a.ts', 'src/deep/a.ts', 'README.md', 'docs/a.md', 'top.txt', 'here.txt']) {
      expect((await write(place, rules)).verdict, place).toBe('allow');
      expect((await write(place, rules, 'edit_file')).verdict, place).toBe('allow');
    }
    for (const place of [
      'lib/src/a.ts',
      'a.ts',
      'sub/top.txt',
      'SRC/a.ts',
      'src/../a.ts',
      'link/src/a.ts',
      '../src/a.ts',
    ]) {
      expect((await write(place, rules)).verdict, place).toBe('ask');
    }
    expect((await write('src/a.ts', {allow: ['write_file(src/**)']}, 'edit_file')).verdict).toBe('ask');
  });

  it('may name files outside the workspace, which are then read and written without a question', async () => {
    const place = path.join(outside, 'secret');
    expect((await read(place, {allow: [`read_file(/${outside}/**)`]})).verdict).toBe('allow');
    expect((await read(place, {allow: ['read_file']})).verdict).toBe('ask');
    expect((await read(place, {allow: ['read_file(**)']})).verdict).toBe('ask');
    expect((await read(place, {allow: ['read_file(../outside/*)']})).verdict).toBe('allow');
    expect((await read('~/x/y', {allow: ['read_file(~/x/**)']})).verdict).toBe('allow');
    expect((await write(place, {allow: [`edit_file(/${outside}/*)`]})).verdict).toBe('allow');
    const options = {rules: {allow: [`read_file(/${outside}/**)`]}, sandbox: false};
    expect((await run(`cat ${place}`, options)).verdict).toBe('allow');
  });

  it('refuses a file by each of its names, in any case of letters, for all tools that read or write', async () => {
    mkdirSync(path.join(root, 'real'), {recursive: true});
    writeFileSync(path.join(root, 'real/x'), '');
    symlinkSync(path.join(root, 'real'), path.join(root, 'alias'));
    for (const pattern of ['real/**', 'alias/**', 'REAL/**']) {
      const rules = {deny: [`read_file(${pattern})`, `edit_file(${pattern})`], allow: ['read_file', 'edit_file']};
      expect((await read('alias/x', rules)).verdict, pattern).toBe('deny');
      expect((await write('alias/x', rules)).verdict, pattern).toBe('deny');
    }
    const rules = {deny: ['read_file(real/**)']};
    for (const tool of ['grep', 'glob', 'read_file']) expect((await read('real/x', rules, tool)).verdict).toBe('deny');
    expect((await decide({kind: 'read', path: 'real/x'}, {rules, in: confined})).verdict).toBe('deny');
    expect((await decide({kind: 'read', path: 'real/x'}, {rules, mode: 'bypassPermissions'})).verdict).toBe('deny');
  });

  it('leaves files that it refuses or asks about out of a search, and so are keys', () => {
    const agent = {sandbox: permissionSandbox()};
    const filter = (rules: Rules, mode: 'default' | 'bypassPermissions' = 'default', secretPaths: string[] = []) =>
      createPolicy({rules, mode, secretPaths}).createReadFilter(searching('.'), workspace, agent);
    expect(filter({})).toBeUndefined();
    const rules = {deny: ['read_file(*.pem)'], ask: ['grep(drafts/**)']};
    const seen = (mode: 'default' | 'bypassPermissions') =>
      ['a.ts', 'x/A.PEM', 'drafts/a', 'keys/id'].filter((file) =>
        filter(rules, mode, [path.join(root, 'keys')])!(path.join(root, file)),
      );
    expect(seen('default')).toEqual(['a.ts']);
    expect(seen('bypassPermissions')).toEqual(['a.ts', 'drafts/a', 'keys/id']);
  });

  it('covers the same tools without a pattern, or with only a star', async () => {
    for (const rule of ['edit_file', 'Edit(*)']) {
      expect((await write('src/a.ts', {allow: [rule]})).verdict, rule).toBe('allow');
      expect((await write('/etc/x', {allow: [rule]})).verdict, rule).toBe('ask');
      for (const tool of ['edit_file', 'write_file']) {
        expect((await write('src/a.ts', {deny: [rule]}, tool)).verdict, rule).toBe('deny');
        expect((await write('src/a.ts', {ask: [rule]}, tool)).verdict, rule).toBe('ask');
      }
      const options = {mode: 'acceptEdits', rules: {deny: [rule]}} as const;
      expect((await run('echo x > src/a.ts', options)).verdict, rule).toBe('deny');
    }
    for (const tool of ['read_file', 'grep', 'glob']) {
      expect((await read('src', {deny: ['read_file(*)']}, tool)).verdict, tool).toBe('deny');
    }
    expect((await write('src/a.ts', {allow: ['write_file']}, 'edit_file')).verdict).toBe('ask');
  });

  it('does not let a search outside the workspace read keys, unless their folder is what is searched', () => {
    const agent = {sandbox: permissionSandbox()};
    const keys = path.join(outside, 'keys');
    const policy = createPolicy({secretPaths: [keys]});
    const seen = (folder: string) =>
      [path.join(keys, 'id'), path.join(outside, 'secret')].filter(
        (file) => policy.createReadFilter(searching(folder), workspace, agent)?.(file) ?? true,
      );
    expect(seen(outside)).toEqual([path.join(outside, 'secret')]);
    expect(seen(keys)).toEqual([path.join(keys, 'id'), path.join(outside, 'secret')]);
  });

  it('asks although the mode and another rule allow edits', async () => {
    const access = {kind: 'write', path: 'package.json'} as const;
    const rules = {ask: ['edit_file(package.json)'], allow: ['edit_file']};
    expect(await decide(access, {mode: 'acceptEdits', rules})).toMatchObject({verdict: 'ask', onlyOnce: true});
    expect((await decide({kind: 'write', path: 'a.json'}, {mode: 'acceptEdits', rules})).verdict).toBe('allow');
  });

  it('is offered for the folder of a file, for a file at the top or outside alone, and never for a protected file', async () => {
    expect(await write('src/core/a.ts', {})).toMatchObject({rules: ['edit_file(/src/core/**)']});
    expect(await write('a[1].ts', {})).toMatchObject({rules: ['edit_file(/a\\[1\\].ts)']});
    expect((await write('a[1].ts', {allow: ['edit_file(/a\\[1\\].ts)']})).verdict).toBe('allow');
    expect(await write('.git/config', {})).not.toHaveProperty('rules');
    expect(await write(path.join(outside, 'x'), {})).toMatchObject({rules: [`edit_file(/${outside}/x)`]});
    expect((await write(path.join(outside, 'x'), {allow: [`edit_file(/${outside}/x)`]})).verdict).toBe('allow');
    expect(await read(path.join(outside, 'x'), {})).toMatchObject({rules: [`read_file(/${outside}/x)`]});
  });
});

it('is about a file by the links of a process too, in every mode, for files and commands', async () => {
  const secret = path.join(root, 'secret.env');
  writeFileSync(secret, 'x');
  const rest = path.relative(process.cwd(), secret);
  const places = [`/proc/self/root${secret}`, `/proc/${process.pid}/root${secret}`, `/proc/self/cwd/${rest}`];
  for (const mode of ['default', 'bypassPermissions'] as const) {
    for (const rule of ['*.env', `/${secret}`, `//proc/self/root${secret}`]) {
      const rules = {deny: [`read_file(${rule})`, `edit_file(${rule})`]};
      for (const place of places) {
        expect(await decide({kind: 'read', path: place}, {mode, rules}), place).toMatchObject({verdict: 'deny'});
        expect(await decide({kind: 'write', path: place}, {mode, rules}), place).toMatchObject({verdict: 'deny'});
      }
      for (const command of [`cat /proc/self/root${secret}`, 'cat /proc/self/cwd/secret.env']) {
        expect(await run(command, {mode, rules}), command).toMatchObject({verdict: 'deny'});
      }
    }
    const other = await decide(
      {kind: 'read', path: `/proc/self/root${root}/a.txt`},
      {mode, rules: {deny: ['read_file(*.env)']}},
    );
    expect(other).toMatchObject({verdict: 'allow'});
  }
});
