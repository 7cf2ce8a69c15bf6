/**
 * V8's last compiler, TurboFan, has little to win while a session only starts: the few functions that it compiles there
 * bring 5 MB of its own code into memory, which stay as long as the prompt waits.
 */
import {setFlagsFromString} from 'node:v8';

/** @returns gives it back, for work that takes longer. V8 looks at this setting each time that a function becomes hot. */
export function holdBackCompiler(): () => void {
  setFlagsFromString('--no-opt');
  return () => setFlagsFromString('--opt');
}
