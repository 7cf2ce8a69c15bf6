#!/usr/bin/env node
/** The entry. What most starts don't need is loaded by those that do: `--version` and `--help` load nothing else. */
import module from 'node:module';
import os from 'node:os';
import path from 'node:path';
import {version} from '../../package.json';
import {privateFolder} from '../core/util/private-file.ts';

const SUBCOMMANDS = new Set(['agents', 'sessions', 'config', 'doctor']);
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const args = process.argv.slice(2);
const end = args.indexOf('--');
const flags = end === -1 ? args : args.slice(0, end);

if (major < 22 || (major === 22 && minor < 12)) {
  process.stderr.write(`mini-cc needs Node.js 22.12 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 2;
} else if (flags.includes('--version') || flags.includes('-v')) {
  process.stdout.write(`${version}\n`);
} else {
  const asksForNoRepl = ['-p', '--print', '--help', '-h'].some((flag) => flags.includes(flag));
  if (process.stdin.isTTY && process.stdout.isTTY && !asksForNoRepl && !SUBCOMMANDS.has(flags[0] ?? '')) {
    // From the first moment: a line typed before this is echoed, and its Enter comes as a new line.
    process.stdin.setRawMode(true);
    process.on('exit', () => process.stdin.setRawMode(false));
  }
  // Not the shared folder of temporary files: compiled code is only as safe as the folder it is read from.
  const home = process.env.MINI_CC_HOME || path.join(os.homedir(), '.mini-cc');
  const cache = path.join(home, 'cache');
  try {
    privateFolder(cache);
  } catch {
    // A home that cannot be written has no cache; whoever stores something there says why not.
  }
  module.enableCompileCache?.(path.join(cache, 'compiled'));
  if (flags.includes('--help') || flags.includes('-h')) {
    const {helpText} = await import('./help.ts');
    process.stdout.write(helpText);
  } else {
    const {main} = await import('./main.ts');
    await main({args, version, home});
  }
}
