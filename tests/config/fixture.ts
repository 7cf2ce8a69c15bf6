/** A home and a working directory with settings in them. */

import {mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {onTestFinished} from 'vitest';
import {ALL_TOOLS} from '../../src/compose/known-tools.ts';
import type {ToolFacts} from '../../src/core/contract/tool-facts.ts';
import {UsageError} from '../../src/core/util/errors.ts';

export interface TestFolders {
  readonly base: string;
  readonly home: string;
  readonly cwd: string;
  readonly tools: readonly ToolFacts[];
}

export const USER = 'home/settings.json';
export const PROJECT = 'work/.mini-cc/settings.json';
export const LOCAL = 'work/.mini-cc/settings.local.json';

/** @param files by their path from the base: text or bytes as they are, anything else as JSON */
export function makeFolders(files: Readonly<Record<string, unknown>>): TestFolders {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-settings-')));
  onTestFinished(() => rmSync(base, {recursive: true, force: true}));
  for (const folder of ['home', 'work']) mkdirSync(path.join(base, folder));
  for (const [name, value] of Object.entries(files)) {
    const file = path.join(base, name);
    mkdirSync(path.dirname(file), {recursive: true});
    writeFileSync(file, typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value));
  }
  return {home: path.join(base, 'home'), cwd: path.join(base, 'work'), base, tools: ALL_TOOLS};
}

/** The message of the usage error. Fails for any other error, and without one. */
export function getUsageError(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error('no error was thrown');
}
