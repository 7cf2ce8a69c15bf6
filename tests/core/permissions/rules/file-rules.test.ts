import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {Access, Workspace} from '../../../../src/core/contract/permission.ts';
import {createPolicy, decide, outside, type Rules, root, run, workspace} from '../fixture.ts';

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

  it('may name a place outside the workspace, and then no question is asked there', async () => {
    const place = path.join(outside, 'secret');
    expect((await read(place, {allow: [`read_file(/${outside}/**)`]})).verdict).toBe('allow');
    expect((await read(place, {allow: ['read_file']})).verdict).toBe('ask');
    expect((await read(place, {allow: ['read_file(**)']})).verdict).toBe('ask');
    expect((await read(place, {allow: ['read_file(../outside/*)']})).verdict).toBe('allow');
    expect((await read('~/x/y', {allow: ['read_file(~/x/**)']})).verdict).toBe('allow');
    expect((await write(place, {allow: [`edit_file(/${outside}/*)`]})).verdict).toBe('allow');
    expect((await run(`cat ${place}`, {rules: {allow: [`read_file(/${outside}/**)`]}})).verdict).toBe('allow');
  });

  it('refuses by either name of a place, in any letters, for all that reads or writes', async () => {
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

  it('leaves out of a search what it refuses or asks about, and keys', () => {
    const standing = {sandboxAvailable: async () => true};
    const filter = (rules: Rules, mode: 'default' | 'bypassPermissions' = 'default', secretPaths: string[] = []) =>
      createPolicy({rules, mode, secretPaths}).createReadFilter(searching('.'), workspace, standing);
    expect(filter({})).toBeUndefined();
    const rules = {deny: ['read_file(*.pem)'], ask: ['grep(drafts/**)']};
    const seen = (mode: 'default' | 'bypassPermissions') =>
      ['a.ts', 'x/A.PEM', 'drafts/a', 'keys/id'].filter((file) =>
        filter(rules, mode, [path.join(root, 'keys')])!(path.join(root, file)),
      );
    expect(seen('default')).toEqual(['a.ts']);
    expect(seen('bypassPermissions')).toEqual(['a.ts', 'drafts/a', 'keys/id']);
  });

  it('without a pattern, or with a mere star, covers the same tools', async () => {
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

  it('leaves keys out of a search outside the workspace too, unless they are what is searched', () => {
    const standing = {sandboxAvailable: async () => true};
    const keys = path.join(outside, 'keys');
    const policy = createPolicy({secretPaths: [keys]});
    const seen = (folder: string) =>
      [path.join(keys, 'id'), path.join(outside, 'secret')].filter(
        (file) => policy.createReadFilter(searching(folder), workspace, standing)?.(file) ?? true,
      );
    expect(seen(outside)).toEqual([path.join(outside, 'secret')]);
    expect(seen(keys)).toEqual([path.join(keys, 'id'), path.join(outside, 'secret')]);
  });

  it('asks though edits pass otherwise', async () => {
    const access = {kind: 'write', path: 'package.json'} as const;
    const rules = {ask: ['edit_file(package.json)'], allow: ['edit_file']};
    expect(await decide(access, {mode: 'acceptEdits', rules})).toMatchObject({verdict: 'ask', onlyOnce: true});
    expect((await decide({kind: 'write', path: 'a.json'}, {mode: 'acceptEdits', rules})).verdict).toBe('allow');
  });

  it('is offered for the folder of the file, for a file at the top alone, and never for what is always asked', async () => {
    expect(await write('src/core/a.ts', {})).toMatchObject({rule: 'edit_file(/src/core/**)'});
    expect(await write('a[1].ts', {})).toMatchObject({rule: 'edit_file(/a\\[1\\].ts)'});
    expect((await write('a[1].ts', {allow: ['edit_file(/a\\[1\\].ts)']})).verdict).toBe('allow');
    expect(await write('.git/config', {})).not.toHaveProperty('rule');
    expect(await write(path.join(outside, 'x'), {})).not.toHaveProperty('rule');
    expect(await read(path.join(outside, 'x'), {})).toMatchObject({rule: `read_file(/${outside}/x)`});
  });
});

describe('a rule about a host or an agent', () => {
  const fetch = (host: string, rules: Rules) => decide({kind: 'fetch', host, url: `https://${host}/`}, {rules});

  it('is that host, or with a star the hosts below it', async () => {
    const rules = {allow: ['web_fetch(domain:example.com)', 'web_fetch(domain:*.example.org)']};
    for (const host of ['example.com', 'EXAMPLE.com.', 'a.example.org', 'b.a.example.org']) {
      expect((await fetch(host, rules)).verdict, host).toBe('allow');
    }
    for (const host of ['a.example.com', 'example.org', 'xexample.org', 'example.com.evil.net']) {
      expect((await fetch(host, rules)).verdict, host).toBe('ask');
    }
    expect((await fetch('example.com', {...rules, deny: ['web_fetch(domain:*)']})).verdict).toBe('deny');
    expect(await fetch('example.net', {})).toMatchObject({rule: 'web_fetch(domain:example.net)'});
    const {rule} = (await decide({kind: 'fetch', host: '2606:4700::1111', url: ''})) as {rule: string};
    expect(rule).toBe('web_fetch(domain:[2606:4700::1111])');
    expect((await decide({kind: 'fetch', host: '2606:4700::1111', url: ''}, {rules: {allow: [rule]}})).verdict).toBe(
      'allow',
    );
  });

  it('is an address in brackets, whatever its spelling', async () => {
    const rules = {deny: ['web_fetch(domain:[2001:DB8:0::1])']};
    expect((await fetch('2001:db8::1', rules)).verdict).toBe('deny');
    expect((await fetch('2001:db8::2', rules)).verdict).toBe('ask');
  });

  it('refuses or asks for a dispatch of that agent', async () => {
    const access: Access = {kind: 'dispatch', agent: 'reviewer'};
    expect((await decide(access)).verdict).toBe('allow');
    expect((await decide(access, {rules: {deny: ['Task(reviewer)']}})).verdict).toBe('deny');
    expect((await decide(access, {rules: {deny: ['Task(review*)']}, mode: 'bypassPermissions'})).verdict).toBe('deny');
    expect((await decide(access, {rules: {ask: ['Task(reviewer)']}})).verdict).toBe('ask');
    expect((await decide(access, {rules: {deny: ['Task(code)']}})).verdict).toBe('allow');
    expect((await decide(access, {rules: {deny: ['Task']}})).verdict).toBe('deny');
  });
});
