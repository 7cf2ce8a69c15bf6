/**
 * Keeps the memory of a long session small. What is in use stays below 30 MB, but V8 lets its space for new objects grow
 * to 128 MB and seldom looks at old ones, and what garbage holds outside of the heap stays with it.
 */
const MB = 1024 * 1024;
/** A smaller process is left alone while it works. */
const SMALL_BYTES = 100 * MB;
/** What it has after a collection may grow by this factor. */
const MAX_GROWTH = 1.15;
const MIN_INTERVAL_MS = 1_000;
/** So long after the last collection nothing is at work: what start-up or an answer left is given back. */
const REST_MS = 1_000;
/** A shorter run ends before it matters, and need not load what observes collections. */
const SHORT_RUN_MS = 500;
/** Below this growth since then, a process at rest is left alone. */
const MIN_GROWTH_BYTES = 6 * MB;
/** A process that really uses much spends at most this share of its time on these collections. */
const MAX_TIME_SHARE = 0.04;

/**
 * Looks at the memory after each collection that V8 makes by itself, and once more a moment after the last one: where
 * nothing is allocated, nothing happens.
 */
export function collectGarbageEarly(): void {
  let limit = SMALL_BYTES;
  let least = 0;
  let notBefore = 0;
  const collect = () => {
    notBefore = Number.POSITIVE_INFINITY;
    const began = performance.now();
    collectGarbage().then(
      () => {
        const used = process.memoryUsage.rss();
        limit = Math.max(SMALL_BYTES, used * MAX_GROWTH);
        least = used + MIN_GROWTH_BYTES;
        const now = performance.now();
        notBefore = now + Math.max(MIN_INTERVAL_MS, (now - began) / MAX_TIME_SHARE);
      },
      // A Node.js without inspector: V8 decides alone.
      () => observer?.disconnect(),
    );
  };
  const rest = setTimeout(() => {
    if (performance.now() < notBefore) rest.refresh();
    else if (process.memoryUsage.rss() >= least) collect();
  }, REST_MS).unref();
  let observer: {disconnect(): void} | undefined;
  setTimeout(() => {
    const created = new PerformanceObserver(() => {
      rest.refresh();
      if (performance.now() >= notBefore && process.memoryUsage.rss() >= limit) collect();
    });
    created.observe({entryTypes: ['gc']});
    observer = created;
  }, SHORT_RUN_MS).unref();
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
