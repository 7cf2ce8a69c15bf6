/** Connects the command line with its process: environment, output streams and signals. */
import {fstatSync} from 'node:fs';
import {homedir} from 'node:os';
import {getKnownSecrets} from '../core/secrets/known-secrets.ts';
import {Redactor} from '../core/secrets/redaction.ts';
import {inBackground, neverRejects} from '../core/util/background.ts';
import {tryOr} from '../core/util/errors.ts';
import {showControls} from '../core/util/text.ts';
import {EXIT_CODES} from './start.ts';

/** Creates a redactor for use without a session. It knows only the keys that the environment shows. */
export function createEnvironmentRedactor(env: NodeJS.ProcessEnv): Redactor {
  // The working directory may have been removed. The error that reports this is printed through this redactor.
  const folders = tryOr(() => [process.cwd()], []);
  return new Redactor(getKnownSecrets(env, [], [...folders, homedir()]));
}

/**
 * Creates a function that writes to a stream. A terminal gets visible control characters; files and pipes get the
 * unchanged text.
 */
export function createWriter(stream: NodeJS.WriteStream): (text: string) => void {
  return (text) => stream.write(stream.isTTY ? showControls(text) : text);
}

/** Decides what happens when the reader of standard output leaves before the end (`| head -1`). */
export interface Pipes {
  onClosed: () => void;
}

/** Watches the output streams. By default, a reader that leaves ends the program, because it has read enough. */
export function watchPipes(): Pipes {
  const pipes: Pipes = {onClosed: () => process.exit(process.exitCode ?? 0)};
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // The terminal was closed, and SIGHUP ends this process.
      if (error.code === 'EIO') return;
      // When only the progress cannot be written, since its reader has left or its disk is full, the answer still counts,
      // unless both streams go to one place (`2>&1 | head`).
      if (stream === process.stderr && !isSameFile(1, 2)) return;
      if (error.code !== 'EPIPE') throw error;
      pipes.onClosed();
    });
  }
  return pipes;
}

/** Milliseconds between two looks at the reader. */
const READER_CHECK_MS = 3_000;

/**
 * Tells `pipes` when standard output is not read any more, although nothing is written. Node notices it only
 * when it writes, and while a model does not answer nothing is written. For the kernel, a pipe without a reader, and a socket
 * whose other end is closed, can be read at once (`read -t 0` of bash 4 and later).
 */
export function watchReader(pipes: Pipes): void {
  const stat = tryOr(() => fstatSync(1), undefined);
  // A socket for both ways can be read as soon as the other side sends nothing more.
  if (!stat?.isFIFO() && (!stat?.isSocket() || isSameFile(0, 1))) return;
  const check = async () => {
    const {startProcess} = await import('../core/util/processes.ts');
    const {end} = await startProcess('bash', ['-c', 'read -t 0'], {stdio: [1, 'ignore', 'ignore']});
    if ((await end).exitCode === 0) pipes.onClosed();
    else wait();
  };
  const wait = () => setTimeout(() => inBackground(check(), neverRejects), READER_CHECK_MS).unref();
  wait();
}

function isSameFile(one: number, other: number): boolean {
  const [a, b] = [fstatSync(one), fstatSync(other)];
  return a.dev === b.dev && a.ino === b.ino;
}

/** Milliseconds. No tool takes longer to end. */
const MAX_CLOSING_MS = 3_000;

/**
 * Ends the work in order at a signal: tools and subagents first, then the transcript, then the process.
 * @param close ends the session. It is called once, with the exit code. A second signal does not wait for it.
 */
export function onSignals(close: (code: number) => Promise<unknown>): void {
  let closing = false;
  for (const [signal, code] of Object.entries(EXIT_CODES)) {
    process.on(signal, () => {
      if (closing) process.exit(code);
      closing = true;
      setTimeout(() => process.exit(code), MAX_CLOSING_MS).unref();
      inBackground(
        close(code).finally(() => process.exit(code)),
        neverRejects,
      );
    });
  }
}
