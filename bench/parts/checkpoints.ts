/** The time that checkpoints add to a command that may write, in a large repository. */
import {execFileSync} from 'node:child_process';
import {mkdirSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {CheckpointStore} from '../../src/storage/checkpoints/checkpoint-store.ts';
import type {Home} from '../../tests/support/environment.ts';
import {median} from '../statistics.ts';

export const CHECKPOINT_FILES = 20_000;
const LINES_PER_FILE = 100;

interface CheckpointTimes {
  /** Time of the first command of a session, for which the whole repository is read. */
  readonly firstMs: number;
  /** Time of a later command that changes nothing. */
  readonly noChangeMs: number;
  /** Time of a later command that changes one file. */
  readonly oneFileMs: number;
}

/** Creates a repository of 20,000 files. Times are medians in milliseconds, but the first one. */
export async function measureCheckpoints(home: Home, rounds: number): Promise<CheckpointTimes> {
  const root = path.join(realpathSync(home.path), 'large');
  for (let index = 0; index < CHECKPOINT_FILES; index += 1) {
    const folder = path.join(root, `part${index % 100}`, `module${index % 7}`);
    if (index < 700) mkdirSync(folder, {recursive: true});
    writeFileSync(
      path.join(folder, `file${index}.ts`),
      `export const value${index} = ${index};\n`.repeat(LINES_PER_FILE),
    );
  }
  const git = (...args: string[]) => execFileSync('git', args, {cwd: root});
  git('init', '-q');
  git('add', '-A');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'all');
  const store = new CheckpointStore({
    sessionFolder: () => path.join(home.path, 'session'),
    root,
    home: path.join(home.path, '.mini-cc'),
    redact: (label) => label,
    onNone: (why) => {
      throw new Error(why);
    },
  });
  const time = async (work: () => void) => {
    const startedAt = performance.now();
    await store.around({agentId: 'main', label: 'main'}, async () => work());
    return performance.now() - startedAt;
  };
  const noChange: number[] = [];
  const oneFile: number[] = [];
  const firstMs = await time(() => undefined);
  for (let round = 0; round < rounds; round += 1) {
    noChange.push(await time(() => undefined));
    oneFile.push(await time(() => writeFileSync(path.join(root, 'part0/module0/file0.ts'), `${round}\n`)));
  }
  store.close();
  rmSync(root, {recursive: true});
  return {firstMs, noChangeMs: median(noChange), oneFileMs: median(oneFile)};
}
