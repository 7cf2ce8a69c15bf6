/** Confines commands by the operating system. It fails closed: without a working sandbox nothing runs. */
import type {Duplex} from 'node:stream';
import type {SessionFolder} from './view/session-folder.ts';

/**
 * `read-only`: the command writes only in a private `/tmp`, and has no network, no other processes and no keys.
 * `workspace-write`: the same, but it may write the workspace, except what configures git and mini-cc there, and it may
 * reach the allowed hosts.
 */
export type SandboxProfile = 'read-only' | 'workspace-write';

export type SandboxStatus =
  | {readonly available: true; readonly kind: string}
  | {
      readonly available: false;
      /** Why, for the end of a sentence: `bubblewrap is not installed`. */
      readonly reason: string;
      /** What the user can do about it. */
      readonly remedy: string;
    };

/** Where the command works. All paths are absolute with links resolved. */
export interface ConfineOptions {
  readonly cwd: string;
  readonly root: string;
  readonly extraRoots: readonly string[];
  /** Of a writable workspace only these files can be written; they exist. Absolute, links resolved. */
  readonly scope?: {readonly files: readonly string[]};
  /** Further directories that the command may read but not write, also inside hidden places. */
  readonly seen?: readonly string[];
  /** Files and folders that the command finds empty, also inside what it may read. */
  readonly masked?: readonly string[];
  /** The agent's environment: from it the command gets what is on the list of names; PATH says which programs are shown. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ConfinedCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** All of it. */
  readonly env: Readonly<Record<string, string>>;
  /** Read from descriptor 4 to the end before the command starts. */
  readonly input?: Uint8Array;
  /** Gets the other end of descriptor 5, through which the command reaches the allowed hosts. */
  readonly link?: (stream: Duplex) => void;
  /** Hosts that the command can reach. When empty, it has no network. */
  readonly reaches: readonly string[];
  /** Places that the command finds empty, absolute. */
  readonly hidden: readonly string[];
  /** Call it once when the command has ended. @returns one line for each thing that had to be repaired after it. */
  release(): readonly string[];
}

export interface Sandbox {
  /** The session's folder for temporary files, for plain commands too. */
  readonly folder: SessionFolder;
  /** Whether commands can be confined on this machine. Tried out once. Never rejects. */
  status(): Promise<SandboxStatus>;
  /**
   * The command line that runs `argv` confined. It inherits file descriptors.
   * @throws MiniCcError `SANDBOX_UNAVAILABLE` unless `status()` has returned `available: true`, `SANDBOX_CANNOT_PROTECT` for
   * a workspace whose protected places could be replaced.
   */
  confine(profile: SandboxProfile, argv: readonly string[], options: ConfineOptions): ConfinedCommand;
  /**
   * Whether a confined command finds at this path what is there outside.
   * @param place absolute, with links resolved; it need not exist
   */
  isVisible(place: string, options: Omit<ConfineOptions, 'cwd'>): boolean;
  /** False for a directory that only the ended command could see, such as one in its private `/tmp`. */
  outlives(directory: string, options: Omit<ConfineOptions, 'cwd'>): boolean;
}
