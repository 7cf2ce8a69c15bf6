/**
 * Imports of memory files: `@docs/style.md` in a memory file adds that file, as in Claude Code. The text goes to the
 * model's server. For this reason only documents count, and only within the project, or within the folder of the user's
 * own file. Links out of it do not count.
 */
import {readFileSync, realpathSync, statSync} from 'node:fs';
import path from 'node:path';
import {isInside} from '../core/util/paths.ts';

export interface MemoryFile {
  readonly path: string;
  readonly text: string;
  /** True when the file is longer and the rest is left out. */
  readonly isCut: boolean;
  /** Memory file that names this one. */
  readonly importedBy?: string;
}

/** Longer files are cut, because every request costs their tokens. */
const MAX_CHARS = 40_000;
const MAX_IMPORTS = 20;
/** Documents may import documents, up to this depth. */
const MAX_DEPTH = 5;
/** Only documents are imported. The model reads data and sources when it needs them. */
const DOCUMENT = /\.(?:md|mdc|markdown|txt|rst|adoc)$/i;

/** @returns undefined when the path is not a readable file */
export function readMemoryFile(file: string): MemoryFile | undefined {
  try {
    if (!statSync(file).isFile()) return undefined;
    const text = readFileSync(file, 'utf8');
    return {path: file, text: text.slice(0, MAX_CHARS).toWellFormed(), isCut: text.length > MAX_CHARS};
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/**
 * Returns the files, each followed by the documents that it names.
 * @param getRoot returns the folder that bounds the imports of a file
 */
export function withImports(files: readonly MemoryFile[], getRoot: (file: string) => string): MemoryFile[] {
  const seen = new Set(files.map((file) => getRealPath(file.path)));
  let left = MAX_IMPORTS;
  const follow = (file: MemoryFile, root: string, depth: number): MemoryFile[] => {
    const imported: MemoryFile[] = [];
    for (const name of depth < MAX_DEPTH ? findImports(file.text) : []) {
      const target = path.resolve(path.dirname(file.path), name);
      const real = getRealPath(target);
      if (real === undefined || seen.has(real) || left === 0) continue;
      // The real name counts, because a link may have another one.
      if (!DOCUMENT.test(real) || !isInside(real, [getRealPath(root) ?? root])) continue;
      const read = readMemoryFile(real);
      if (!read) continue;
      seen.add(real);
      left -= 1;
      const found = {...read, path: target, importedBy: file.path};
      imported.push(found, ...follow(found, root, depth + 1));
    }
    return imported;
  };
  return files.flatMap((file) => [file, ...follow(file, getRoot(file.path), 0)]);
}

/** Finds names behind an `@` at the start of a word, outside code. */
function findImports(text: string): string[] {
  const prose = text.replaceAll(/^(`{3,}|~{3,})[\s\S]*?^\1/gm, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/(?:^|[\s(])@([^\s@]+)/g)].map(([, name = '']) => name.replace(/[),.;:!?]+$/, ''));
}

function getRealPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch (error) {
    // The file does not exist or cannot be reached.
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
