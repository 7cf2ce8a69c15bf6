/**
 * Makes pipes for commands, on Linux. What Node calls a pipe is a socket there, and a command cannot open a socket by a
 * name: `> /dev/stdout` would fail. Node cannot make pipes, so named ones are made ahead, many at once. Each is used once,
 * and its name is removed when both ends are open.
 */

import {randomUUID} from 'node:crypto';
import {closeSync, constants, mkdirSync, openSync, rmSync, writeFileSync} from 'node:fs';
import {Socket} from 'node:net';
import path from 'node:path';
import type {Readable} from 'node:stream';
import {inBackground} from '../../core/util/background.ts';
import {getErrorCode, MiniCcError} from '../../core/util/errors.ts';
import {NO_DESCRIPTORS} from '../../core/util/files/disk-fault.ts';
import {quoteForShell} from '../../core/util/text.ts';
import type {SessionFolder} from '../view/session-folder.ts';
import type {HelperShell} from './helper-shell.ts';

const PIPES_AT_ONCE = 64;
/** More are made when fewer are left. */
const FEW_PIPES = 16;

export class NamedPipes {
  readonly #names: string[] = [];
  #making: Promise<void> | undefined;

  constructor(
    private readonly folder: Pick<SessionFolder, 'getFile'>,
    private readonly helper: HelperShell,
  ) {}

  /** Makes pipes where few are left, so that `take` waits for a shorter time. */
  prepare(): void {
    if (this.#names.length < FEW_PIPES) inBackground(this.#makeOnce(), () => undefined);
  }

  /**
   * @returns pipes whose reading ends are open; undefined where none can be made, as in a full temporary folder
   * @throws MiniCcError `SPAWN` where mini-cc has no file descriptors left, with which no command can start
   */
  async take(count: number): Promise<readonly NamedPipe[] | undefined> {
    try {
      return await this.#take(count).catch((error: unknown) => {
        if (getErrorCode(error) === 'EMFILE') throw error;
        // A cleaner of temporary files may have removed the pipes that were made before.
        this.#names.length = 0;
        return this.#take(count);
      });
    } catch (error) {
      if (getErrorCode(error) !== 'EMFILE') return undefined;
      const why = `Could not make a pipe for the output: ${NO_DESCRIPTORS}. Nothing was run.`;
      throw new MiniCcError('SPAWN', why, {cause: error});
    }
  }

  async #take(count: number): Promise<readonly NamedPipe[]> {
    while (this.#names.length < count) await this.#makeOnce();
    const opened: NamedPipe[] = [];
    try {
      for (const name of this.#names.splice(-count)) opened.push(new NamedPipe(name));
      return opened;
    } catch (error) {
      for (const pipe of opened) pipe.close();
      throw error;
    }
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
    const file = path.join(folder, `make-${batch}`);
    const job = this.helper.run((id) => {
      const make = `command -p mkfifo -m 600 -- ${names.map(quoteForShell).join(' ')} 2>/dev/null`;
      writeFileSync(file, `${make}; builtin printf '${id} ended %s\\n' "$?"\n`, {mode: 0o600});
      return file;
    });
    const code = await job.ended;
    rmSync(file, {force: true});
    if (code !== 0) throw new Error(`mkfifo ended with ${code}`);
    this.#names.push(...names);
  }
}

/** A pipe whose reading end is open, so that neither end waits for the other. */
export class NamedPipe {
  readonly #reader: number;

  /** @throws Error of the file system */
  constructor(readonly name: string) {
    this.#reader = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
  }

  /** @returns a descriptor, which its caller closes. @throws Error of the file system */
  openWriter(): number {
    return openSync(this.name, constants.O_WRONLY);
  }

  /**
   * Must be called when the writing end is open, since the pipe would look closed before, and after it when no further
   * process opens the pipe by its name.
   */
  listen(): Readable {
    rmSync(this.name, {force: true});
    return new Socket({fd: this.#reader, readable: true, writable: false});
  }

  close(): void {
    rmSync(this.name, {force: true});
    closeSync(this.#reader);
  }
}
