/** The temporary files of one session: made when a command first needs it, removed at the end. */
import {existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {onProcessExit} from '../../core/util/processes.ts';

const PREFIX = 'mini-cc-';
/** The system adds six letters. */
const NAME = /^mini-cc-[A-Za-z0-9]{6}$/;
/** What is for the commands in it. */
const TEMPORARY = 'tmp';

export class SessionFolder {
  #folder: string | undefined;
  #stopListening: (() => void) | undefined;
  readonly #onClose: (() => void)[] = [];

  /** Absolute, links resolved, 0700. Confined commands must not write in it. @throws Error of the file system */
  get path(): string {
    return this.#open();
  }

  /** For the commands of the session: `TMPDIR`, within it. */
  get temporary(): string {
    return path.join(this.#open(), TEMPORARY);
  }

  /** For mini-cc: a file that commands read and do not write. */
  getFile(name: string): string {
    return path.join(this.#open(), name);
  }

  /** For one command alone, which removes it at its end. */
  createPrivate(): string {
    return mkdtempSync(path.join(this.#open(), 'command-'));
  }

  /** What lies in `temporary` now: names. */
  list(): string[] {
    return readdirSync(this.temporary);
  }

  /** The folders of all sessions, also of other processes. */
  listAll(): string[] {
    const around = path.dirname(this.path);
    const places = readdirSync(around).flatMap((name) => (NAME.test(name) ? path.join(around, name) : []));
    return places.filter((place) => existsSync(path.join(place, TEMPORARY)));
  }

  /** @param listener called before the folder is removed */
  onClose(listener: () => void): void {
    this.#onClose.push(listener);
  }

  /** Removes it with all that commands left in it. What cannot be removed stays. */
  close(): void {
    if (this.#folder === undefined) return;
    this.#stopListening?.();
    for (const listener of this.#onClose.splice(0)) listener();
    const folder = this.#folder;
    this.#folder = undefined;
    try {
      rmSync(folder, {recursive: true, force: true});
    } catch {
      // Such as a mount that a command left there: the system cleans its temporary folder itself.
    }
  }

  #open(): string {
    if (this.#folder === undefined) {
      this.#folder = mkdtempSync(path.join(realpathSync(tmpdir()), PREFIX));
      mkdirSync(path.join(this.#folder, TEMPORARY), {mode: 0o700});
      this.#stopListening = onProcessExit(() => this.close());
    }
    return this.#folder;
  }
}
