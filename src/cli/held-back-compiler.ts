/**
 * V8's last compiler, TurboFan, has little to win while a session only starts: the few functions that it compiles there
 * bring 5 MB of its own code into memory, which stay as long as the prompt waits.
 */
import {setFlagsFromString} from 'node:v8';

/** That of Node.js 24. Another one may not know a flag, and would print an error into the screen. */
const KNOWN_V8 = /^13\.6\./;

/**
 * @param isIdle nothing is to be done yet. A conversation that goes on is work from the start: it is read and shown
 * @returns gives the compiler back, for work, also for what became hot before
 */
export function holdBackCompiler(isIdle: boolean): () => void {
  if (!isIdle || !KNOWN_V8.test(process.versions.v8)) return () => undefined;
  // The second: what the compiler before it makes meanwhile asks for the last one all the same. Else it never would.
  setFlagsFromString('--no-opt');
  setFlagsFromString('--force-emit-interrupt-budget-checks');
  return () => setFlagsFromString('--opt');
}
