/**
 * V8's last compiler, TurboFan, has little to win while a session only starts: the few functions that it compiles there
 * bring 5 MB of its own code into memory, which stay as long as the prompt waits.
 */
import {setFlagsFromString} from 'node:v8';

/**
 * @param isIdle nothing is to be done yet. A conversation that goes on is work from the start: it is read and shown
 * @returns gives the compiler back, for work. V8 looks at this setting each time that a function becomes hot
 */
export function holdBackCompiler(isIdle: boolean): () => void {
  if (!isIdle) return () => undefined;
  setFlagsFromString('--no-opt');
  return () => setFlagsFromString('--opt');
}
