/**
 * Stands in for protected places that are not there: a mount needs something to lie on, and a name that is taken
 * cannot be made by a command. They are there while commands run, and gone afterwards.
 *
 * A directory is taken away only when nobody else has it mounted, another mini-cc for instance: its removal would take
 * their mount away too. So each process puts a directory of its own inside, and the system refuses to remove what is not
 * empty. Both are invisible to git, which knows no empty directories.
 */
import {lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';

const HOLDER = /^\.held-by-(\d+)$/;
/** Somebody else may take the directory away between our two steps. */
const ATTEMPTS = 5;
const MAY_NOT: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

export interface Placeholder {
  /** The folder that it lies in is there. */
  readonly path: string;
  /** Absent for a directory. */
  readonly content?: string;
}

export class Placeholders {
  /** By path, with how many commands need it. */
  readonly #held = new Map<string, {readonly placeholder: Placeholder; readonly count: number}>();
  readonly #onExit = (): void => {
    for (const {placeholder} of this.#held.values()) remove(placeholder);
  };

  /** Whether what lies there is only a placeholder, ours or another process's, or one that a crash left. */
  static isOne({path: place, content}: Placeholder): boolean {
    const stat = lstatSync(place, {throwIfNoEntry: false});
    if (content !== undefined) return stat?.isFile() === true && readFileSync(place, 'utf8') === content;
    if (!stat?.isDirectory()) return false;
    const names = readdirSync(place);
    return names.length > 0 && names.every((name) => HOLDER.test(name));
  }

  /**
   * @returns false where this user may make nothing: then nobody else who runs as this user can either.
   * @throws what else the file system says
   */
  hold(placeholder: Placeholder): boolean {
    const {path: place} = placeholder;
    try {
      if (!this.#held.has(place)) make(placeholder);
    } catch (error) {
      if (MAY_NOT.has((error as NodeJS.ErrnoException).code ?? '')) return false;
      throw error;
    }
    if (this.#held.size === 0) process.on('exit', this.#onExit);
    this.#held.set(place, {placeholder, count: (this.#held.get(place)?.count ?? 0) + 1});
    return true;
  }

  release(place: string): void {
    const held = this.#held.get(place);
    if (held === undefined) return;
    if (held.count > 1) {
      this.#held.set(place, {...held, count: held.count - 1});
      return;
    }
    this.#held.delete(place);
    if (this.#held.size === 0) process.off('exit', this.#onExit);
    remove(held.placeholder);
  }
}

function make({path: place, content}: Placeholder): void {
  if (content !== undefined) {
    // `wx` follows no link. What a crash left is taken over.
    if (!Placeholders.isOne({path: place, content})) writeFileSync(place, content, {flag: 'wx'});
    return;
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      makeFolder(place);
      makeFolder(path.join(place, `.held-by-${process.pid}`));
      return;
    } catch (error) {
      if (attempt === ATTEMPTS || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

/** Step by step: on some file systems Node's own way of making several at once never ends. */
function makeFolder(place: string): void {
  try {
    mkdirSync(place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** What cannot be removed is not ours any more: somebody put something into it, or took it away. */
function remove(placeholder: Placeholder): void {
  const {path: place} = placeholder;
  try {
    if (!lstatSync(place).isDirectory()) {
      if (Placeholders.isOne(placeholder)) unlinkSync(place);
      return;
    }
    for (const name of readdirSync(place)) {
      const pid = Number(HOLDER.exec(name)?.[1]);
      if (pid === process.pid || (pid > 0 && !isAlive(pid))) rmdirSync(path.join(place, name));
    }
    rmdirSync(place);
  } catch {
    // See above.
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
