/**
 * Attempts to lead the file tools out of the workspace: another program keeps exchanging a folder, or a file, with a link,
 * between the decision about a call and what the call does. Each with a control: the same by plain paths does leave.
 */
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createFileLedger, WriteLog} from '../../../src/core/turn/file-ledger.ts';
import {FileLocks} from '../../../src/tools/files/change-file.ts';
import {createEditFile} from '../../../src/tools/files/edit-file.ts';
import {createReadFile} from '../../../src/tools/files/read-file.ts';
import {createWriteFile} from '../../../src/tools/files/write-file.ts';
import {fixture} from '../fixture.ts';

const writeTool = createWriteFile(new FileLocks());
const editTool = createEditFile(new FileLocks());

/** renameat2 with RENAME_EXCHANGE, as often as it can. */
const RENAMEAT2 = process.arch === 'x64' ? 316 : 276;
const SWAPPER = `$| = 1; print "ready\\n";
while (1) { syscall(${RENAMEAT2}, -100, $ARGV[0], -100, $ARGV[1], 2) == 0 or die "$!"; select(undef, undef, undef, rand(0.0004)); }`;

async function keepSwapping(one: string, other: string): Promise<ChildProcess> {
  const child = spawn('perl', ['-e', SWAPPER, one, other], {stdio: ['ignore', 'pipe', 'inherit']});
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout!, 'data');
  return child;
}

const SECRET = 'outside, and not to be seen';
const WRITES = 150;

/** @param swapped the folder of the files, or the one file. */
async function setUp(swapped: 'folder' | 'file') {
  const made = fixture();
  const {root, outside} = made;
  mkdirSync(join(root, 'dir'));
  for (const place of [join(root, 'dir'), outside]) writeFileSync(join(place, 'a.txt'), 'inside');
  writeFileSync(join(outside, 'a.txt'), SECRET);
  const one = swapped === 'folder' ? join(root, 'dir') : join(root, 'dir/a.txt');
  const target = swapped === 'folder' ? outside : join(outside, 'a.txt');
  symlinkSync(target, join(root, 'link'));
  const swapper = await keepSwapping(one, join(root, 'link'));
  /** What was written or created outside. */
  const leaks = () =>
    readdirSync(outside).filter((name) => name !== 'a.txt' || readFileSync(join(outside, name), 'utf8') !== SECRET);
  return {...made, swapper, leaks, file: join(root, 'dir/a.txt')};
}

describe.runIf(process.platform === 'linux').each(['folder', 'file'] as const)(
  'while a %s is swapped for a link',
  (swapped) => {
    test('write_file and edit_file never write outside of the workspace, and plain writes do', async () => {
      const {root, context, leaks, swapper, file} = await setUp(swapped);
      const descriptors = readdirSync('/proc/self/fd').length;
      let [written, refused] = [0, 0];
      for (let count = 0; count < WRITES; count += 1) {
        // Decided while the path was the folder's.
        const path = swapped === 'folder' && count % 2 === 0 ? join(root, `dir/new-${count}.txt`) : file;
        const files = createFileLedger(new WriteLog(), 'main');
        files.recordRead(path, Buffer.from('inside'));
        const more = context({places: [path], files});
        const work =
          count % 3 === 0 && path === file
            ? editTool
                .run({path, old_string: 'inside', new_string: 'inside'.toUpperCase()}, more)
                .then(async (result) => {
                  if (result.isError) throw new Error(String(result.content));
                  await editTool.run({path, old_string: 'INSIDE', new_string: 'inside'}, more);
                })
            : writeTool.run({path, content: path === file ? 'inside' : 'new'}, more);
        await work.then(
          () => (written += 1),
          () => (refused += 1),
        );
      }
      expect(leaks()).toEqual([]);
      expect(readdirSync('/proc/self/fd').length).toBeLessThan(descriptors + 10);
      expect(written, `${refused} refused`).toBeGreaterThan(0);
      expect(refused).toBeGreaterThan(0);
      for (let count = 0; count < 2000 && leaks().length === 0; count += 1) {
        await writeFile(join(root, swapped === 'folder' ? `dir/naive-${count}.txt` : 'dir/a.txt'), 'x').catch(
          () => undefined,
        );
      }
      expect(leaks()).not.toEqual([]);
      swapper.kill('SIGKILL');
    });

    test('read_file never shows what lies outside, and plain reads do', async () => {
      const {context, file} = await setUp(swapped);
      const seen = {inside: 0, refused: 0};
      for (let count = 0; count < WRITES; count += 1) {
        await createReadFile()
          .run({path: file}, context({places: [file]}))
          .then(
            ({content}) => {
              expect(content).not.toContain(SECRET);
              seen.inside += 1;
            },
            () => (seen.refused += 1),
          );
      }
      expect(seen.inside).toBeGreaterThan(0);
      expect(seen.refused).toBeGreaterThan(0);
      let shown = false;
      for (let count = 0; count < 2000 && !shown; count += 1) shown = (await readFile(file, 'utf8')).includes(SECRET);
      expect(shown).toBe(true);
    });
  },
);
