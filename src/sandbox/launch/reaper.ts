/**
 * Ends process groups when mini-cc could not do it: after `kill -9`. A small shell in a session of its own waits at a
 * pipe, which the system closes with mini-cc. It does not find a process that made a session of its own (`setsid`).
 */
import type {Socket} from 'node:net';
import {inBackground} from '../../core/util/background.ts';
import {startProcess} from '../../core/util/processes.ts';

/** `+7` names a group, `-7` takes it back; at the end of its input it kills those that are left. */
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

  /** Ends this group with mini-cc, also after `kill -9`. */
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
    // Without the reaper only a mini-cc that is killed leaves processes behind.
    inBackground(sent, () => undefined);
  }
}

async function startShell(): Promise<Socket> {
  const {child} = await startProcess('/bin/sh', ['-c', SCRIPT], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
    // Any process of the user can read its environment: it has none.
    env: {},
  });
  const input = child.stdin as unknown as Socket;
  // The shell was killed, or there is none: then only `kill -9` of mini-cc leaves processes behind.
  input.on('error', () => undefined);
  // The shell waits for the end of mini-cc and must not delay it.
  child.unref();
  input.unref?.();
  return input;
}
