/** Proves that a command only reads, as the judge of commands does, but without a look at the files that it names. */
import {parseCommand} from '../../../../src/core/permissions/shell/command-parser.ts';
import {CommandWalk} from '../../../../src/core/permissions/shell/command-walk.ts';
import {NotProven} from '../../../../src/core/permissions/shell/shell-words.ts';

export interface Proven {
  readonly proven: true;
  readonly reads: readonly string[];
  readonly globs: readonly string[];
  readonly repositories: readonly string[];
}

export type Proof = Proven | {readonly proven: false; readonly because: string};

/** @returns whether every part of `command` is known to only read when bash runs it, and what it reads */
export async function proveReadOnly(command: string): Promise<Proof> {
  try {
    const {script} = await parseCommand(command);
    const walk = new CommandWalk();
    walk.walk(script);
    if (!walk.ran) throw new NotProven('it contains no command');
    if (walk.writes.size > 0) throw new NotProven('it writes to a file');
    return {proven: true, reads: [...walk.reads], globs: [...walk.globs], repositories: [...walk.repositories]};
  } catch (error) {
    if (error instanceof NotProven) return {proven: false, because: error.message};
    throw error;
  }
}
