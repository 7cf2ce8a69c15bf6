/**
 * Runs before all tests (vitest.config.ts): what they, and the programs that they start, leave in the temporary folder is in
 * one folder, which is removed at the end.
 */
import {mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';

const NAME = 'mini-cc-test-';

export default function setup(): () => void {
  // Vitest calls it for each project.
  if (path.basename(tmpdir()).startsWith(NAME)) return () => undefined;
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), NAME)));
  // Workers inherit it.
  process.env.TMPDIR = folder;
  // A program that is ending may still write a line there.
  return () => rmSync(folder, {recursive: true, force: true, maxRetries: 5});
}
