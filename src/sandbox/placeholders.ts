/**
 * Creates placeholders for protected places that do not exist: a mount needs a target, and a command cannot create a
 * name that is taken. Placeholders exist while commands run and are removed afterwards.
 *
 * Removing a directory would also remove the mounts that other processes, such as another mini-cc, have on it. So each
 * process puts a directory of its own inside, and the system refuses to remove a directory that is not empty. Git
 * ignores both, because it does not track empty directories.
 */
import {lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {getErrorCode} from '../core/util/errors.ts';
import {onProcessExit} from '../core/util/processes.ts';

const OWNER_FOLDER = /^\.held-by-(\d+)$/;
/** Another process may remove the directory between the two steps that create it. */
const ATTEMPTS = 5;
const NOT_PERMITTED: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

export interface Placeholder {
  /** Path whose parent folder exists. */
  readonly path: string;
  /** Content of a file; absent for a directory. */
  readonly content?: string;
}

export class Placeholders {
  /** Placeholders by path, with the number of commands that need each. */
  readonly #used = new Map<string, {readonly placeholder: Placeholder; readonly count: number}>();
  #stopListening: (() => void) | undefined;
  readonly #onExit = (): void => {
    for (const {placeholder} of this.#used.values()) remove(placeholder, isNoOther);
  };

  /** Whether the path is only a placeholder, made by this process, by another one, or by one that crashed. */
  static isOne({path: place, content}: Placeholder): boolean {
    const stat = lstatSync(place, {throwIfNoEntry: false});
    if (content !== undefined) return stat?.isFile() === true && readFileSync(place, 'utf8') === content;
    if (!stat?.isDirectory()) return false;
    const names = readdirSync(place);
    return names.length > 0 && names.every((name) => OWNER_FOLDER.test(name));
  }

  /**
   * Removes placeholders that a killed mini-cc left. Placeholder files do not name their owner, so they are removed
   * only together with placeholder folders, and only when no live process owns one of these.
   */
  static removeLeft(placeholders: readonly Placeholder[]): void {
    const isFolder = ({content}: Placeholder) => content === undefined;
    const folders = placeholders.filter((each) => isFolder(each) && Placeholders.isOne(each));
    for (const folder of folders) remove(folder, isDead);
    if (folders.length === 0 || folders.some((each) => Placeholders.isOne(each))) return;
    for (const file of placeholders) if (!isFolder(file)) remove(file, isDead);
  }

  /**
   * Creates the placeholder, or counts one more command that needs it.
   * @returns false where this user may not create anything, so that a command of this user cannot either
   * @throws Error other errors of the file system
   */
  acquire(placeholder: Placeholder): boolean {
    const {path: place} = placeholder;
    try {
      // Another process may have removed one that this process uses.
      make(placeholder);
    } catch (error) {
      if (NOT_PERMITTED.has(getErrorCode(error) ?? '')) return false;
      throw error;
    }
    this.#stopListening ??= onProcessExit(this.#onExit);
    this.#used.set(place, {placeholder, count: (this.#used.get(place)?.count ?? 0) + 1});
    return true;
  }

  release(place: string): void {
    const entry = this.#used.get(place);
    if (entry === undefined) return;
    if (entry.count > 1) {
      this.#used.set(place, {...entry, count: entry.count - 1});
      return;
    }
    this.#used.delete(place);
    if (this.#used.size === 0) {
      this.#stopListening?.();
      this.#stopListening = undefined;
    }
    remove(entry.placeholder, isNoOther);
  }
}

function make({path: place, content}: Placeholder): void {
  if (content !== undefined) {
    // `wx` does not follow links. A placeholder that is left from a crash is used again.
    if (!Placeholders.isOne({path: place, content})) writeFileSync(place, content, {flag: 'wx'});
    return;
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      makeFolder(place);
      makeFolder(path.join(place, `.held-by-${process.pid}`));
      return;
    } catch (error) {
      if (attempt === ATTEMPTS || getErrorCode(error) !== 'ENOENT') throw error;
    }
  }
}

/** Creates one level at a time, because on some file systems Node's recursive `mkdir` never ends. */
function makeFolder(place: string): void {
  try {
    mkdirSync(place);
  } catch (error) {
    if (getErrorCode(error) !== 'EEXIST') throw error;
  }
}

/**
 * Removes a placeholder. One that cannot be removed belongs to another program, which wrote into it or removed it.
 * @param mayRemove whether the claim of this process on the placeholder has ended
 */
function remove(placeholder: Placeholder, mayRemove: (pid: number) => boolean): void {
  const {path: place} = placeholder;
  try {
    if (!lstatSync(place).isDirectory()) {
      if (Placeholders.isOne(placeholder)) unlinkSync(place);
      return;
    }
    for (const name of readdirSync(place)) {
      const pid = Number(OWNER_FOLDER.exec(name)?.[1]);
      if (pid > 0 && mayRemove(pid)) rmdirSync(path.join(place, name));
    }
    rmdirSync(place);
  } catch {
    // Another program uses the place or has removed it.
  }
}

function isNoOther(pid: number): boolean {
  return pid === process.pid || isDead(pid);
}

function isDead(pid: number): boolean {
  try {
    return !process.kill(pid, 0);
  } catch (error) {
    return getErrorCode(error) !== 'EPERM';
  }
}
