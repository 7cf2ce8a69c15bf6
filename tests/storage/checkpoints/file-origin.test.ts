/** Files that existed before a command, and that no snapshot had: they only became visible. */
import {existsSync, readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {pause} from '../../support/wait.ts';
import {workspace} from './fixture.ts';

const WHY = 'it is older than the command: it was ignored, too large or elsewhere before, and no checkpoint has it';

/** Files that were made before are older than the next command, also where the clock of their file system is behind. */
const beOlder = () => pause(100, 'the time of a file comes from the clock of its file system');

describe.each([true, false])('undo of a command, with git: %s', (git) => {
  it('leaves a file that is no longer ignored', async () => {
    const {command, undo, at} = await setUp(git);
    await command('rm .gitignore');
    expect(await undo()).toEqual({'.gitignore': 'brought back', '.env': WHY});
    expect(readFileSync(at('.env'), 'utf8')).toBe('KEY=1');
  });

  it('leaves an ignored file and an ignored folder that were renamed', async () => {
    const {command, undo, at} = await setUp(git);
    await command('mv .env env.txt; mv node_modules modules');
    expect(await undo()).toEqual({'env.txt': WHY, 'modules/x/index.js': WHY});
    expect([at('env.txt'), at('modules/x/index.js')].every(existsSync)).toBe(true);
  });

  it('leaves a file that was moved into the workspace', async () => {
    const {command, undo, at} = await setUp(git);
    await command('mv ../letter.txt .');
    expect(await undo()).toEqual({'letter.txt': WHY});
    expect(existsSync(at('letter.txt'))).toBe(true);
  });

  it('leaves a file that was too large before', async () => {
    const {command, undo, put} = await setUp(git);
    put('big.bin', Buffer.alloc(11 * 1024 * 1024));
    await beOlder();
    await command('truncate -s 100 big.bin');
    expect(await undo()).toEqual({'big.bin': WHY});
  });

  it('leaves the files of a nested repository whose .git was removed', async () => {
    const {command, undo, at} = await setUp(git);
    await command('rm -rf sub/.git');
    expect(await undo()).toEqual({'sub/work.txt': WHY});
    expect(existsSync(at('sub/work.txt'))).toBe(true);
  });

  it('undoes the move of a file that a checkpoint has', async () => {
    const {command, undo, at} = await setUp(git);
    await command('mv a.txt b.txt');
    expect(await undo()).toEqual({'a.txt': 'brought back', 'b.txt': 'removed'});
    expect(existsSync(at('b.txt'))).toBe(false);
  });
});

async function setUp(git: boolean) {
  const made = workspace({'.gitignore': '.env\nnode_modules\n', 'a.txt': 'a'}, {git});
  made.put('.env', 'KEY=1');
  made.put('node_modules/x/index.js', '1');
  made.put('../letter.txt', 'dear');
  made.run('mkdir sub && cd sub && git init -q && echo work > work.txt');
  await beOlder();
  return made;
}
