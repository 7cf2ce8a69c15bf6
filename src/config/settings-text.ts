/** Reads the text of a settings file, whatever lies at its path. */
import {closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readlinkSync} from 'node:fs';
import {devNull} from 'node:os';
import {messageOf} from '../core/errors.ts';
import {type ProblemList, quote, START} from '../core/problem.ts';

/** Bytes. */
const MAX_SIZE = 1024 * 1024;
const NOT_THERE = 'no such file, and --settings names it';

/**
 * The file as UTF-8 without its byte order mark; undefined if it is not there, or with a problem. Never throws.
 * @param named a person named it on the command line: it must be there, and `<(…)` is read too
 */
export function readSettingsText(problems: ProblemList, named: boolean): string | undefined {
  const {file} = problems;
  if (named && file === devNull) return '';
  let handle: number | undefined;
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for somebody to write into it.
    handle = openSync(file, constants.O_RDONLY | (named ? 0 : constants.O_NONBLOCK));
    const about = fstatSync(handle);
    if (about.isDirectory()) problems.error('unreadable', START, 'is a folder, not a file');
    else if (!about.isFile() && !(named && about.isFIFO()))
      problems.error('unreadable', START, 'is not a regular file');
    else if (about.size > MAX_SIZE) problems.error('too-large', START, 'is larger than 1 MB');
    else return decode(readFileSync(handle), problems);
  } catch (error) {
    const why = whyUnreadable(file, error, named);
    if (why !== undefined) problems.error('unreadable', START, why);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
  return undefined;
}

/** Undefined: there is nothing, and nothing has to be. */
function whyUnreadable(file: string, error: unknown, named: boolean): string | undefined {
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'ENOENT':
      return danglingLink(file) ?? (named ? NOT_THERE : undefined);
    case 'ENOTDIR':
      return named ? NOT_THERE : undefined;
    case 'ELOOP':
      return 'is a link that leads back to itself';
    case 'EACCES':
    case 'EPERM':
      return 'cannot be read: permission denied';
    default:
      return `cannot be read: ${messageOf(error)}`;
  }
}

function danglingLink(file: string): string | undefined {
  const about = lstatSync(file, {throwIfNoEntry: false});
  return about?.isSymbolicLink() ? `is a link to ${quote(readlinkSync(file))}, which is not there` : undefined;
}

function decode(bytes: Buffer, problems: ProblemList): string | undefined {
  try {
    // TextDecoder takes the byte order mark off.
    return new TextDecoder('utf-8', {fatal: true}).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    problems.error('encoding', START, 'is not UTF-8: save it as UTF-8');
    return undefined;
  }
}
