/** Reads the text of a settings file, whatever lies at its path. */
import {closeSync, constants, fstatSync, openSync, readFileSync} from 'node:fs';
import {devNull} from 'node:os';
import {type ProblemList, START} from '../core/util/problem.ts';
import {whyUnreadable} from '../core/util/unreadable.ts';

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
    // Undefined: there is nothing, and nothing has to be.
    const why = whyUnreadable(file, error, named ? NOT_THERE : undefined);
    if (why !== undefined) problems.error('unreadable', START, why);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
  return undefined;
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
