/** Why a file that a person wrote cannot be read, in words. */
import {lstatSync, readlinkSync} from 'node:fs';
import {getErrorMessage} from './errors.ts';
import {quote} from './problem.ts';

/** @param absent what to say of a file that is not there; undefined where it need not be. */
export function describeReadError<T extends string | undefined>(file: string, error: unknown, absent: T): string | T {
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'ENOENT':
      return danglingLink(file) ?? absent;
    case 'ENOTDIR':
      return absent;
    case 'ELOOP':
      return 'is a link that leads back to itself';
    case 'EACCES':
    case 'EPERM':
      return 'cannot be read: permission denied';
    default:
      return `cannot be read: ${getErrorMessage(error)}`;
  }
}

function danglingLink(file: string): string | undefined {
  const about = lstatSync(file, {throwIfNoEntry: false});
  return about?.isSymbolicLink() ? `is a link to ${quote(readlinkSync(file))}, which is not there` : undefined;
}
