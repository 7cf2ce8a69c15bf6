/**
 * Proves of a command that it only reads: by a closed list of programs and options, and by what bash is known to do with
 * the words. In doubt it is not proven. It says nothing about which places may be read: that is judged by `reads`.
 */

import {parseShell} from '../../../../src/core/permissions/shell/command-parser.ts';
import {CommandWalk} from '../../../../src/core/permissions/shell/command-walk.ts';
import {START} from '../../../../src/core/permissions/shell/shell-state.ts';
import {NotProven} from '../../../../src/core/permissions/shell/shell-words.ts';

export interface Proven {
  readonly proven: true;
  /**
   * Paths that it may read, as its words have them: relative to where it starts, `~` for the home directory, `..` not
   * yet taken out, since behind a link it leads elsewhere.
   */
  readonly reads: readonly string[];
  /** Patterns of file names; each file that matches is read. */
  readonly globs: readonly string[];
  /** Where git looks for a repository, whose settings may name programs to run. */
  readonly repositories: readonly string[];
}

export type Proof = Proven | {readonly proven: false; readonly because: string};

/** @returns whether every part of `command`, run by bash, is known to only read. Never rejects for a command's sake. */
export async function proveReadOnly(command: string): Promise<Proof> {
  try {
    const {script} = await parseShell(command);
    const walk = new CommandWalk();
    walk.list(script, START);
    if (!walk.ran) throw new NotProven('it holds no command');
    if (walk.writes.size > 0) throw new NotProven('it writes to a file');
    return {proven: true, reads: [...walk.reads], globs: [...walk.globs], repositories: [...walk.repositories]};
  } catch (error) {
    if (error instanceof NotProven) return {proven: false, because: error.message};
    throw error;
  }
}
