/** A shell that is started before it gets its command, and waits for it at a pipe. It ends when the pipe is closed. */
import {type ShellRun, startForRun} from './run-shell.ts';
import type {ShellProcess, ShellStart} from './shell-process.ts';

/** Most bytes of a command for a waiting shell, which reads it byte by byte. */
const MAX_BYTES = 4096;

/** Whether the command is short enough for a waiting shell. */
export function canBeRead(command: string): boolean {
  return Buffer.byteLength(command) <= MAX_BYTES;
}

/** @param start its last argument is the command */
export function withoutCommand<T extends ShellStart>(start: T): T {
  return {...start, args: start.args.slice(0, -1)};
}

/** Ends the shell without a command. */
export function discard({output, report, input}: ShellProcess): void {
  for (const stream of [...output, report]) stream.destroy();
  input?.close();
}

/**
 * Starts the shell of a command that may not begin yet.
 * @param run its last argument is the command
 * @param mayBegin resolves to false when the command must not begin any more
 * @param spare a shell that waits already
 * @returns undefined then. The command has not begun.
 * @throws MiniCcError `SPAWN` when the program cannot be started
 */
export async function startAhead(
  run: Pick<ShellRun, keyof ShellStart | 'mayWrite' | 'processes'>,
  mayBegin: Promise<boolean>,
  spare?: ShellProcess,
): Promise<ShellProcess | undefined> {
  const command = run.args.at(-1)!;
  if (!canBeRead(command)) return (await mayBegin) ? startForRun(run) : undefined;
  const use = async (shell: ShellProcess) => {
    if (run.mayWrite) await run.processes.addWriter(shell.env);
    return shell;
  };
  const starting = spare ? use(spare) : startForRun(withoutCommand(run), 'pipe');
  const [isAllowed, waiting] = await Promise.all([mayBegin, starting]);
  if (isAllowed) {
    waiting.input?.give(command);
    return waiting;
  }
  discard(waiting);
  run.processes.removeWriter(waiting.env);
  return undefined;
}
