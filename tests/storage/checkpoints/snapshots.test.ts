import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, onTestFinished, vi} from 'vitest';
import {countGit} from '../../support/count-git.ts';
import {countStarts} from '../../support/count-starts.ts';
import {until} from '../../support/wait.ts';
import {CODE, OTHER, workspace} from './fixture.ts';

/** Waits until the clock of the file system is past the last change of the file. It ticks every few milliseconds. */
async function untilLater(file: string, base: string): Promise<void> {
  const probe = path.join(base, 'clock');
  await until(() => {
    writeFileSync(probe, '');
    return statSync(probe).ctimeMs > statSync(file).ctimeMs;
  }, 'the next tick of the clock');
}

describe('a snapshot', () => {
  it('includes names with blanks, newlines, quotes, colons and letters of all scripts', async () => {
    const names = [
      'a b.txt',
      'new\nline.txt',
      '"quoted".txt',
      ':(top)x',
      'тест.txt',
      '日本.txt',
      '-dash',
      'back\\slash',
    ];
    const {command, undo, at} = workspace(Object.fromEntries(names.map((name) => [name, '1'])));
    expect(await command('for f in ./*; do echo 2 > "$f"; done')).toEqual([...names].sort());
    expect(Object.keys(await undo()).sort()).toEqual([...names].sort());
    expect(names.map((name) => readFileSync(at(name), 'utf8'))).toEqual(names.map(() => '1'));
  });

  it('shows no change when a command changes nothing, or only touches files', async () => {
    const {command} = workspace({'a.txt': '1'});
    expect(await command('cat a.txt')).toEqual([]);
    expect(await command('touch a.txt')).toEqual([]);
  });

  it('leaves out ignored files, node_modules, .git and the files of mini-cc itself', async () => {
    const {command, home} = workspace({'.gitignore': 'dist/\n', 'a.txt': '1'});
    const line = `mkdir dist node_modules; echo 1 > dist/x; echo 1 > node_modules/x; git config a.b c; echo 2 > a.txt`;
    expect(await command(`${line}; echo x > ${home}/log`)).toEqual(['a.txt']);
  });

  it('leaves out the home of mini-cc inside the workspace', async () => {
    const {root, store, run} = workspace({'a.txt': '1'});
    const {CheckpointStore} = await import('../../../src/storage/checkpoints/checkpoint-store.ts');
    const home = path.join(root, 'my [home]');
    const inside = new CheckpointStore({
      sessionFolder: () => path.join(home, 's'),
      root,
      home,
      redact: (label) => label,
      onNone: () => undefined,
    });
    const {compared} = await inside.around(CODE, (saved) =>
      saved.then(() => run(`echo 1 > 'my [home]/log'; echo 2 > a.txt`)),
    );
    expect((await compared).changed).toEqual([path.join(root, 'a.txt')]);
    store.close();
  });

  it('uses the ignore files above a workspace in a subfolder of a repository, and leaves out files beside the workspace', async () => {
    const {root, home, run} = workspace({'.gitignore': 'dist/\n', 'pkg/a.txt': '1', 'beside.txt': '1'});
    const {CheckpointStore} = await import('../../../src/storage/checkpoints/checkpoint-store.ts');
    const pkg = path.join(root, 'pkg');
    const part = new CheckpointStore({
      sessionFolder: () => path.join(home, 'p'),
      root: pkg,
      home,
      redact: (label) => label,
      onNone: () => undefined,
    });
    const line = 'cd pkg; mkdir dist; echo 1 > dist/x; echo 2 > a.txt; echo 2 > ../beside.txt; echo n > n.txt';
    const {compared} = await part.around(CODE, (saved) => saved.then(() => run(line)));
    expect((await compared).changed.toSorted()).toEqual([path.join(pkg, 'a.txt'), path.join(pkg, 'n.txt')]);
  });

  it('leaves out nested repositories and huge files, and names them', async () => {
    const {command, store, run, put, undo} = workspace({'a.txt': '1'});
    run('mkdir nested && cd nested && git init -q . && echo 1 > x');
    put('huge.bin', Buffer.alloc(11 * 1024 * 1024));
    expect(await command('echo 2 > nested/x; echo 2 > a.txt; echo 1 >> huge.bin')).toEqual(['a.txt']);
    expect(store.current.ledger.lines.findLast(({type}) => type === 'ran')).toMatchObject({
      leftOut: expect.arrayContaining(['nested/', 'huge.bin']),
    });
    expect(await undo()).toEqual({'a.txt': 'put back'});
  });

  it('stores symbolic links as links, and does not follow them', async () => {
    const {command, base, at} = workspace({'dir/a.txt': '1'});
    mkdirSync(path.join(base, 'elsewhere'));
    writeFileSync(path.join(base, 'elsewhere', 'a.txt'), 'secret');
    expect(await command('rm -r dir; ln -s ../elsewhere dir')).toEqual(['dir', 'dir/a.txt']);
    symlinkSync('nowhere', at('dangling'));
    expect(await command('echo x > b.txt')).toEqual(['b.txt']);
  });

  it('leaves out a file that cannot be read', async () => {
    const {command, put, at} = workspace({'a.txt': '1'});
    put('closed.txt', '1');
    chmodSync(at('closed.txt'), 0o000);
    expect(await command('echo 2 > a.txt')).toContain('a.txt');
  });

  it('works in a folder without git, and in a repository without a commit', async () => {
    const plain = workspace({'a.txt': '1'}, {git: false});
    expect(await plain.command('echo 2 > a.txt')).toEqual(['a.txt']);
    expect(await plain.undo()).toEqual({'a.txt': 'put back'});
    const young = workspace({'a.txt': '1'}, {git: false});
    young.run('git init -q .');
    expect(await young.command('echo 2 > a.txt')).toEqual(['a.txt']);
    expect(existsSync(plain.at('.git'))).toBe(false);
  });

  it('changes neither index nor refs nor objects of the project', async () => {
    const {command, run, put} = workspace({'a.txt': '1'});
    put('b.txt', 'untracked');
    const state = () => run('sha1sum .git/index; git for-each-ref; find .git -type f | sort | wc -l');
    const before = state();
    await command('echo 2 > a.txt; echo 3 > b.txt');
    expect(state()).toBe(before);
  });
});

