/** Runs an additional thread that parses when many files are new. The thread runs this same file. */
import {isMainThread, parentPort, Worker, workerData} from 'node:worker_threads';
import type {FileToRead} from '../project/project-files.ts';
import type {ReadEntry} from '../project/read-entry.ts';

const MAX_MEMORY_MB = 700;

export interface Helper {
  /** @returns an entry for each file, or undefined when the helper failed */
  read(files: readonly FileToRead[]): Promise<readonly ReadEntry[] | undefined>;
  close(): Promise<void>;
}

export function startHelper(root: string): Helper {
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
      entries.push(await readEntry(root, path, hash, (text, language, file) => parser.parse(text, language, file)));
    }
    parentPort?.postMessage(entries);
  });
}

// Only the helper's thread runs this, after everything above is initialized.
if (!isMainThread && typeof workerData === 'object' && workerData !== null && 'codeIndexHelper' in workerData) {
  await serve((workerData as {codeIndexHelper: string}).codeIndexHelper);
}
