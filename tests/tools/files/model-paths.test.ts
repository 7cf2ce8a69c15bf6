import {mkdirSync, symlinkSync} from 'node:fs';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {
  absolutePath,
  archivedTranscript,
  createNotFoundError,
  shownPath,
  titleFolder,
  titlePath,
} from '../../../src/tools/files/model-paths.ts';
import {fixture} from '../fixture.ts';

describe('a path', () => {
  it('is taken from the folder of the agent, or from its home', () => {
    const {workspace, root} = fixture();
    const {HOME = ''} = workspace.env;
    expect(absolutePath('a/../b', workspace)).toBe(join(root, 'b'));
    expect(absolutePath('~', workspace)).toBe(HOME);
    expect(absolutePath('~/a', workspace)).toBe(join(HOME, 'a'));
    expect(absolutePath('~a', workspace)).toBe(join(root, '~a'));
    expect(absolutePath('~/a', {...workspace, env: {}})).toBe(join(homedir(), 'a'));
  });

  it('is shown from the folder of the agent, and to a person from the workspace, where it lies inside', () => {
    const {workspace, root, outside} = fixture();
    const inSrc = {...workspace, cwd: join(root, 'src')};
    const shown = ['src', 'src/a', '..b', 'src/..b'].map((path) => shownPath(join(root, path), inSrc));
    expect(shown).toEqual(['.', 'a', join(root, '..b'), '..b']);
    expect(shownPath(root, inSrc)).toBe(root);
    expect(['.', 'a', '..', '../..b', '../../x', outside].map((path) => titlePath(path, inSrc))).toEqual([
      ...['src', 'src/a', '.', '..b', '../../x', outside],
    ]);
    expect([undefined, '.', 'a', '..'].map((path) => titleFolder(path, workspace))).toEqual([
      '',
      '',
      ' in a',
      ' in ..',
    ]);
  });

  it.each([
    ['mian.ts', ['main.ts', 'other.md'], ['main.ts']],
    ['main.js', ['main.ts', 'mein.js'], ['main.ts', 'mein.js']],
    ['ab', ['abcd', 'abcde'], ['abcd']],
    ['abcdefghijkl', ['abcdefgh1234', 'abcdefg12345'], ['abcdefgh1234']],
    ['a1.ts', ['a2.ts', 'a3.ts', 'a4.ts', 'a5.ts'], ['a2.ts', 'a3.ts', 'a4.ts']],
    ['README', ['readme.md'], ['readme.md']],
    ['none/x', [], []],
  ])('%s that does not exist is answered with the nearest of %j', async (path, files, meant) => {
    const {workspace, root, put} = fixture();
    put(Object.fromEntries(files.map((file) => [file, ''])));
    const {message} = await createNotFoundError(join(root, path), workspace);
    const words = meant.length > 0 ? ` Did you mean ${meant.join(', ')}?` : '';
    expect(message).toBe(`${path} does not exist (cwd: ${root}).${words}`);
  });

  it('is a link whose target is missing: its own name is no suggestion', async () => {
    const {workspace, root, put} = fixture();
    put({'main.ts': ''});
    symlinkSync('gone.ts', join(root, 'mian.ts'));
    const {message} = await createNotFoundError(join(root, 'mian.ts'), workspace);
    expect(message).toBe('mian.ts is a link to "gone.ts", which is not there.');
  });

  it('of the workspace is found from another folder', async () => {
    const {workspace, root, put} = fixture();
    put({'src/a.ts': '', 'lib/b.ts': ''});
    const {message} = await createNotFoundError(join(root, 'lib/src/a.ts'), {...workspace, cwd: join(root, 'lib')});
    expect(message).toContain(`Did you mean ${join(root, 'src/a.ts')}?`);
  });

  it('of a transcript that was archived leads to where it is now', async () => {
    const {root, put} = fixture();
    const folder = join(root, 'subagents/run');
    const find = () => archivedTranscript(join(folder, 'session.jsonl'));
    expect(await find()).toBeUndefined();
    put({'subagents/run/session.jsonl.deleted.1': '', 'subagents/run/session.jsonl.deleted.2': '', 'subagents/f': ''});
    mkdirSync(join(root, 'runs/run'), {recursive: true});
    put({'runs/run/session.jsonl.deleted.1': ''});
    expect(await find()).toBe(join(folder, 'session.jsonl.deleted.2'));
    expect(await archivedTranscript(join(root, 'runs/run/session.jsonl'))).toBeUndefined();
    expect(await archivedTranscript(join(folder, 'other.jsonl'))).toBeUndefined();
    expect(await archivedTranscript(join(root, 'subagents/f/session.jsonl'))).toBeUndefined();
    put({'subagents/run/session.jsonl': ''});
    expect(await find()).toBeUndefined();
  });
});