describe('a snapshot of a project with settings of its own', () => {
  it('runs no filter, hook or file watcher of the project, and stores the bytes of the files', async () => {
    const {command, undo, run, put, at, base} = workspace({
      '.gitattributes': '* text=auto eol=crlf filter=evil ident\n',
    });
    const trap = `touch ${base}/sprung; cat`;
    run(
      `git config filter.evil.clean '${trap}'; git config filter.evil.smudge '${trap}'; git config filter.evil.process '${trap}'`,
    );
    run(`git config core.fsmonitor '${trap}'; git config core.hooksPath hooks; git config diff.external '${trap}'`);
    put('a.txt', 'one\r\ntwo\n$Id$\r\n');
    await command('echo x > a.txt');
    expect(await undo()).toEqual({'a.txt': 'put back'});
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('one\r\ntwo\n$Id$\r\n');
    expect(readdirSync(base)).not.toContain('sprung');
  });

  it('stores the bytes of files that the project filters into its index', async () => {
    const {command, undo, run, put, at} = workspace();
    put('.gitattributes', '*.up filter=up\n*.txt text\n');
    put('a.up', 'lower');
    put('b.txt', 'one\r\n');
    run(
      `git config filter.up.clean 'tr a-z A-Z'; git add -A 2>/dev/null; git -c user.name=a -c user.email=a@b commit -qm x`,
    );
    await command('echo x > a.up; echo x > b.txt');
    await undo();
    expect([readFileSync(at('a.up'), 'utf8'), readFileSync(at('b.txt'), 'utf8')]).toEqual(['lower', 'one\r\n']);
  });

  it('shows changes of files that the project marked as unchanged or skipped', async () => {
    const {command, run} = workspace({'a.txt': '1', 'b.txt': '1'});
    run('git update-index --assume-unchanged a.txt; git update-index --skip-worktree b.txt');
    expect(await command('echo 2 > a.txt; echo 2 > b.txt')).toEqual(['a.txt', 'b.txt']);
  });

  it('restores a file after the project deleted its own copy of the content', async () => {
    const {command, undo, run, at, open} = workspace({'a.txt': 'precious'});
    await command('echo 2 > a.txt');
    run('rm -rf .git');
    expect(await undo(CODE, open())).toEqual({'a.txt': 'put back'});
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('precious');
  });

  it('does not restore a stored content that was damaged', async () => {
    const {write, undo, home, at} = workspace({'a.txt': '1'});
    await write('a.txt', '2');
    const folder = path.join(home, 'session', 'checkpoints', 'files');
    for (const file of readdirSync(folder, {recursive: true, encoding: 'utf8'})) {
      const place = path.join(folder, file);
      if (statSync(place).isFile()) writeFileSync(place, 'tampered');
    }
    expect(await undo()).toEqual({'a.txt': 'its earlier content is not stored any more'});
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('2');
  });
});

