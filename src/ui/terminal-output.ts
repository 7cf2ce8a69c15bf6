/** The stream to which Ink writes. It passes everything on, but for what is said twice, and with fewer moves. */
import {shortenMoves} from './frame-moves.ts';

export interface TerminalOutput {
  readonly stream: NodeJS.WriteStream;
  /** Nothing is written while `work` runs. */
  quietly(work: () => void): void;
}

export function terminalOutput(stdout: NodeJS.WriteStream): TerminalOutput {
  let isQuiet = false;
  const write: NodeJS.WriteStream['write'] = (text: unknown, ...given: unknown[]) =>
    isQuiet || Reflect.apply(stdout.write, stdout, [typeof text === 'string' ? shortenMoves(text) : text, ...given]);
  const stream = new Proxy(stdout, {
    get: (target, name) => {
      if (name === 'write') return write;
      const value: unknown = Reflect.get(target, name);
      // Methods must run on the stream itself: a proxy cannot reach its private state.
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return {
    stream,
    quietly(work) {
      isQuiet = true;
      try {
        work();
      } finally {
        isQuiet = false;
      }
    },
  };
}
