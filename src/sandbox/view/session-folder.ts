/**
 * Holds the temporary files of one session. The folder is created when a command first needs it, and removed at the
 * end.
 */
import {existsSync, mkdirSync, mkdtempSync, readdirSync} from 'node:fs';
import path from 'node:path';
import {
  createTemporaryFolder,
  listTemporaryFolders,
  removeTemporaryFolder,
} from '../../core/util/files/temporary-folder.ts';
import {onProcessExit} from '../../core/util/processes.ts';

/** Name of the folder for commands. */
const TEMPORARY = 'tmp';

export class SessionFolder {
  #folder: string | undefined;
  #stopListening: (() => void) | undefined;

  /** @param home mini-cc's own folder, for when the system's temporary folder cannot be used */
  constructor(private readonly home: string) {}

  /**
   * Absolute, with links resolved, mode 0700. Confined commands must not write in it. Another one takes its place when a
   * command or a cleaner of temporary files has removed it. @throws Error of the file system
   */
  get path(): string {
    if (this.#folder === undefined || !existsSync(path.join(this.#folder, TEMPORARY))) {
      this.#stopListening?.();
      if (this.#folder !== undefined) removeTemporaryFolder(this.#folder);
      this.#folder = createTemporaryFolder(this.home);
      mkdirSync(path.join(this.#folder, TEMPORARY), {mode: 0o700});
      this.#stopListening = onProcessExit(() => this.close());
    }
    return this.#folder;
  }

  /** `TMPDIR` of the session's commands, inside the session's folder. */
  get temporary(): string {
    return path.join(this.path, TEMPORARY);
  }

  /** Returns the path of a file of mini-cc that commands may read but not write. */
  getFile(name: string): string {
    return path.join(this.path, name);
  }

  /** Creates a folder for one command. Its caller removes it when the command has ended. */
  createPrivate(): string {
    return mkdtempSync(path.join(this.path, 'command-'));
  }

  /** Returns the names in `temporary`. */
  list(): string[] {
    return readdirSync(this.temporary);
  }

  /** Returns the folders of all sessions, including those of other processes. */
  listAll(): string[] {
    return listTemporaryFolders(path.dirname(this.path)).filter((place) => existsSync(path.join(place, TEMPORARY)));
  }

  /**
   * Removes the folder with everything that commands left in it. Where a mount that a command left prevents it, the rest
   * goes at a later start.
   */
  close(): void {
    if (this.#folder === undefined) return;
    this.#stopListening?.();
    removeTemporaryFolder(this.#folder);
    this.#folder = undefined;
  }
}
