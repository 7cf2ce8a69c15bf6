// Checks the state of this checkout: which Node runs it, whether its packages match the lock file, and whether dist/ is
// built from the current sources. `npm start` asks this each time, so the usual answer costs a few stats and two reads.
import {existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';

/** Oldest Node that the program runs on, as in `engines` of package.json. */
export const OLDEST_NODE = [22, 12];

/** Thrown when a step of set-up fails. The message is one line: what failed, and what the user can do. */
export class SetupError extends Error {}

/** @param {string} version e.g. `process.versions.node` */
export function nodeIsNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
}

/**
 * Finds the Node to run the program with: the current one if it is new enough, otherwise the one among the packages.
 * @param {string} root
 * @returns {string | undefined} undefined when there is neither
 */
export function findNode(root) {
  if (nodeIsNewEnough(process.versions.node)) return process.execPath;
  const packaged = path.join(root, 'node_modules', '.bin', 'node');
  return existsSync(packaged) ? packaged : undefined;
}

/**
 * Returns whether the installed packages match package-lock.json. A stamp in node_modules stores the last answer. When
 * either lock file has changed since, their contents are compared.
 * @param {string} root
 * @param {{withTools?: boolean}} [options] `withTools`: also the packages for development alone, which tests need. The
 *   program is built and runs without them.
 * @returns {boolean}
 */
export function packagesFit(root, {withTools = false} = {}) {
  const stamp = path.join(root, 'node_modules', '.mini-cc-stamp');
  const now = describeInstallation(root);
  if (now === undefined) return false;
  const known = readIfThere(stamp);
  if (known === `${now} with tools` || (known === now && !withTools)) return true;
  if (!lockFilesAgree(root, withTools)) return false;
  writeStamp(stamp, withTools ? `${now} with tools` : now);
  return true;
}

function writeStamp(stamp, text) {
  try {
    writeFileSync(stamp, text);
  } catch (error) {
    // The checkout belongs to another user. Without a stamp, each start compares the lock files.
    if (error.code !== 'EACCES' && error.code !== 'EROFS') throw error;
  }
}

/** Undefined when no installation was completed, because npm writes its own lock file last. */
function describeInstallation(root) {
  const wanted = statSync(path.join(root, 'package-lock.json'));
  const installed = statSync(path.join(root, 'node_modules', '.package-lock.json'), {throwIfNoEntry: false});
  if (installed === undefined) return undefined;
  // Packages with native parts differ by platform, so a folder that two machines share fits only one of them.
  const facts = [process.platform, process.arch, wanted.mtimeMs, wanted.size, installed.mtimeMs, installed.size];
  return facts.join(' ');
}

function lockFilesAgree(root, withTools) {
  const wanted = readPackages(path.join(root, 'package-lock.json'));
  const installed = readPackages(path.join(root, 'node_modules', '.package-lock.json'));
  return Object.entries(wanted).every(([folder, want]) => {
    if (folder === '') return true;
    const have = installed[folder];
    // Packages for other platforms are optional and not installed.
    if (have === undefined) return Boolean(want.optional || want.devOptional || (want.dev && !withTools));
    return have.version === want.version && have.integrity === want.integrity;
  });
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
}

/**
 * Describes the current state of one input file of the bundle. A build records it for each file that it reads.
 * @param {string} root
 * @param {string} file relative to root
 * @returns {string} path, modification time and size
 */
export function describeInput(root, file) {
  const stats = statSync(path.join(root, file), {throwIfNoEntry: false});
  return stats === undefined ? `${file} missing` : `${file} ${stats.mtimeMs} ${stats.size}`;
}

/**
 * Returns whether every file that the last build read is unchanged.
 * @param {string} root
 * @returns {boolean}
 */
export function distIsFresh(root) {
  const inputs = readIfThere(distStamp(root))?.split('\n');
  if (inputs === undefined || !existsSync(path.join(root, 'dist', 'cli.js'))) return false;
  return inputs.every((input) => describeInput(root, input.replace(/ (?:missing|\S+ \S+)$/, '')) === input);
}

/**
 * Records the inputs of dist/. This is the last step of a build.
 * @param {string} root
 * @param {readonly string[]} inputs `describeInput` of each file, taken before the build read it, so that a source that
 *   changes during the build makes the next start build again
 */
export function stampDist(root, inputs) {
  replaceFile(distStamp(root), [...inputs].sort().join('\n'));
}

function distStamp(root) {
  return path.join(root, 'dist', '.inputs');
}

/**
 * Writes the file in one step, so that no other process reads half of it.
 * @param {string} file
 * @param {string | Uint8Array} content
 * @param {number} [mode]
 */
export function replaceFile(file, content, mode = 0o644) {
  mkdirSync(path.dirname(file), {recursive: true});
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, content, {mode});
  renameSync(temporary, file);
}

/**
 * @param {string} file
 * @returns {string | undefined} the text of the file; undefined when it is missing
 */
export function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}
