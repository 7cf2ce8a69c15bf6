/**
 * Ends process groups when mini-cc could not do it: after `kill -9`. A small shell in a session of its own waits at a
 * pipe, which the system closes with mini-cc. What made itself a session of its own (`setsid`) is not found so.
 */
import {type ChildProcess, spawn} from 'node:child_process';
import type {Socket} from 'node:net';

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
  #shell: ChildProcess | undefined;

  /** This group ends with mini-cc, whatever ends that. */
  watch(group: number): void {
    this.#shell ??= startShell();
    this.#tell(`+${group}\n`);
  }

  forget(group: number): void {
    this.#tell(`-${group}\n`);
  }

  #tell(line: string): void {
    this.#shell?.stdin?.write(line);
  }
}

function startShell(): ChildProcess {
  // Any process of the user can read its environment: it has none.
  const shell = spawn('/bin/sh', ['-c', SCRIPT], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
    env: {},
  });
  // Somebody killed it, or there is no shell: then only `kill -9` leaves processes, as it would without it.
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  // It must not keep the program alive that it waits for.
  shell.unref();
  (shell.stdin as unknown as Socket).unref();
  return shell;
}
