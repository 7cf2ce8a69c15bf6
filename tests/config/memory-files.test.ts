import {mkdirSync, readFileSync, rmSync, symlinkSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {addNote, listMemoryFiles, memoryClaims, memoryFiles, toolNotes} from '../../src/config/memory-files.ts';
import {makeFolders} from './fixture.ts';

describe('memory files', () => {
  it('are read from the repository down to the working directory, AGENTS.md before CLAUDE.md', () => {
    const {base} = makeFolders({
      'home/AGENTS.md': 'mine',
      'AGENTS.md': 'not of this repository',
      'repo/.git/HEAD': 'ref: refs/heads/main',
      'repo/AGENTS.md': 'root',
      'repo/CLAUDE.md': 'hidden by AGENTS.md',
      'repo/pkg/CLAUDE.md': 'near',
    });
    const texts = memoryFiles({
      cwd: path.join(base, 'repo', 'pkg'),
      miniCcHome: path.join(base, 'home'),
      trusts: () => false,
    }).map((file) => file.text);
    expect(texts).toEqual(['mine', 'root', 'near']);
  });

  it('of a project that are links out of it count only where that is trusted, since their text is sent to the model', () => {
    const {base} = makeFolders({
      'home/AGENTS.md': 'mine',
      '.ssh/id_rsa': 'a key',
      'repo/.git/HEAD': 'ref: refs/heads/main',
      'repo/docs/agents.md': 'within',
      'repo/pkg/CLAUDE.md': 'near',
    });
    const [repo, home, key] = ['repo', 'home', '.ssh/id_rsa'].map((name) => path.join(base, name)) as [
      string,
      string,
      string,
    ];
    symlinkSync('docs/agents.md', path.join(repo, 'AGENTS.md'));
    symlinkSync('../../.ssh/id_rsa', path.join(repo, 'pkg/AGENTS.md'));
    symlinkSync(key, path.join(repo, 'TOOLS.md'));
    const cwd = path.join(repo, 'pkg');
    const texts = (trusted: boolean) =>
      [memoryFiles, toolNotes].flatMap((read) =>
        read({cwd, miniCcHome: home, trusts: () => trusted}).map(({text}) => text),
      );
    expect(texts(false)).toEqual(['mine', 'within', 'near']);
    expect(texts(true)).toEqual(['mine', 'within', 'a key', 'a key']);
    expect(memoryClaims(cwd)).toEqual([
      {file: path.join(repo, 'TOOLS.md'), key: 'link', value: key},
      {file: path.join(repo, 'pkg/AGENTS.md'), key: 'link', value: key},
    ]);
    // The target of the link is part of what is trusted.
    rmSync(key);
    expect(memoryClaims(cwd)).toEqual([]);
  });

  it('are regular files: a folder or a circular link of that name is ignored', () => {
    const {cwd, home} = makeFolders({});
    mkdirSync(path.join(cwd, 'AGENTS.md'));
    symlinkSync('CLAUDE.md', path.join(cwd, 'CLAUDE.md'));
    expect(memoryFiles({cwd, miniCcHome: home, trusts: () => true})).toEqual([]);
  });
});

describe('an @ in a memory file', () => {
  const read = (files: Record<string, string>, links: Record<string, string> = {}) => {
    const {base} = makeFolders({'repo/.git/HEAD': 'ref: refs/heads/main', ...files});
    const repo = path.join(base, 'repo');
    for (const [link, target] of Object.entries(links)) symlinkSync(path.join(base, target), path.join(repo, link));
    return memoryFiles({cwd: repo, miniCcHome: path.join(base, 'home'), trusts: () => false});
  };

  it('brings along the document that it names, and what that one names, each once', () => {
    const files = read({
      'repo/AGENTS.md': 'See @docs/style.md, and (@docs/style.md).',
      'repo/docs/style.md': 'Tabs. @more.md',
      'repo/docs/more.md': 'More. @../AGENTS.md',
    });
    expect(files.map(({text}) => text.split(' ')[0])).toEqual(['See', 'Tabs.', 'More.']);
    expect(files[1]?.importedBy).toMatch(/repo\/AGENTS\.md$/);
  });

  it('leaves out code, addresses, data, what is not there, and all that is outside of the project', () => {
    const files = read(
      {
        'repo/AGENTS.md':
          'ada@docs/a.md `@docs/a.md` @.env @none.md @../secret.md @link.md @/etc/hosts\n```\n@docs/a.md\n```\n',
        'repo/docs/a.md': 'a',
        'repo/.env': 'KEY=1',
        'secret.md': 'secret',
      },
      {'link.md': 'secret.md'},
    );
    expect(files).toHaveLength(1);
  });

  it('is followed at most five deep, and to at most 20 documents', () => {
    const deep = Object.fromEntries(Array.from({length: 9}, (_, n) => [`repo/${n}.md`, `${n} @${n + 1}.md`]));
    expect(read({...deep, 'repo/AGENTS.md': '@0.md'})).toHaveLength(6);
    const names = Array.from({length: 30}, (_, n) => `d${n}.md`);
    const many = Object.fromEntries(names.map((name) => [`repo/${name}`, 'x']));
    expect(read({...many, 'repo/AGENTS.md': names.map((name) => `@${name}`).join('\n')})).toHaveLength(21);
  });

  it('of a long document brings its beginning', () => {
    const [, long] = read({'repo/AGENTS.md': '@long.md', 'repo/long.md': 'x'.repeat(50_000)});
    expect(long).toMatchObject({isCut: true});
    expect(long?.text).toHaveLength(40_000);
  });
});

describe('a note', () => {
  it('is appended to the file that counts in the repository, in the working directory, or to that of the user', async () => {
    const {base} = makeFolders({
      'repo/.git/HEAD': 'ref: refs/heads/main',
      'repo/CLAUDE.md': 'Use tabs.',
      'repo/pkg/a': '',
    });
    const [repo, home] = [path.join(base, 'repo'), path.join(base, 'new/home')];
    const files = listMemoryFiles(path.join(repo, 'pkg'), home);
    expect(files.map(({label}) => label)).toEqual([
      '../CLAUDE.md (this project)',
      'AGENTS.md (this project)',
      `${home}/AGENTS.md (all projects)`,
    ]);
    for (const {file} of files) await addNote(file, 'call me Ada', path.join(repo, 'pkg'));
    await addNote(files[0]!.file, 'second', repo);
    const texts = memoryFiles({cwd: path.join(repo, 'pkg'), miniCcHome: home, trusts: () => false}).map(
      ({text}) => text,
    );
    expect(texts).toEqual(['- call me Ada\n', 'Use tabs.\n- call me Ada\n- second\n', '- call me Ada\n']);
  });

  it('is not written through a link that leads out of the project', async () => {
    const {base, cwd} = makeFolders({'home/.bashrc': 'alias', 'work/x': ''});
    symlinkSync(path.join(base, 'home/.bashrc'), path.join(cwd, 'AGENTS.md'));
    await expect(addNote(path.join(cwd, 'AGENTS.md'), 'curl evil', cwd)).rejects.toThrow(/leads out of the project/);
    expect(readFileSync(path.join(base, 'home/.bashrc'), 'utf8')).toBe('alias');
  });
});
