/** The time that the sandbox adds to a command. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import type {Writable} from 'node:stream';
import {createSandbox, type SandboxProfile} from '../src/sandbox/index.ts';
import type {Home} from '../tests/support/environment.ts';
import {measureInRounds} from './statistics.ts';

/** Medians in milliseconds. */
interface ConfinedTimes {
  readonly plainMs: number;
  readonly readOnlyMs: number;
  /** In an empty workspace, where the sandbox creates all of its placeholders. */
  readonly workspaceWriteMs: number;
}

/** Undefined where no sandbox works. */
export async function measureConfined(home: Home, rounds: number): Promise<ConfinedTimes | undefined> {
  const sandbox = createSandbox({home: '/nonexistent', miniCcHome: `${home.path}/.mini-cc`});
  if (!(await sandbox.status()).available) return undefined;
  const command = ['bash', '-c', 'true'];
  const folders = {cwd: home.path, root: home.path, extraRoots: []};
  const runConfined = async (profile: SandboxProfile) => {
    const startedAt = performance.now();
    const {file, args, input, release} = sandbox.confine(profile, command, folders);
    await run([file, ...args], input);
    release();
    return performance.now() - startedAt;
  };
  const times = await measureInRounds(rounds, {
    plain: async () => {
      const startedAt = performance.now();
      await run(command);
      return performance.now() - startedAt;
    },
    readOnly: () => runConfined('read-only'),
    workspaceWrite: () => runConfined('workspace-write'),
  });
  return {plainMs: times.plain, readOnlyMs: times.readOnly, workspaceWriteMs: times.workspaceWrite};
}

async function run([file = '', ...args]: readonly string[], input?: Uint8Array): Promise<void> {
  const child = spawn(file, args, {stdio: ['ignore', 'ignore', 'ignore', 'ignore', input ? 'pipe' : 'ignore']});
  (child.stdio[4] as Writable | null)?.end(input);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${file} ended with ${code}`);
}
