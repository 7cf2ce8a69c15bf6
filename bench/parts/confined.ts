/** The time that the sandbox adds to a command. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {homedir} from 'node:os';
import type {Writable} from 'node:stream';
import {setTimeout as delay} from 'node:timers/promises';
import {createSandbox, type SandboxProfile} from '../../src/sandbox/index.ts';
import type {Home} from '../../tests/support/environment.ts';
import {measureInRounds} from '../statistics.ts';

/** The system takes namespaces apart after their command has ended: the next measure would pay for that. */
const QUIET_MS = 30;
const BARE = [
  ...['bwrap', '--ro-bind', '/', '/', '--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc'],
  ...[
    '--unshare-uts',
    '--cap-drop',
    'ALL',
    '--new-session',
    '--die-with-parent',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--',
  ],
];

/** Medians in milliseconds. */
export interface ConfinedTimes {
  readonly plainMs: number;
  /** The least that a sandbox costs: bwrap with the same namespaces, and the whole file system read-only. */
  readonly bareMs: number;
  readonly readOnlyMs: number;
  /** In an empty workspace, where the sandbox creates all of its placeholders. */
  readonly workspaceWriteMs: number;
}

/** Undefined where no sandbox works. */
export async function measureConfined(home: Home, rounds: number): Promise<ConfinedTimes | undefined> {
  // With the tools and repositories of the user who runs this.
  const sandbox = createSandbox({home: homedir(), miniCcHome: `${home.path}/.mini-cc`});
  if (!(await sandbox.status()).available) return undefined;
  const command = ['bash', '-c', 'true'];
  const folders = {cwd: home.path, root: home.path, extraRoots: [], env: process.env as Record<string, string>};
  const runConfined = async (profile: SandboxProfile) => {
    await delay(QUIET_MS);
    const startedAt = performance.now();
    const {file, args, input, release} = sandbox.confine(profile, command, folders);
    await run([file, ...args], input);
    release();
    return performance.now() - startedAt;
  };
  const times = await measureInRounds(rounds, {
    plain: async () => {
      await delay(QUIET_MS);
      const startedAt = performance.now();
      await run(command);
      return performance.now() - startedAt;
    },
    bare: async () => {
      await delay(QUIET_MS);
      const startedAt = performance.now();
      await run([...BARE, ...command]);
      return performance.now() - startedAt;
    },
    readOnly: () => runConfined('read-only'),
    workspaceWrite: () => runConfined('workspace-write'),
  });
  sandbox.folder.close();
  return {plainMs: times.plain, bareMs: times.bare, readOnlyMs: times.readOnly, workspaceWriteMs: times.workspaceWrite};
}

async function run([file = '', ...args]: readonly string[], input?: Uint8Array): Promise<void> {
  const child = spawn(file, args, {stdio: ['ignore', 'ignore', 'ignore', 'ignore', input ? 'pipe' : 'ignore']});
  (child.stdio[4] as Writable | null)?.end(input);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${file} ended with ${code}`);
}
