/** Starts the program again on a newer Node, where the one that runs it is too old. */
import {spawnSync} from 'node:child_process';
import {existsSync, readdirSync, realpathSync} from 'node:fs';
import path from 'node:path';

const REPAIR = 'npm install --global node@24';

/** @param args the program and its arguments @returns the exit code */
export function runOnNewerNode(args: readonly string[]): number {
  const found = listCandidates(args[0]!).find((file) => existsSync(file) && isNewEnough(file));
  if (found === undefined) {
    process.stderr.write(
      `mini-cc needs Node.js 22.12 or newer; this is ${process.versions.node}, and no newer one was found. Run: ${REPAIR}\n`,
    );
    return 2;
  }
  process.on('SIGINT', () => {
    // Ctrl+C is for the program, which shares the terminal.
  });
  const {status, signal} = spawnSync(found, [...args], {stdio: 'inherit'});
  if (signal !== null) process.kill(process.pid, signal);
  return status ?? 1;
}

/** The Node among the packages of a checkout, those in PATH, and those of nvm, the newest first. */
function listCandidates(program: string): readonly string[] {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const versions = path.join(process.env.NVM_DIR ?? path.join(process.env.HOME ?? '', '.nvm'), 'versions/node');
  const own = path.resolve(path.dirname(realpathSync(program)), '../node_modules/.bin/node');
  const managed = existsSync(versions) ? readdirSync(versions).sort().reverse() : [];
  return [
    own,
    ...folders.map((folder) => path.join(folder, 'node')),
    ...managed.map((version) => path.join(versions, version, 'bin/node')),
  ];
}

function isNewEnough(file: string): boolean {
  const {stdout} = spawnSync(file, ['-p', 'process.versions.node'], {encoding: 'utf8', timeout: 5000});
  const [major = 0, minor = 0] = (stdout ?? '').trim().split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 12);
}