describe('git is started', () => {
  const getCommands = (starts: readonly string[]) => starts.map((line) => /^(?:-C \S+ |-\S+ )*(\S+)/.exec(line)?.[1]);

  it('once before a command and four times after one that changed a file, and asked for its settings once', async () => {
    const {store, put, at} = workspace({'a.txt': '1', 'b.txt': 'one'});
    const [asked, started] = [countGit(), countStarts()];
    const around = async (work: () => void) => (await store.around(CODE, (saved) => saved.then(work))).compared;
    const change = (name: string, text: string) => around(() => put(name, text));
    await change('a.txt', '2');
    const first = asked();
    expect(first.filter((line) => line.includes(' config --list'))).toHaveLength(1);
    // One for the settings and the repository, one for the project's index, and the shell, which starts the others.
    expect([first.length, started()], first.join('\n')).toEqual([13, 3]);

    await change('b.txt', '2');
    // All of them are started by one shell.
    const written = ['ls-files', 'ls-files', 'update-index', 'write-tree', 'diff-tree'];
    expect([...getCommands(asked()), started()]).toEqual([...written, 'pack-objects', 0]);
    await change('b.txt', '3');
    expect(getCommands(asked())).toEqual(written);
    await around(() => rmSync(at('b.txt')));
    expect([...getCommands(asked()), started()]).toEqual([...written, 0]);
    await around(() => undefined);
    expect([...getCommands(asked()), started()]).toEqual(['ls-files', 'ls-files', 0]);
  });
});

