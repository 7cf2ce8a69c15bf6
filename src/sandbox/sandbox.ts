/** A command → the same command, held by the operating system. Fails closed: without a working sandbox nothing runs. */

import type {Duplex} from 'node:stream';

/**
 * `read-only`: no writing outside a private `/tmp`, no network, no other processes, no keys.
 * `workspace-write`: the same, but the workspace may be written, without what rules over git and mini-cc in it,
 * and hosts that are allowed may be reached.
 */
export type SandboxProfile = 'read-only' | 'workspace-write';

export type SandboxStatus =
  | {readonly available: true; readonly kind: string}
  | {
      readonly available: false;
      /** Why, as the end of a sentence: `bubblewrap is not installed`. */
      readonly reason: string;
      /** What a person can do about it. */
      readonly remedy: string;
    };

/** Where the command works. All paths are absolute with links resolved. */
export interface ConfineOptions {
  readonly cwd: string;
  readonly root: string;
  readonly extraRoots: readonly string[];
  /** Directories elsewhere that the command reads and never writes, also where they lie in a hidden place. */
  readonly seen?: readonly string[];
}

export interface ConfinedCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** What it reads from descriptor 4, to its end, before the command begins. */
  readonly input?: Uint8Array;
  /** Takes the other end of its descriptor 5, by which it reaches hosts that are allowed. */
  readonly link?: (stream: Duplex) => void;
  /** Hosts that it can reach; without any there is no network. */
  readonly reaches: readonly string[];
  /** Places that it finds empty, absolute. */
  readonly hidden: readonly string[];
  /** To be called once when the command has ended. @returns what had to be mended after it, one line each. */
  release(): readonly string[];
}

export interface Sandbox {
  /** Whether commands can be confined here. Tried once; never rejects. */
  status(): Promise<SandboxStatus>;
  /**
   * The command line that runs `argv` confined. File descriptors are passed through.
   * @throws MiniCcError `SANDBOX_UNAVAILABLE` unless `status()` has said that it is available, `SANDBOX_CANNOT_HOLD` for
   * a workspace whose protected places cannot be kept.
   */
  confine(profile: SandboxProfile, argv: readonly string[], options: ConfineOptions): ConfinedCommand;
  /** False for a directory that only the command which ended could see, e.g. one it made in its private `/tmp`. */
  outlives(directory: string, options: Omit<ConfineOptions, 'cwd'>): boolean;
}
