/** Reads and parses files in the thread of the index, and uses helper threads when there are many files. */

import {availableParallelism} from 'node:os';
import {isMainThread, parentPort, Worker, workerData} from 'node:worker_threads';
import type {FileToRead, ReadFiles} from '../project/project-files.ts';
import {type Parse, type ReadEntry, readEntry} from '../project/read-entry.ts';

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

const MAX_MEMORY_MB = 700;

interface Helper {
  /** @returns an entry for each file, or undefined when the helper failed */
  read(files: readonly FileToRead[]): Promise<readonly ReadEntry[] | undefined>;
  close(): Promise<void>;
}

function startHelper(root: string): Helper {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: {codeIndexHelper: root},
    env: {},
    execArgv: [],
    resourceLimits: {maxOldGenerationSizeMb: MAX_MEMORY_MB},
  });
  let answer: ((entries: readonly ReadEntry[] | undefined) => void) | undefined;
  let hasFailed = false;
  const fail = () => {
    hasFailed = true;
    answer?.(undefined);
  };
  worker.on('message', (entries: readonly ReadEntry[]) => answer?.(entries));
  worker.on('error', fail).on('exit', fail);
  return {
    read: (files) =>
      new Promise((resolve) => {
        answer = resolve;
        if (hasFailed) resolve(undefined);
        else worker.postMessage(files);
      }),
    async close() {
      await worker.terminate();
    },
  };
}

async function serve(root: string): Promise<void> {
  const [{SourceParser}, {readEntry}] = await Promise.all([
    import('../syntax/parser.ts'),
    import('../project/read-entry.ts'),
  ]);
  const parser = new SourceParser();
  parentPort?.on('message', async (files: readonly FileToRead[]) => {
    const entries: ReadEntry[] = [];
    for (const {path, hash} of files) {
      entries.push(await readEntry(root, path, hash, (text, language) => parser.parse(text, language)));
    }
    parentPort?.postMessage(entries);
  });
}

// Only the helper's thread runs this, after everything above is initialized.
if (!isMainThread && typeof workerData === 'object' && workerData !== null && 'codeIndexHelper' in workerData) {
  await serve((workerData as {codeIndexHelper: string}).codeIndexHelper);
}
