// Do node_modules fit the lock file? Asked at every start, so the usual answer costs three stats and one read.
import {existsSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';

/** The oldest Node that the program runs on, as `engines` in package.json says. */
const OLDEST = [22, 12];

/** @param {string} version e.g. `process.versions.node` */
export function nodeIsNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/** The Node that the program runs on: this one where it is new enough, else the one among the packages, if it is there. */
export function findNode(root) {
  if (nodeIsNewEnough(process.versions.node)) return process.execPath;
  const packaged = path.join(root, 'node_modules', 'node', 'bin', 'node');
  return existsSync(packaged) ? packaged : undefined;
}

/**
 * True when what is installed is what package-lock.json asks for. A stamp in node_modules remembers the last answer;
 * when either side was touched since, the two lock files are compared by content.
 */
export function packagesFit(root) {
  const stamp = path.join(root, 'node_modules', '.mini-cc-stamp');
  const now = describeInstallation(root);
  if (now === undefined) return false;
  if (readIfThere(stamp) === now) return true;
  if (!lockFilesAgree(root)) return false;
  remember(stamp, now);
  return true;
}

function remember(stamp, now) {
  try {
    writeFileSync(stamp, now);
  } catch (error) {
    // Someone else's checkout: then it is found out anew at each start.
    if (error.code !== 'EACCES' && error.code !== 'EROFS') throw error;
  }
}

/** Undefined when nothing was ever installed to its end: npm writes its own lock file last. */
function describeInstallation(root) {
  const wanted = statSync(path.join(root, 'package-lock.json'));
  const installed = statSync(path.join(root, 'node_modules', '.package-lock.json'), {throwIfNoEntry: false});
  if (installed === undefined) return undefined;
  // Packages with native parts differ by platform: a folder that two machines share fits only one of them.
  const sides = [process.platform, process.arch, wanted.mtimeMs, wanted.size, installed.mtimeMs, installed.size];
  return sides.join(' ');
}

function lockFilesAgree(root) {
  const wanted = readPackages(path.join(root, 'package-lock.json'));
  const installed = readPackages(path.join(root, 'node_modules', '.package-lock.json'));
  return Object.entries(wanted).every(([place, want]) => {
    if (place === '') return true;
    const have = installed[place];
    // Packages for other platforms are optional and rightly missing.
    if (have === undefined) return want.optional === true || want.devOptional === true;
    return have.version === want.version && have.integrity === want.integrity;
  });
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
}

/** @returns {string | undefined} the text of the file, undefined when it is missing */
export function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}
