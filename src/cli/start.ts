/** What a start knows before it loads anything. The entry uses it: it must stay light. */
import {UsageError} from '../core/util/errors.ts';
import type {FirstPaint} from '../ui/first-paint/first-paint.ts';

export interface Start {
  readonly args: readonly string[];
  readonly version: string;
  /** `~/.mini-cc`, or what `MINI_CC_HOME` names. */
  readonly home: string;
  /** What is on the screen already. */
  readonly firstPaint?: FirstPaint;
}

/** @throws UsageError when the directory was removed. */
export function getCurrentFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    const what = 'the working directory no longer exists: go to one that exists, or name one by --cwd';
    throw new UsageError(what, {cause: error});
  }
}

/** `MINI_CC_DEBUG` is set, and not to 0. */
export function isDebugSet(env: NodeJS.ProcessEnv): boolean {
  return !['', '0', undefined].includes(env.MINI_CC_DEBUG);
}

/** Of a program that a signal ended. */
export const EXIT_CODES = {SIGHUP: 129, SIGINT: 130, SIGTERM: 143} as const;
