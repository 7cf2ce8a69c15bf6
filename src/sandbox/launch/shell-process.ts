/** The types that all ways to start a shell share: their arguments and their result. */
import type {Duplex, Readable} from 'node:stream';
import type {NamedPipes} from './named-pipes.ts';
import type {withMark} from './process-groups.ts';

/** Descriptor from which a shell reads its command when it was started ahead. */
export const COMMAND = 6;
/** Data from descriptor 3 of a shell that could not be started. */
export const NOT_STARTED = 'F';

/** The arguments for the start of a shell. */
export interface ShellStart {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment; nothing of mini-cc's own environment is added. */
  readonly env: Readonly<Record<string, string>>;
  /** Data that the program reads from descriptor 4. */
  readonly input?: Uint8Array | undefined;
  /** Receives the other end of descriptor 5. */
  readonly link?: ((stream: Duplex) => void) | undefined;
  /** Starts the shell where it can. Absent: Node starts it, and the output uses what Node calls a pipe. */
  readonly starter?: ShellStarter | undefined;
}

export type MarkedStart = ShellStart & {readonly env: ReturnType<typeof withMark>};

export interface ShellStarter {
  readonly pipes: NamedPipes;
  /**
   * @param isWaiting whether the shell waits for its command
   * @returns undefined when Node must start it. Nothing has run then.
   * @throws MiniCcError `SPAWN` when it is not known whether it has run
   */
  start(start: MarkedStart, isWaiting: boolean): Promise<ShellProcess | undefined>;
}

export interface ShellProcess {
  readonly pid: number;
  readonly env: MarkedStart['env'];
  /** Standard output and standard error. */
  readonly output: readonly Readable[];
  /** Data from descriptor 3. */
  readonly report: Readable;
  readonly exited: Promise<Exit>;
  /** Present where the shell waits for its command. Exactly one of its functions must be called. */
  readonly input?: {
    /** @param command so short that a pipe takes it whole */
    give(command: string): void;
    /** Ends the shell without a command. */
    close(): void;
  };
  /** The handle that keeps mini-cc running until the shell has ended. */
  readonly handles: readonly {ref(): unknown; unref(): unknown}[];
}

/** Both are null where the exit code was lost. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}
