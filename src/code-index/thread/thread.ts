/** The thread that reads, parses and answers. It runs this same file; the program's own thread only sends it questions. */
import {isMainThread, parentPort, Worker, workerData} from 'node:worker_threads';
import type {NameQuery, RenameRequest} from '../contract.ts';

/** The thread ends with an error when it needs more. Megabytes, without the text of trees. */
const MAX_MEMORY_MB = 1500;

export interface ThreadOptions {
  readonly root: string;
  readonly cacheFolder?: string;
}

/** What the thread can be asked, and what it needs for it. */
export type Question =
  | {readonly ask: 'definitions' | 'references'; readonly query: NameQuery}
  | {readonly ask: 'outline' | 'importers' | 'imports' | 'syntax' | 'coverage'; readonly path: string}
  | {readonly ask: 'inheritance'; readonly query: {name?: string; path?: string; of?: 'base' | 'class'}}
  | {readonly ask: 'files' | 'unusedExports'; readonly query: {path?: string}}
  | {readonly ask: 'rename'; readonly request: RenameRequest};

/** Sent to the thread. `listed`: all files as they are now; absent where the last list still counts. */
export interface Message {
  readonly id: number;
  readonly listed?: readonly string[];
  readonly question: Question;
}

/** Sent back. */
export type Reply = {readonly id: number; readonly value: unknown} | {readonly id: number; readonly error: string};

interface ThreadData {
  readonly codeIndex: ThreadOptions;
}

export function startThread(options: ThreadOptions): Worker {
  const data: ThreadData = {codeIndex: options};
  return new Worker(new URL(import.meta.url), {
    ...{workerData: data, env: {}, execArgv: []},
    resourceLimits: {maxOldGenerationSizeMb: MAX_MEMORY_MB},
  });
}

async function serve({codeIndex}: ThreadData): Promise<void> {
  const {answer} = await (await import('./answer.ts')).openAnswerer(codeIndex);
  let last: Promise<void> = Promise.resolve();
  parentPort?.on('message', (message: Message) => {
    last = last.then(async () => {
      const {id} = message;
      let reply: Reply;
      try {
        reply = {id, value: await answer(message)};
      } catch (error) {
        reply = {id, error: error instanceof Error ? (error.stack ?? error.message) : String(error)};
      }
      parentPort?.postMessage(reply);
    });
  });
}

// Only in the thread, after everything above is initialized.
if (!isMainThread && typeof workerData === 'object' && workerData !== null && 'codeIndex' in workerData) {
  await serve(workerData as ThreadData);
}
