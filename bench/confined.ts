/** What the sandbox adds to a command. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createSandbox} from '../src/sandbox/index.ts';
import type {Home} from '../tests/support/environment.ts';
import {interleave} from './statistics.ts';

export interface Confined {
  readonly plainMs: number;
  readonly confinedMs: number;
}

/** Undefined where commands can't be confined. */
export async function measureConfined(home: Home, rounds: number): Promise<Confined | undefined> {
  const sandbox = createSandbox({home: home.path, miniCcHome: `${home.path}/.mini-cc`});
  if (!(await sandbox.status()).available) return undefined;
  const command = ['bash', '-c', 'true'];
  const place = {cwd: home.path, root: home.path, extraRoots: []};
  const times = await interleave(rounds, {
    plain: () => timeOf(command),
    confined: () => {
      const {file, args} = sandbox.confine('read-only', command, place);
      return timeOf([file, ...args]);
    },
  });
  return {plainMs: times.plain, confinedMs: times.confined};
}

async function timeOf([file = '', ...args]: readonly string[]): Promise<number> {
  const began = performance.now();
  const child = spawn(file, args, {stdio: 'ignore'});
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${file} ended with ${code}`);
  return performance.now() - began;
}
