import {rmSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it, vi} from 'vitest';
import {FileIndex, listFiles} from '../../../src/tools/search/file-index.ts';
import {fixture} from '../fixture.ts';

function setUp(files: readonly string[]) {
  const at = fixture();
  at.put(Object.fromEntries(files.map((path) => [path, ''])));
  return {...at, index: new FileIndex(at.root, at.workspace.env)};
}

describe('files that are found by parts of their names', () => {
  it('are listed with their folders, without ignored ones', async () => {
    const {index, root, workspace, put} = setUp(['b.ts', 'src/deep/a.ts', 'src/c.ts', 'out/x.js', '.git/HEAD']);
    put({'.ignore': 'left-out\n', 'left-out/y.ts': ''});
    const listed = await listFiles(root, workspace.env);
    expect(listed.toSorted()).toEqual(['.ignore', 'b.ts', 'out/x.js', 'src/c.ts', 'src/deep/a.ts']);
    // What lies on top comes first, then what is shorter, then what is first by its name.
    expect(await index.find('')).toEqual([
      ...['b.ts', 'out/', 'src/', '.ignore'],
      ...['out/x.js', 'src/c.ts', 'src/deep/'],
      'src/deep/a.ts',
    ]);
  });

  it('match by letters in their order, the best first', async () => {
    const {index} = setUp(['src/parser.ts', 'src/print-answer.ts', 'parser.md', 'other.ts']);
    expect((await index.find('parser')).slice(0, 2)).toEqual(['parser.md', 'src/parser.ts']);
    expect(await index.find('srcptans')).toEqual(['src/print-answer.ts']);
    expect(await index.find('zzz')).toEqual([]);
  });

  it('are 30 at most, the best of all of them', async () => {
    const many = Array.from({length: 600}, (_, at) => `many/file-${String(at).padStart(3, '0')}.ts`);
    const {index} = setUp([...many, 'zz-file.ts']);
    const found = await index.find('file');
    expect(found).toHaveLength(30);
    expect(found[0]).toBe('zz-file.ts');
    expect((await index.find('')).slice(0, 3)).toEqual(['many/', 'zz-file.ts', 'many/file-000.ts']);
  });

  it('are the best also of more matches than are compared with each other', async () => {
    const folder = (name: string) => Array.from({length: 1100}, (_, at) => `${name}/${at}.ts`);
    const names = ['deep/in/a/much/longer/folder/target.ts', 'a-much-longer-name-than-others-with-target-in-it.ts'];
    const {index} = setUp([...folder('t-a-r-g-e-t'), ...names]);
    expect((await index.find('target')).slice(0, 2)).toEqual(names);
    expect(await index.find('t a 1099')).toEqual(['t-a-r-g-e-t/1099.ts']);
  });

  it('match without regard to upper case and accents, and by words in any order', async () => {
    const {index} = setUp(['Résumé Of/Été.md', 'other.md']);
    expect(await index.find('resume')).toEqual(['Résumé Of/', 'Résumé Of/Été.md']);
    expect(await index.find('ÉTÉ')).toEqual(['Résumé Of/Été.md']);
    expect(await index.find('ete resume')).toEqual(['Résumé Of/Été.md']);
  });

  it('are none for a search that another one follows', async () => {
    const {index} = setUp(['a.ts', 'b.ts']);
    expect(await Promise.all([index.find('a'), index.find('b')])).toEqual([[], ['b.ts']]);
  });

  it('are found in the old list while a large one is made again, and in the new one when the old one has none', async () => {
    const {put, root, workspace} = setUp(['one.ts', 'two.ts']);
    const index = new FileIndex(root, workspace.env, 2);
    const clock = vi.spyOn(performance, 'now');
    try {
      clock.mockReturnValue(10_000);
      expect(await index.find('')).toEqual(['one.ts', 'two.ts']);
      put({'one-more.ts': ''});
      clock.mockReturnValue(13_000);
      expect(await index.find('more')).toEqual(['one-more.ts']);
      put({'one-most.ts': ''});
      clock.mockReturnValue(16_000);
      expect(await index.find('most')).toEqual(['one-most.ts']);
      rmSync(join(root, 'one.ts'));
      clock.mockReturnValue(19_000);
      expect(await index.find('one.ts')).toContain('one.ts');
    } finally {
      clock.mockRestore();
    }
  });

  it('are listed again when the list is two seconds old', async () => {
    const {index, put, root} = setUp(['old.ts']);
    const clock = vi.spyOn(performance, 'now');
    try {
      clock.mockReturnValue(10_000);
      expect(await index.find('')).toEqual(['old.ts']);
      put({'new.ts': ''});
      rmSync(join(root, 'old.ts'));
      clock.mockReturnValue(12_000);
      expect(await index.find('')).toEqual(['old.ts']);
      clock.mockReturnValue(12_001);
      expect(await index.find('')).toEqual(['new.ts']);
    } finally {
      clock.mockRestore();
    }
  });
});
