#!/usr/bin/env node
/** The entry. It is light: what a start needs is loaded by the code that needs it. */
import module from 'node:module';
import os from 'node:os';
import path from 'node:path';
import {version} from '../../package.json';
import {createPrivateFolder, withPrivateUmask} from '../core/util/files/private-file.ts';
import {paintFirst} from './first-paint.ts';
import {SUBCOMMANDS} from './flags.ts';
import {getCurrentFolder, type Start} from './start.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const args = process.argv.slice(2);

if (major < 22 || (major === 22 && minor < 12)) {
  process.stderr.write(`mini-cc needs Node.js 22.12 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 2;
} else if (args.length === 1 && (args[0] === '--version' || args[0] === '-v')) {
  // meow would print the same and triple the time, which is measured.
  process.stdout.on('error', (error) => {
    process.stderr.write(`mini-cc: ${error.message}\n`);
    process.exitCode = 1;
  });
  process.stdout.write(`${version}\n`);
} else {
  // In this order: what has no use for standard input must not load what reads it, all of Node's streams.
  if (startsRepl() && process.stdin.isTTY && process.stdout.isTTY) {
    // From the first moment: a line that is typed before this is echoed, and its Enter comes as a new line.
    process.stdin.setRawMode(true);
    process.on('exit', () => process.stdin.setRawMode(false));
  }
  const home = process.env.MINI_CC_HOME || path.join(os.homedir(), '.mini-cc');
  const start = paintBareStart({args, version, home});
  enableCompileCache(path.join(home, 'cache'));
  const {main} = await import('./main.ts');
  await main(start);
  await writesEnded();
  // Else Node.js takes its memory apart piece by piece, and waits for connections that are not used any more.
  process.exit();
}

/** Also what came of them: an error, which sets the exit code, is told a moment later. */
async function writesEnded(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.writableLength > 0) await new Promise<void>((resolve) => stream.write('', () => resolve()));
  }
  await new Promise((resolve) => setImmediate(resolve));
}

/** A guess before anything is parsed. A wrong one costs only the raw mode, which the exit takes back. */
function startsRepl(): boolean {
  const end = args.indexOf('--');
  const flags = end === -1 ? args : args.slice(0, end);
  const isOther = ['-p', '--print', '-h', '--help', '-v', '--version'].some((flag) => flags.includes(flag));
  return !isOther && !SUBCOMMANDS.some((name) => name === args[0]);
}

/** Without arguments there is nothing to find out first. */
function paintBareStart(start: Start): Start {
  if (args.length > 0 || !process.stdin.isTTY || !process.stdout.isTTY) return start;
  try {
    return {...start, firstPaint: paintFirst(start, {cwd: getCurrentFolder()})};
  } catch {
    // The folder was removed, or a file cannot be read: the code that needs it says so.
    return start;
  }
}

/** Not in the shared folder of temporary files: compiled code is only as safe as the folder it is read from. */
function enableCompileCache(folder: string): void {
  try {
    createPrivateFolder(folder);
  } catch {
    // A home that cannot be written has no cache. The code that stores something there reports the reason.
    return;
  }
  withPrivateUmask(() => module.enableCompileCache?.(path.join(folder, 'compiled')));
  // Node writes the files of the cache behind this.
  process.on('exit', () => withPrivateUmask(() => module.flushCompileCache?.()));
}
