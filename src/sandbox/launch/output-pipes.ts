/**
 * Makes pipes for the output of commands, on Linux. What Node calls a pipe is a socket there, and a command cannot open
 * a socket by a name: `> /dev/stdout` would fail. Node cannot make pipes, so named ones are made ahead, many at once.
 * Each is used by one command, and its name is removed when both ends are open.
 */
import {randomUUID} from 'node:crypto';
import {closeSync, constants, mkdirSync, openSync, rmSync} from 'node:fs';
import {Socket} from 'node:net';
import path from 'node:path';
import type {Readable} from 'node:stream';
import {inBackground} from '../../core/util/background.ts';
import {getErrorCode, MiniCcError} from '../../core/util/errors.ts';
import {NO_DESCRIPTORS} from '../../core/util/files/disk-fault.ts';
import {runProgram} from '../../core/util/processes.ts';
import type {SessionFolder} from '../view/session-folder.ts';

interface OutputPipe {
  /** Descriptor to which only the command writes. */
  readonly writer: number;
  /** Must be called once the command has started or has failed to start. @returns the output */
  readonly listen: () => Readable;
}

const PIPES_AT_ONCE = 32;
const SCRIPT = 'command -p mkfifo -m 600 -- "$@"';

export class OutputPipes {
  readonly #names: string[] = [];
  #making: Promise<void> | undefined;

  constructor(private readonly folder: Pick<SessionFolder, 'getFile'>) {}

  /** Makes pipes where none is left, so that `take` waits for a shorter time. */
  prepare(): void {
    if (this.#names.length === 0) inBackground(this.#makeOnce(), () => undefined);
  }

  /**
   * @returns undefined where no pipe can be made, as in a full temporary folder: the command runs without one
   * @throws MiniCcError `SPAWN` where mini-cc has no file descriptors left, with which no command can start
   */
  async take(): Promise<OutputPipe | undefined> {
    try {
      return await this.#take().catch((error: unknown) => {
        if (getErrorCode(error) === 'EMFILE') throw error;
        // A cleaner of temporary files may have removed the pipes that were made before.
        this.#names.length = 0;
        return this.#take();
      });
    } catch (error) {
      if (getErrorCode(error) !== 'EMFILE') return undefined;
      const why = `Could not make a pipe for the output: ${NO_DESCRIPTORS}. Nothing was run.`;
      throw new MiniCcError('SPAWN', why, {cause: error});
    }
  }

  async #take(): Promise<OutputPipe> {
    while (this.#names.length === 0) await this.#makeOnce();
    return openPipe(this.#names.pop()!);
  }

  #makeOnce(): Promise<void> {
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #make(): Promise<void> {
    const folder = this.folder.getFile('pipes');
    mkdirSync(folder, {recursive: true, mode: 0o700});
    // A session has more than one object of this class.
    const batch = randomUUID();
    const names = Array.from({length: PIPES_AT_ONCE}, (_, index) => path.join(folder, `${batch}-${index}`));
    const {exitCode, code, stderr, message} = await runProgram('/bin/sh', ['-c', SCRIPT, 'sh', ...names]);
    if (exitCode !== 0) throw Object.assign(new Error(stderr.trim().split('\n').at(-1) || message), {code});
    this.#names.push(...names);
  }
}

/** Opens both ends. The reading end is opened first, so that neither waits for the other. */
function openPipe(name: string): OutputPipe {
  const reader = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
  let writer: number;
  try {
    writer = openSync(name, constants.O_WRONLY);
    rmSync(name);
  } catch (error) {
    closeSync(reader);
    throw error;
  }
  return {
    writer,
    listen() {
      closeSync(writer);
      return new Socket({fd: reader, readable: true, writable: false});
    },
  };
}