describe('a snapshot that is prepared', () => {
  it('leaves little to do before the first command', async () => {
    const {store, command} = workspace({'a.txt': '1', 'b.txt': '1'});
    store.prepare();
    store.prepare();
    await command('true');
    const [asked, started] = [countGit(), countStarts()];
    expect(await command('echo 2 > a.txt')).toEqual(['a.txt']);
    expect([asked().filter((line) => line.includes('--refresh')), started()]).toEqual([[], 0]);
  });

  it.each(['at once', 'later'])(
    'does not attribute what the user changes until the command begins (%s)',
    async (when) => {
      const {store, command, put, at, undo, run} = workspace({'a.txt': '1', 'b.txt': '1', 'c.txt': '1'});
      store.prepare();
      if (when === 'later') {
        await command('true', OTHER);
        await store.settled();
      }
      put('a.txt', 'by the user');
      put('new.txt', 'by the user');
      run('rm c.txt');
      expect(await command('echo 2 > a.txt; echo 2 > b.txt')).toEqual(['a.txt', 'b.txt']);
      await undo();
      expect([readFileSync(at('a.txt'), 'utf8'), readFileSync(at('new.txt'), 'utf8')]).toEqual([
        'by the user',
        'by the user',
      ]);
      expect([readFileSync(at('b.txt'), 'utf8'), existsSync(at('c.txt'))]).toEqual(['1', false]);
    },
  );

  it('does not disturb the writes of tools, and ends with the session', async () => {
    const {store, write, undo, at, home} = workspace({'a.txt': '1'});
    store.prepare();
    await write('a.txt', '2');
    expect(await undo()).toEqual({'a.txt': 'put back'});
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('1');
    store.close();
    expect(existsSync(path.join(home, 'session', 'checkpoints'))).toBe(true);
  });

  it('says only with the first command why it is not possible', async () => {
    const {store, reasons} = workspace({'a.txt': '1'});
    vi.stubEnv('PATH', '/nonexistent');
    onTestFinished(() => void vi.unstubAllEnvs());
    store.prepare();
    await store.settled();
    expect(reasons).toEqual([]);
    const {compared} = await store.around(CODE, (saved) => saved);
    expect(await compared).toEqual({changed: [], uncounted: 'git is not installed'});
    expect(reasons).toEqual(['git is not installed']);
  });
});

describe('a snapshot that is taken while the model writes a command', () => {
  /** A workspace in which commands ran before, so that the snapshot is the one before the next command. */
  async function given(files: Record<string, string> = {'a.txt': '1', 'b.txt': '1', 'sub/c.txt': '1'}) {
    const made = workspace(files);
    const asked = countGit();
    await made.command('true');
    const countLists = () => asked().filter((line) => line.includes('ls-files')).length;
    const ahead = async () => {
      await made.store.settled();
      made.store.prepare(true);
      await (made.store.current as unknown as {runExclusive(work: () => Promise<void>): Promise<void>}).runExclusive(
        async () => undefined,
      );
      countLists();
    };
    return {...made, ahead, countLists};
  }

  it('is the one before the command', async () => {
    const {command, undo, at, ahead, countLists} = await given();
    await ahead();
    expect(await command('echo 2 > a.txt')).toEqual(['a.txt']);
    expect(countLists()).toBe(1);
    await undo();
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('1');
  });

  it('leaves to the person what the person changes, adds and removes after it', async () => {
    const {command, put, at, run, base, ahead} = await given({
      'a.txt': '1',
      'b.txt': '1',
      'sub/c.txt': '1',
      'sub/deep/d.txt': '1',
      'e/e.txt': '1',
    });
    await ahead();
    put('a.txt', 'by the person');
    put('e/new.txt', 'by the person');
    run('rm sub/deep/d.txt');
    await untilLater(at('sub/deep'), base);
    expect(await command('echo 2 > sub/c.txt; echo 2 > fresh.txt')).toEqual(['fresh.txt', 'sub/c.txt']);
  });

  it('gives the command what it moves, although it did not write it', async () => {
    const {command, put, at, base, ahead} = await given({'a.txt': '1', 'b.txt': 'two', 'sub/c.txt': '1'});
    await ahead();
    put('sub/c.txt', 'by the person');
    await untilLater(at('sub/c.txt'), base);
    expect(await command('mv sub moved; mv a.txt b.txt')).toEqual(['a.txt', 'b.txt', 'moved/c.txt', 'sub/c.txt']);
  });

  it('gives the command a folder that it replaces by a file, and what it closes', async () => {
    const {command, ahead} = await given();
    await ahead();
    expect(await command('rm -r sub; echo 2 > sub')).toEqual(['sub', 'sub/c.txt']);
  });

  it('is taken once for calls of several agents', async () => {
    const {store, ahead, countLists} = await given();
    for (let count = 0; count < 5; count += 1) store.prepare(true);
    await ahead();
    for (let count = 0; count < 5; count += 1) store.prepare(true);
    await store.settled();
    expect(countLists()).toBe(1);
  });

  it.each([
    ['a tool wrote', ({write}: Awaited<ReturnType<typeof given>>) => write('b.txt', '2', OTHER)],
    ['another command ran', ({command}: Awaited<ReturnType<typeof given>>) => command('echo 2 > b.txt', OTHER)],
    ['a hook is about to run', ({store}: Awaited<ReturnType<typeof given>>) => store.settled()],
  ])('is not used when %s after it', async (_, work) => {
    const made = await given();
    await made.ahead();
    await work(made);
    made.put('a.txt', 'by the hook');
    made.countLists();
    expect(await made.command('echo 3 > sub/c.txt')).toEqual(['sub/c.txt']);
    expect(made.countLists()).toBe(2);
  });

  it('is not used when it is old', async () => {
    const {command, put, ahead, countLists} = await given();
    await ahead();
    put('a.txt', 'by the person');
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 2_000);
    onTestFinished(() => void vi.restoreAllMocks());
    expect([await command('echo 2 > b.txt'), countLists()]).toEqual([['b.txt'], 2]);
  });

  it('is not taken while another command runs', async () => {
    const {store, command, put, run} = await given();
    const [{promise: begun, resolve: begin}, {promise: ended, resolve: end}] = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ];
    const other = store.around(OTHER, async (saved) => {
      await saved;
      begin();
      await ended;
      return run('echo 2 > b.txt');
    });
    await begun;
    store.prepare(true);
    put('a.txt', '2');
    const mine = await command('echo 2 > sub/c.txt');
    end();
    expect([mine, (await (await other).compared).changed.length]).toEqual([['sub/c.txt'], 3]);
  });
});

