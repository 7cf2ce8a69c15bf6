/** Signals end the work in order: tools and subagents first, then the transcript, then we. */
const CODES = {SIGHUP: 129, SIGINT: 130, SIGTERM: 143} as const;
/** Longer than any tool needs to end. Milliseconds. */
const LAST_MOMENT = 3_000;

/** @param close ends the session; it is called once, with the exit code. A second signal does not wait for it. */
export function onSignals(close: (code: number) => Promise<unknown>): void {
  let closing = false;
  for (const [signal, code] of Object.entries(CODES)) {
    process.on(signal, () => {
      if (closing) process.exit(code);
      closing = true;
      setTimeout(() => process.exit(code), LAST_MOMENT).unref();
      void close(code).finally(() => process.exit(code));
    });
  }
}
