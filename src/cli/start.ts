/**
 * Defines the values that a start knows before it loads anything. The entry imports this file, so it must load little.
 */
import {UsageError} from '../core/util/errors.ts';
import type {FirstPaint} from '../ui/first-paint/first-paint.ts';

export interface Start {
  readonly args: readonly string[];
  readonly version: string;
  /** The folder `~/.mini-cc`, or the one that `MINI_CC_HOME` names. */
  readonly home: string;
  /** The first paint when it is already on the screen. */
  readonly firstPaint?: FirstPaint;
}

/** @throws UsageError when the directory was removed */
export function getCurrentFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    const what = 'the working directory no longer exists: go to one that exists, or name one by --cwd';
    throw new UsageError(what, {cause: error});
  }
}

/** Tells whether `MINI_CC_DEBUG` is set to another value than 0. */
export function isDebugSet(env: NodeJS.ProcessEnv): boolean {
  return !['', '0', undefined].includes(env.MINI_CC_DEBUG);
}

/** Exit codes of a program that was ended by a signal. */
export const EXIT_CODES = {SIGHUP: 129, SIGINT: 130, SIGTERM: 143} as const;
