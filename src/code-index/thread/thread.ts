/** Runs the thread that reads, parses and answers. The thread runs this same file. */
import {isMainThread, parentPort, Worker, workerData} from 'node:worker_threads';
import type {Message, Reply, ThreadOptions} from './answer.ts';

/**
 * Limit of the JavaScript heap in megabytes, without the memory of WebAssembly. Above it the thread ends with an error.
 */
const MAX_MEMORY_MB = 1500;

interface ThreadData {
  readonly codeIndex: ThreadOptions;
}

export function startThread(options: ThreadOptions): Worker {
  const data: ThreadData = {codeIndex: options};
  return new Worker(new URL(import.meta.url), {
    workerData: data,
    env: {},
    execArgv: [],
    resourceLimits: {maxOldGenerationSizeMb: MAX_MEMORY_MB},
  });
}

async function serve({codeIndex}: ThreadData): Promise<void> {
  const {openAnswerer} = await import('./answer.ts');
  const answerer = openAnswerer(codeIndex);
  let last: Promise<void> = Promise.resolve();
  parentPort?.on('message', (message: Message | 'close') => {
    last = last.then(async () => {
      if (message === 'close') {
        answerer.save();
        parentPort?.close();
        return;
      }
      const {id} = message;
      let reply: Reply;
      try {
        reply = {id, value: await answerer.answer(message)};
      } catch (error) {
        reply = {id, error: error instanceof Error ? (error.stack ?? error.message) : String(error)};
      }
      parentPort?.postMessage(reply);
      answerer.save();
    });
  });
}

// Only the index's thread runs this, after everything above is initialized.
if (!isMainThread && typeof workerData === 'object' && workerData !== null && 'codeIndex' in workerData) {
  await serve(workerData as ThreadData);
}
