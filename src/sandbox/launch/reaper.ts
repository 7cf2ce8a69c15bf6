/**
 * Ends process groups when mini-cc could not do it: after `kill -9`. A small shell in a session of its own waits at a
 * pipe, which the system closes with mini-cc. What made itself a session of its own (`setsid`) is not found so.
 */
import type {Socket} from 'node:net';
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

  /** This group ends with mini-cc, whatever ends that. */
  watch(group: number): void {
    this.#shell ??= startShell();
    this.#tell(`+${group}\n`);
  }

  forget(group: number): void {
    this.#tell(`-${group}\n`);
  }

  #tell(line: string): void {
    void this.#shell?.then((input) => input.write(line));
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
  // Where it was killed or there is no shell, only `kill -9` leaves processes, as it would without it.
  input.on('error', () => undefined);
  // It must not keep the program alive that it waits for.
  child.unref();
  input.unref?.();
  return input;
}
