/**
 * Runs before all tests (vitest.config.ts): what they, and the programs that they start, leave in the temporary folder is in
 * one folder, which is removed at the end. So is their home: no test reads or writes what is the user's,
 * or is changed by the user's variables.
 */
import {mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';

const NAME = 'mini-cc-test-';

export default function setup(): () => void {
  // Vitest calls it for each project.
  if (path.basename(tmpdir()).startsWith(NAME)) return () => undefined;
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), NAME)));
  // The sandbox has a temporary folder of its own, and must hide the home by other means.
  const home = realpathSync(mkdtempSync(path.join('/var/tmp', `${NAME}home-`)));
  // Workers inherit these.
  Object.assign(process.env, {TMPDIR: folder, HOME: home});
  for (const name of Object.keys(process.env))
    if (/^(?:XDG|GIT|INK|ANTHROPIC|OPENAI|OTEL)_/.test(name)) delete process.env[name];
  return () => {
    // A program that is ending may still write a line there.
    for (const made of [folder, home]) rmSync(made, {recursive: true, force: true, maxRetries: 5});
  };
}
