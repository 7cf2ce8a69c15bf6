/** A shell that is started before it gets its command, and waits for it at a pipe. It ends when the pipe is closed. */
import type {ChildProcess} from 'node:child_process';
import type {Socket} from 'node:net';
import {
  COMMAND,
  type ShellProcess,
  type ShellRun,
  type ShellStart,
  type StartedShell,
  send,
  startForRun,
} from './run-shell.ts';

/** The shell reads its command byte by byte. */
const MAX_BYTES = 4096;

/** Whether a waiting shell reads the command in a short time. */
export function canBeRead(command: string): boolean {
  return Buffer.byteLength(command) <= MAX_BYTES;
}

/** @param start its last argument is the command */
export function withoutCommand<T extends ShellStart>(start: T): T {
  return {...start, args: start.args.slice(0, -1)};
}

export function giveCommand({shell, child}: ShellProcess, command: string): StartedShell {
  send(getInput(child), `${command}\0`);
  return shell;
}

/** Ends the shell without a command. */
export function discard({shell, child}: ShellProcess): void {
  for (const stream of [...shell.output, shell.report]) stream.destroy();
  getInput(child).destroy();
}

export function getInput(child: ChildProcess): Socket {
  return (child.stdio as readonly unknown[])[COMMAND] as Socket;
}

/**
 * Starts the shell of a command that may not begin yet.
 * @param run its last argument is the command
 * @param mayBegin resolves to false when the command must not begin any more
 * @returns undefined then. The command has not begun.
 * @throws MiniCcError `SPAWN` when the program cannot be started
 */
export async function startAhead(
  run: Pick<ShellRun, keyof ShellStart | 'mayWrite' | 'processes'>,
  mayBegin: Promise<boolean>,
): Promise<StartedShell | undefined> {
  const command = run.args.at(-1)!;
  if (!canBeRead(command)) return (await mayBegin) ? (await startForRun(run)).shell : undefined;
  const [isAllowed, waiting] = await Promise.all([mayBegin, startForRun(withoutCommand(run), 'pipe')]);
  if (isAllowed) return giveCommand(waiting, command);
  discard(waiting);
  run.processes.removeWriter(waiting.shell.env);
  return undefined;
}
