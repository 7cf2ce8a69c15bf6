/**
 * Creates the temporary folders of mini-cc. Each has a record of its owner, by which a later start finds and removes
 * those of processes that were killed.
 */
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {tryOr} from '../errors.ts';
import {getOwnerState, getOwnRecord, type ProcessOwner} from '../process-owner.ts';

const PREFIX = 'mini-cc-';
/** `mkdtemp` adds six letters to the prefix. */
const NAME = /^mini-cc-[A-Za-z0-9]{6}$/;
const OWNER = 'owner.json';
/** Folder below mini-cc's home. */
const BELOW_HOME = 'tmp';
/** Milliseconds in which a living process has written its record into a new folder. */
const MAX_WITHOUT_OWNER = 60_000;

/**
 * Creates a folder of mode 0700 in the system's temporary folder, or below the home when that one is missing, full or
 * no folder.
 * @param home mini-cc's own folder. Without it, nothing takes the place of the system's folder.
 * @returns its path, absolute and with links resolved
 * @throws Error of the file system
 */
export function createTemporaryFolder(home?: string): string {
  try {
    return createIn(tmpdir());
  } catch (error) {
    if (home === undefined) throw error;
    return createTemporaryFolderBelow(home);
  }
}

/** Creates a folder of mode 0700 below mini-cc's home, which no confined command sees. @returns as `createTemporaryFolder` */
export function createTemporaryFolderBelow(home: string): string {
  const place = path.join(home, BELOW_HOME);
  mkdirSync(place, {recursive: true, mode: 0o700});
  return createIn(place);
}

function createIn(place: string): string {
  const folder = mkdtempSync(path.join(realpathSync(place), PREFIX));
  try {
    writeFileSync(path.join(folder, OWNER), JSON.stringify(getOwnRecord()), {mode: 0o600});
    return folder;
  } catch (error) {
    rmSync(folder, {recursive: true, force: true});
    throw error;
  }
}

/** Removes the folder. When that fails, the next start of mini-cc removes it. */
export function removeTemporaryFolder(folder: string): void {
  tryOr(() => rmSync(folder, {recursive: true, force: true}), undefined);
}

/** Returns the folders of all processes in a place. */
export function listTemporaryFolders(place: string): string[] {
  return tryOr(() => readdirSync(place), []).flatMap((name) => (NAME.test(name) ? [path.join(place, name)] : []));
}

/** Removes the folders of processes of this user that were killed. @param home mini-cc's own folder */
export function removeLeftTemporaryFolders(home: string): void {
  for (const place of [tmpdir(), path.join(home, BELOW_HOME)]) {
    for (const folder of listTemporaryFolders(place)) if (isLeft(folder)) removeTemporaryFolder(folder);
  }
}

/** Another user could have made the folder, to have files removed. A link is no folder here. */
function isLeft(folder: string): boolean {
  const stat = tryOr(() => lstatSync(folder), undefined);
  if (!stat?.isDirectory() || stat.uid !== process.getuid?.()) return false;
  const owner = tryOr(() => JSON.parse(readFileSync(path.join(folder, OWNER), 'utf8')) as ProcessOwner, undefined);
  if (owner) return getOwnerState(owner) === 'dead';
  // The process was killed before it wrote its record. An earlier version wrote none, and its folders are not empty.
  const isEmpty = tryOr(() => readdirSync(folder).every((name) => name === OWNER), false);
  return isEmpty && Date.now() - stat.mtimeMs > MAX_WITHOUT_OWNER;
}
