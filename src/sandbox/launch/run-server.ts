/**
 * Starts a program that continues during the turns and speaks over its standard input and output, plainly or confined.
 * Its whole process group ends with it, and with mini-cc.
 */
import type {Duplex, Readable, Writable} from 'node:stream';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import {startProcess} from '../../core/util/processes.ts';
import type {ConfinedCommand} from '../sandbox.ts';
import {type ProcessGroups, withMark} from './process-groups.ts';
import {send} from './run-shell.ts';

export interface ServerProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment; nothing of mini-cc's own environment is added. */
  readonly env: Readonly<Record<string, string>>;
  /** Returns the command line that confines the program. Absent: it runs plainly. */
  readonly confine?: ((argv: readonly string[]) => ConfinedCommand) | undefined;
  readonly processes: ProcessGroups;
}

export interface RunningServer {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** How the program ended, worded for the end of a sentence: `exit code 1`. Never rejects. */
  readonly ended: Promise<string>;
  /** Closes the input, and ends the whole process group when the program does not end by itself. */
  end(): Promise<void>;
}

/** Milliseconds in which the program may end by itself once its input is closed. */
const GRACE_MS = 300;

/** @throws MiniCcError `SPAWN` when the program cannot be started, and the errors of `Sandbox.confine` */
export async function startServer({
  command,
  args,
  cwd,
  env,
  confine,
  processes,
}: ServerProgram): Promise<RunningServer> {
  const confined = confine?.([command, ...args]);
  const marked = withMark({...confined?.env, ...env});
  const {pid, child, end} = await startProcess(confined?.file ?? command, confined?.args ?? args, {
    cwd,
    env: marked,
    stdio: ['pipe', 'pipe', 'pipe', 'ignore', confined?.input ? 'pipe' : 'ignore', confined?.link ? 'pipe' : 'ignore'],
    killDescendants: true,
    isUsers: true,
  });
  if (pid === undefined) {
    const {code, message} = await end;
    confined?.release();
    throw new MiniCcError('SPAWN', code === 'ENOENT' ? `there is no program ${command} on PATH` : message);
  }
  processes.add(pid, marked);
  confined?.link?.((child.stdio as readonly unknown[])[5] as Duplex);
  if (confined?.input) send(child.stdio[4] as Writable, confined.input);
  const stdin = child.stdin as Writable;
  // Writing to a server that has ended fails. The error is ignored, because `ended` reports the end.
  stdin.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit code ${code}`));
  });
  // The other processes of its group end with it.
  const cleared = ended.then(async () => {
    await processes.end(pid);
    confined?.release();
  });
  inBackground(cleared, neverRejects);
  return {
    stdin,
    ended,
    stdout: child.stdout as Readable,
    stderr: child.stderr as Readable,
    async end() {
      stdin.end();
      const isGone = await Promise.race([
        ended.then(() => true),
        new Promise<false>((resolve) => setTimeout(resolve, GRACE_MS, false)),
      ]);
      if (!isGone) await processes.end(pid);
    },
  };
}
