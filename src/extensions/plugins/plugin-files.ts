/** Copies the files of plugins, and computes the hash that pins what the user said yes to. */
import {createHash} from 'node:crypto';
import {type Dirent, lstatSync, mkdirSync, readdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {UsageError} from '../../core/util/errors.ts';
import {readProjectFile} from '../../core/util/files/project-file.ts';
import {sha256} from '../../core/util/hash.ts';
import {showControls} from '../../core/util/text.ts';

const MAX_FILES = 5_000;
const MAX_BYTES = 50 * 1024 * 1024;
const MAX_DEPTH = 24;

/** Hashes of the files by their paths. */
type FileHashes = ReadonlyMap<string, string>;

/**
 * Reads regular files alone: links, pipes and devices are left out, and so is `.git`.
 * @param onFile called with each file
 * @returns what was left out, one line each
 * @throws UsageError when there are too many files
 */
function walk(root: string, onFile: (file: string, content: Buffer, isProgram: boolean) => void): string[] {
  const leftOut: string[] = [];
  let [files, bytes] = [0, 0];
  const visit = (folder: string, depth: number) => {
    const entries = readdirSync(path.join(root, folder), {withFileTypes: true});
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = path.join(folder, entry.name);
      if (entry.isDirectory()) {
        if (entry.name === '.git') continue;
        if (depth === MAX_DEPTH) throw new UsageError(`${root} has folders that lie too deep: it is not installed`);
        visit(file, depth + 1);
      } else if (entry.isFile()) {
        const {size, mode} = lstatSync(path.join(root, file));
        files += 1;
        bytes += size;
        if (files > MAX_FILES || bytes > MAX_BYTES) {
          throw new UsageError(`${root} has more than ${MAX_FILES} files or 50 MB: it is not installed`);
        }
        onFile(file, readProjectFile(path.join(root, file), MAX_BYTES), (mode & 0o100) !== 0);
      } else leftOut.push(`${showControls(file)} is ${describeKind(entry)}: it is left out`);
    }
  };
  visit('', 0);
  return leftOut;
}

function describeKind(entry: Dirent): string {
  return entry.isSymbolicLink() ? 'a link' : 'no regular file';
}

function hash(content: Buffer, isProgram: boolean): string {
  return createHash('sha256')
    .update(isProgram ? 'program\0' : 'file\0')
    .update(content)
    .digest('hex');
}

/** @throws UsageError when there are too many files */
export function hashFiles(root: string): FileHashes {
  const hashes = new Map<string, string>();
  walk(root, (file, content, isProgram) => hashes.set(file, hash(content, isProgram)));
  return hashes;
}

/** @param target folder that is made @returns what was left out, one line each @throws UsageError when there is too much */
export function copyFiles(source: string, target: string): {readonly hashes: FileHashes; readonly leftOut: string[]} {
  const hashes = new Map<string, string>();
  const leftOut = walk(source, (file, content, isProgram) => {
    mkdirSync(path.dirname(path.join(target, file)), {recursive: true, mode: 0o700});
    writeFileSync(path.join(target, file), content, {mode: isProgram ? 0o700 : 0o600});
    hashes.set(file, hash(content, isProgram));
  });
  return {hashes, leftOut};
}

/** Returns one hash of all files, in hexadecimal. */
export function joinHashes(hashes: FileHashes): string {
  const lines = [...hashes].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([file, each]) => `${each} ${file}\n`);
  return sha256(lines.join(''));
}

/** Describes what changed, a file a line. */
export function describeChanges(before: FileHashes, after: FileHashes): string[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names.flatMap((name) => {
    const [old, now] = [before.get(name), after.get(name)];
    if (old === now) return [];
    return `${old === undefined ? 'new' : now === undefined ? 'gone' : 'changed'}: ${showControls(name)}`;
  });
}
