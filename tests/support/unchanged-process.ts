/** Runs with each test file (vitest.config.ts). Files share a process: the one that leaves it changed fails, not a later one. */
import {afterAll, expect} from 'vitest';

const before = observe();
afterAll(() => expect(observe(), 'the process, as this test file leaves it').toEqual(before));

function observe() {
  // Packages below Ink listen to signals from their first use on, and open sandboxes to the end of the process.
  const events = process.eventNames().filter((name) => !/^(?:SIG|exit$)/.test(String(name)));
  return {
    environment: {...process.env},
    folder: process.cwd(),
    umask: process.umask(),
    exitCode: process.exitCode,
    listeners: Object.fromEntries(events.map((name) => [name, process.listenerCount(name)])),
  };
}
