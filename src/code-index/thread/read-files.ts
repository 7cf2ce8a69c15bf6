/** Reads and parses files in the thread of the index, and uses helper threads when there are many files. */
import {availableParallelism} from 'node:os';
import type {FileToRead, ReadFiles} from '../project/project-files.ts';
import {type Parse, type ReadEntry, readEntry} from '../project/read-entry.ts';
import {type Helper, startHelper} from './helper.ts';

/** Number of files per helper. Parsing fewer takes no longer than starting a helper. */
const MIN_FOR_HELPER = 150;
const MAX_HELPERS = 3;
/** Maximum number of files that a helper gets at once. */
const BATCH = 40;

export function createReadFiles(root: string, parse: Parse): ReadFiles {
  return async (files, onRead) => {
    const queue = [...files];
    const wanted = Math.min(MAX_HELPERS, availableParallelism() - 1, Math.floor(queue.length / MIN_FOR_HELPER));
    const helpers = Array.from({length: wanted}, () => startHelper(root));
    try {
      await Promise.all([
        readHere(root, queue, parse, onRead),
        ...helpers.map((helper) => readWith(helper, queue, onRead)),
      ]);
    } finally {
      await Promise.all(helpers.map((helper) => helper.close()));
    }
    // A helper that fails puts its files back into the queue.
    await readHere(root, queue, parse, onRead);
  };
}

async function readHere(
  root: string,
  queue: FileToRead[],
  parse: Parse,
  onRead: (file: FileToRead, entry: ReadEntry) => void,
): Promise<void> {
  for (let file = queue.pop(); file; file = queue.pop()) {
    onRead(file, await readEntry(root, file.path, file.hash, parse));
    // This gives the helpers' messages a chance between two files.
    await new Promise(setImmediate);
  }
}

async function readWith(
  helper: Helper,
  queue: FileToRead[],
  onRead: (file: FileToRead, entry: ReadEntry) => void,
): Promise<void> {
  while (queue.length > 0) {
    const batch = queue.splice(0, Math.min(BATCH, Math.ceil(queue.length / 4)));
    const entries = await helper.read(batch);
    if (!entries) {
      queue.push(...batch);
      return;
    }
    for (const [at, file] of batch.entries()) onRead(file, entries[at]!);
  }
}
