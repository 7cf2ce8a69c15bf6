/**
 * Exchanges names in a folder without a pause, as a hostile program may do while mini-cc works. Linux only: each exchange
 * is one call of renameat2(2), so that a name is there at every moment, sometimes a folder or file, sometimes a link.
 */
import {spawnSync} from 'node:child_process';
import {readlinkSync} from 'node:fs';
import path from 'node:path';
import type {Workspace} from '../../src/core/contract/permission.ts';
import type {Sandbox} from '../../src/sandbox/index.ts';
import {Launcher} from '../../src/sandbox/launch/launch.ts';
import {ProcessGroups} from '../../src/sandbox/launch/process-groups.ts';
import {until} from './wait.ts';

/** Number of the system call renameat2. */
const CALLS: Readonly<Partial<Record<NodeJS.Architecture, number>>> = {x64: 316, arm64: 276};
const CALL = CALLS[process.arch];

/** Perl makes the system call, because Node has no function for it. */
export function hasSwapper(): boolean {
  return process.platform === 'linux' && CALL !== undefined && spawnSync('perl', ['-e', '1']).status === 0;
}

/**
 * Exchanges each pair of names until the function that it returns is called. Its short pauses let a reader run between
 * two exchanges, also where there is one processor.
 * @param pairs names relative to the workspace; of each pair the second one is a link at first
 * @param launch where the program runs: in the sandbox, as a confined command, or plainly, as any other program
 */
export async function startSwapper(
  sandbox: Sandbox,
  workspace: Workspace,
  pairs: readonly (readonly [string, string])[],
  launch: 'plain' | 'workspace-write',
): Promise<() => Promise<void>> {
  const calls = pairs.map(
    (_, at) => `syscall(${CALL}, -100, $n[${2 * at}], -100, $n[${2 * at + 1}], 2) == 0 or die $!;`,
  );
  const stop = new AbortController();
  let said = '';
  const end = new Launcher(sandbox, new ProcessGroups()).run({
    command: `exec perl -e '@n = @ARGV; while (1) { ${calls.join(' ')} select undef, undef, undef, rand(++$i % 2 ? 0.00005 : 0.0002) }' ${pairs.flat().join(' ')} 2>&1`,
    attempt: {launch, checkpoint: false},
    workspace,
    timeoutMs: 3_600_000,
    signal: stop.signal,
    outlivesSignal: false,
    onText: (text) => {
      said += text;
    },
  });
  const hasEnded = end.then(() => true);
  const first = path.join(workspace.root, pairs[0]![0]);
  await until(async () => isLink(first) || (said !== '' && (await hasEnded)), 'the first exchange');
  if (said !== '') throw new Error(said);
  return async () => {
    stop.abort();
    await end;
    if (said !== '') throw new Error(said);
  };
}

function isLink(file: string): boolean {
  try {
    return readlinkSync(file) !== '';
  } catch {
    return false;
  }
}
