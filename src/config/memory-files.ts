/** AGENTS.md, else CLAUDE.md: from the repository's root down to the working directory, and the user's own. */
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';

/** Longer files are cut here: they are paid for with every request. */
const MAX_CHARS = 40_000;

export interface MemoryFile {
  readonly path: string;
  readonly text: string;
}

/** Farthest first, so that the nearest has the last word. */
export function memoryFiles(cwd: string, home: string): MemoryFile[] {
  return readNearest(cwd, home, ['AGENTS.md', 'CLAUDE.md'], 'AGENTS.md');
}

/** Notes on tools, which subagents get beside the memory files. */
export function toolNotes(cwd: string, home: string): MemoryFile[] {
  return readNearest(cwd, home, ['TOOLS.md'], 'TOOLS.md');
}

/** @param names of which the first that is there counts, folder by folder; `own` is the user's. */
function readNearest(cwd: string, home: string, names: readonly string[], own: string): MemoryFile[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    folders.unshift(folder);
    // Outside a repository only the working directory itself counts.
    if (existsSync(path.join(folder, '.git'))) break;
    if (path.dirname(folder) === folder) {
      folders.splice(0, folders.length, cwd);
      break;
    }
  }
  const ofProject = folders.map((folder) =>
    names.map((name) => path.join(folder, name)).find((file) => existsSync(file)),
  );
  const files = [path.join(home, own), ...ofProject].filter((file) => file !== undefined && existsSync(file));
  return files.map((file) => ({path: file!, text: readFileSync(file!, 'utf8').slice(0, MAX_CHARS)}));
}