describe('the comparison after a command', () => {
  it('comes after its result, and before later writes, undo and lists of changes', async () => {
    const {store, run, write, undo, at} = workspace({'a.txt': '1'});
    let isCompared = false;
    const {compared} = await store.around(CODE, (saved) => saved.then(() => run('echo 2 > a.txt')));
    const noted = compared.then(() => {
      isCompared = true;
    });
    expect(isCompared).toBe(false);
    await write('a.txt', '3', OTHER);
    expect(isCompared).toBe(true);
    await noted;
    const again = await store.around(CODE, (saved) => saved.then(() => run('echo 4 > b.txt')));
    expect(await undo()).toMatchObject({'b.txt': 'removed'});
    expect((await again.compared).changed).toEqual([at('b.txt')]);
    const last = await store.around(OTHER, (saved) => saved.then(() => run('echo 5 > c.txt')));
    await store.settled();
    expect(store.current.ledger.changes.at(-1)).toMatchObject({path: at('c.txt'), by: [OTHER]});
    await last.compared;
  });

  it('comes before the error of what failed', async () => {
    const {store, run, at} = workspace({'a.txt': '1'});
    const failing = store.around(CODE, async (saved) => {
      await saved;
      run('echo 2 > a.txt');
      throw new Error('cut');
    });
    await expect(failing).rejects.toThrow('cut');
    expect(store.current.ledger.changes.map((change) => change.path)).toEqual([at('a.txt')]);
  });
});

describe('without a possible snapshot', () => {
  it('checkpoints say so once, the command runs, and tool writes have checkpoints', async () => {
    const given = workspace({'a.txt': '1'}, {git: false});
    const {command, write, undo, reasons, put, at} = given;
    mkdirSync(at('many'));
    for (let index = 0; index <= 20_000; index++) put(`many/${index}`, '');
    expect(await command('echo 2 > b.txt')).toBe('the workspace is too large: more than 20,000 new files');
    expect(await command('echo 3 > b.txt')).toBe('the workspace is too large: more than 20,000 new files');
    expect(reasons).toEqual(['the workspace is too large: more than 20,000 new files']);
    expect(readFileSync(at('b.txt'), 'utf8')).toBe('3\n');
    await write('a.txt', '2');
    expect(await undo()).toEqual({'a.txt': 'put back'});
  });
});
