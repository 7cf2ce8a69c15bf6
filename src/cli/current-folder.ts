import {UsageError} from '../core/util/errors.ts';

/** @throws UsageError where somebody has removed it. */
export function currentFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new UsageError('the working directory is gone: go to one that is there, or name it by --cwd', {cause: error});
  }
}
