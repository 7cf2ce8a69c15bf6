/**
 * Runs before each test file (vitest.config.ts): all that the file, and the programs that it starts, leave in the temporary
 * folder is in one folder, which is removed after its last test.
 */
import {mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterAll} from 'vitest';

const before = process.env.TMPDIR;
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-test-')));
process.env.TMPDIR = folder;

afterAll(() => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  // A program that is ending may still write a line there.
  rmSync(folder, {recursive: true, force: true, maxRetries: 5});
});
