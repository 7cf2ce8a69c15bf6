/**
 * Ends process groups when mini-cc cannot do it, after `kill -9`. A small shell in a session of its own waits at a
 * pipe, which the system closes with mini-cc. It does not find a process that made a session of its own (`setsid`).
 */
import type {Socket} from 'node:net';
import {inBackground} from '../../core/util/background.ts';
import {startProcess} from '../../core/util/processes.ts';

/** `+7` adds a group and `-7` removes it. At the end of its input the script kills the groups that are left. */
const SCRIPT = `
groups=
while read -r line; do
  id=\${line#?}
  rest=
  for each in $groups; do [ "$each" = "$id" ] || rest="$rest $each"; done
  case $line in +*) rest="$rest $id" ;; esac
  groups=$rest
done
for each in $groups; do kill -s KILL -- "-$each"; done 2>/dev/null
`;

export class Reaper {
  /** The shell's standard input. */
  #shell: Promise<Socket> | undefined;

  /** Makes the group end with mini-cc, even after `kill -9`. */
  watch(group: number): void {
    this.#shell ??= startShell();
    this.#send(`+${group}\n`);
  }

  forget(group: number): void {
    this.#send(`-${group}\n`);
  }

  #send(line: string): void {
    if (!this.#shell) return;
    const sent = this.#shell.then((input) => input.write(line));
    // A failure is ignored: without the reaper, processes are left only when mini-cc is killed.
    inBackground(sent, () => undefined);
  }
}

async function startShell(): Promise<Socket> {
  const {child} = await startProcess('/bin/sh', ['-c', SCRIPT], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
    // Any process of the user can read the environment of the shell, so it is empty.
    env: {},
  });
  const input = child.stdin as unknown as Socket;
  // The shell was killed or did not start. Processes are then left only after `kill -9` of mini-cc.
  input.on('error', () => undefined);
  // The shell waits for the end of mini-cc and must not delay it.
  child.unref();
  input.unref?.();
  return input;
}
