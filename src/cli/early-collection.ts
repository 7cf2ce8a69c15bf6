/**
 * Keeps the memory of a long session small. What is in use stays below 30 MB, but V8 lets its space for new objects grow
 * to 128 MB and seldom looks at old ones, and what garbage holds outside of the heap stays with it.
 */
import {PerformanceObserver} from 'node:perf_hooks';

const MB = 1024 * 1024;
/** A smaller process is left alone. */
const SMALL_BYTES = 120 * MB;
/** What it has after a collection may grow by this factor. */
const MAX_GROWTH = 1.15;
const MIN_INTERVAL_MS = 1_000;
/** A process that really uses much spends at most this share of its time on these collections. */
const MAX_TIME_SHARE = 0.04;

/** Looks at the memory after each collection that V8 makes by itself: where nothing is allocated, nothing happens. */
export function collectGarbageEarly(): void {
  let limit = SMALL_BYTES;
  let notBefore = 0;
  const observer = new PerformanceObserver(() => {
    if (performance.now() < notBefore || process.memoryUsage.rss() < limit) return;
    notBefore = Number.POSITIVE_INFINITY;
    const began = performance.now();
    collectGarbage().then(
      () => {
        limit = Math.max(SMALL_BYTES, process.memoryUsage.rss() * MAX_GROWTH);
        const now = performance.now();
        notBefore = now + Math.max(MIN_INTERVAL_MS, (now - began) / MAX_TIME_SHARE);
      },
      // A Node.js without inspector: V8 decides alone.
      () => observer.disconnect(),
    );
  });
  observer.observe({entryTypes: ['gc']});
}

/** Node.js has no other call for this that needs no flag of V8. @throws where Node.js was built without inspector */
async function collectGarbage(): Promise<void> {
  const {Session} = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}
