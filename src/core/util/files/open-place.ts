/**
 * Opens a file at a place and nowhere else, synchronously. Threads load this module by itself, so it imports nothing of
 * mini-cc.
 */
import {closeSync, constants, existsSync, openSync, readlinkSync, realpathSync} from 'node:fs';

/** Whether a path can contain a descriptor. */
export const HAS_DESCRIPTORS = process.platform === 'linux' && existsSync('/proc/self/fd');

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a file or folder to read. It never waits for the other end of a pipe. Afterwards the kernel says where the opened
 * file is, so that no link was followed.
 * @param place absolute, with links resolved; as bytes where the name may not be UTF-8
 * @throws the file system's error, `ELOOP` for a link at the place or above it
 */
export function openPlaceSync(place: string | Buffer): number {
  const fd = openSync(place, FLAGS);
  try {
    const now = HAS_DESCRIPTORS ? readlinkSync(`/proc/self/fd/${fd}`, 'buffer') : realpathSync.native(place, 'buffer');
    const isThere = HAS_DESCRIPTORS ? now.equals(Buffer.from(place)) : isSamePath(`${now}`, `${place}`);
    if (!isThere) throw Object.assign(new Error(`ELOOP: ${place} is behind a link now`), {code: 'ELOOP'});
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Returns the target of a link whose folder is at this very place. @throws as `openPlaceSync` */
export function readLinkSync(place: Buffer): Buffer {
  const at = place.lastIndexOf('/');
  const fd = openPlaceSync(place.subarray(0, Math.max(at, 1)));
  try {
    const folder = HAS_DESCRIPTORS ? Buffer.from(`/proc/self/fd/${fd}`) : place.subarray(0, at);
    return readlinkSync(Buffer.concat([folder, place.subarray(at)]), 'buffer');
  } finally {
    closeSync(fd);
  }
}

/** Some file systems return a name in another case or Unicode form than the requested one. */
export function isSamePath(a: string, b: string): boolean {
  const fold = (text: string) => text.normalize('NFC').toLowerCase();
  return fold(a) === fold(b);
}
