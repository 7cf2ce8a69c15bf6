/** Files that a flag names for a report. */
import {accessSync, constants, statSync} from 'node:fs';
import path from 'node:path';
import {getErrorMessage, UsageError} from '../errors.ts';

/** Finds out before anything is paid whether a report can be written. @throws UsageError in one line when it cannot */
export function checkReportFile(flag: string, file: string): void {
  try {
    const isThere = statSync(file, {throwIfNoEntry: false});
    if (isThere?.isDirectory()) throw new Error('it is a folder');
    accessSync(isThere ? file : path.dirname(file), isThere ? constants.W_OK : constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new UsageError(`${flag}: ${file} cannot be written: ${getErrorMessage(error)}`, {cause: error});
  }
}
