#!/usr/bin/env node
/** Starts the program. It loads little itself: each part loads the code that it needs. */
import module from 'node:module';
import path from 'node:path';
import {version} from '../../package.json';
import {getErrorMessage, tryOr} from '../core/util/errors.ts';
import {createPrivateFolder, withPrivateUmask} from '../core/util/files/private-file.ts';
import {getMiniCcHome, getUserHome} from '../core/util/home-folder.ts';
import {paintFirst} from './first-paint.ts';
import {SUBCOMMANDS} from './flags.ts';
import {getCurrentFolder, type Start} from './start.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const args = process.argv.slice(2);

if (major < 22 || (major === 22 && minor < 12)) {
  const {runOnNewerNode} = await import('./newer-node.ts');
  process.exitCode = runOnNewerNode(process.argv.slice(1));
} else if (args.length === 1 && (args[0] === '--version' || args[0] === '-v')) {
  // meow would print the same, but would triple the time, which is measured.
  process.stdout.on('error', (error) => {
    process.stderr.write(`mini-cc: ${error.message}\n`);
    process.exitCode = 1;
  });
  process.stdout.write(`${version}\n`);
} else {
  // This order matters: a start that does not need standard input must not load its code, which is all of Node's
  // streams.
  if (startsRepl() && process.stdin.isTTY && process.stdout.isTTY) {
    // Raw mode begins at once, because a line that is typed before it is echoed and its Enter comes as a newline.
    process.stdin.setRawMode(true);
    process.on('exit', () => process.stdin.setRawMode(false));
  }
  let home: string;
  try {
    home = settleHomes();
  } catch (error) {
    process.stderr.write(`mini-cc: ${getErrorMessage(error)}\n`);
    process.exit(2);
  }
  const start = paintBareStart({args, version, home});
  enableCompileCache(path.join(home, 'cache'));
  const {main} = await import('./main.ts');
  await main(start);
  await writesEnded();
  // Without this call, Node.js would free its memory piece by piece and wait for unused connections.
  process.exit();
}

/** Makes both folders absolute for all that follows and for other programs. @returns mini-cc's own */
function settleHomes(): string {
  process.env.HOME = getUserHome();
  if (process.env.MINI_CC_HOME) process.env.MINI_CC_HOME = getMiniCcHome();
  return getMiniCcHome();
}

/** Waits until the writes have ended. An error of a write, which sets the exit code, is reported one round later. */
async function writesEnded(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.writableLength > 0) await new Promise<void>((resolve) => stream.write('', () => resolve()));
  }
  await new Promise((resolve) => setImmediate(resolve));
}

/** Guesses before anything is parsed. A wrong guess costs only the raw mode, which the exit ends. */
function startsRepl(): boolean {
  const end = args.indexOf('--');
  const flags = end === -1 ? args : args.slice(0, end);
  const isOther = ['-p', '--print', '-h', '--help', '-v', '--version'].some((flag) => flags.includes(flag));
  return !isOther && !SUBCOMMANDS.some((name) => name === args[0]);
}

/** Paints at once when there are no arguments to parse. */
function paintBareStart(start: Start): Start {
  if (args.length > 0 || !process.stdin.isTTY || !process.stdout.isTTY) return start;
  // When the folder was removed, or a file cannot be read, the code that needs it reports the error.
  return tryOr(() => ({...start, firstPaint: paintFirst(start, {cwd: getCurrentFolder()})}), start);
}

/**
 * Enables Node's cache of compiled code. It is not in the shared folder of temporary files, because compiled code is
 * only as safe as its folder.
 */
function enableCompileCache(folder: string): void {
  try {
    createPrivateFolder(folder);
  } catch {
    // A home that cannot be written has no cache. The code that stores something there reports the error.
    return;
  }
  withPrivateUmask(() => module.enableCompileCache?.(path.join(folder, 'compiled')));
  // Node writes the files of the cache after this listener was registered.
  process.on('exit', () => withPrivateUmask(() => module.flushCompileCache?.()));
}
