/** What checkpoints add to a command that may write, in a large repository. */
import {execFileSync} from 'node:child_process';
import {mkdirSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {CheckpointStore} from '../src/storage/checkpoints/checkpoint-store.ts';
import type {Home} from '../tests/support/environment.ts';
import {median} from './statistics.ts';

export const CHECKPOINT_FILES = 20_000;
const LINES = 100;

export interface CheckpointTimes {
  /** Of the first command of a session: the repository is looked at as a whole. */
  readonly firstMs: number;
  /** Of each one after it, that changes nothing, and that changes one file. */
  readonly idleMs: number;
  readonly oneFileMs: number;
}

export async function measureCheckpoints(home: Home, rounds: number): Promise<CheckpointTimes> {
  const root = path.join(realpathSync(home.path), 'large');
  for (let index = 0; index < CHECKPOINT_FILES; index += 1) {
    const folder = path.join(root, `part${index % 100}`, `module${index % 7}`);
    if (index < 700) mkdirSync(folder, {recursive: true});
    writeFileSync(path.join(folder, `file${index}.ts`), `export const value${index} = ${index};\n`.repeat(LINES));
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
    const began = performance.now();
    await store.around({agentId: 'main', label: 'main'}, async () => work());
    return performance.now() - began;
  };
  const idle: number[] = [];
  const oneFile: number[] = [];
  const firstMs = await time(() => undefined);
  for (let round = 0; round < rounds; round += 1) {
    idle.push(await time(() => undefined));
    oneFile.push(await time(() => writeFileSync(path.join(root, 'part0/module0/file0.ts'), `${round}\n`)));
  }
  store.close();
  rmSync(root, {recursive: true});
  return {firstMs, idleMs: median(idle), oneFileMs: median(oneFile)};
}
