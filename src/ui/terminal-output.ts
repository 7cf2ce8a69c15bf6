/**
 * Wraps the stream to which Ink writes: it shortens cursor moves and style codes, can drop what Ink writes, and can
 * write a whole frame at once.
 */
import {shortenMoves} from './frame-moves.ts';
import {shortenCodes} from './short-codes.ts';

export interface TerminalOutput {
  readonly stream: NodeJS.WriteStream;
  /** Drops everything that is written while `work` runs. */
  quietly(work: () => void): void;
  /**
   * Writes `before` and everything that is written while `work` runs as one piece, so that no half of it is ever shown.
   */
  atOnce<T>(before: string, work: () => T): T;
}

export function terminalOutput(stdout: NodeJS.WriteStream): TerminalOutput {
  let isQuiet = false;
  let gathered: string | undefined;
  const write: NodeJS.WriteStream['write'] = (text: unknown, ...given: unknown[]) => {
    if (isQuiet) return true;
    if (typeof text !== 'string') return Reflect.apply(stdout.write, stdout, [text, ...given]);
    const short = shortenCodes(shortenMoves(text));
    if (gathered === undefined) return Reflect.apply(stdout.write, stdout, [short, ...given]);
    gathered += short;
    const done = given.at(-1);
    if (typeof done === 'function') queueMicrotask(() => done());
    return true;
  };
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
    atOnce(before, work) {
      gathered = before;
      try {
        return work();
      } finally {
        const text = gathered;
        gathered = undefined;
        if (text !== '') stdout.write(text);
      }
    },
  };
}
