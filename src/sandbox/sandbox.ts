/**
 * Contract of the sandbox, which confines commands by the operating system. It fails closed: without a working sandbox
 * no command runs.
 */
import type {Duplex} from 'node:stream';
import type {SessionFolder} from './view/session-folder.ts';

/**
 * `read-only`: the command writes only in a private `/tmp` and its temporary folder, and has no network, no other
 * processes and no keys. `workspace-write`: the same, but the command may write the workspace, except the places that
 * configure git and mini-cc there, and it may reach the allowed hosts. `guarded`: the command is as a plain one, but these places, and files
 * that the user's shells, git and ssh read at start, stay read-only.
 */
export type SandboxProfile = 'read-only' | 'workspace-write' | 'guarded';

export type SandboxStatus =
  | {readonly available: true; readonly kind: string}
  | {
      readonly available: false;
      /** The reason, worded for the end of a sentence: `bubblewrap is not installed`. */
      readonly reason: string;
      /** What the user can do about it, as an instruction. */
      readonly remedy: string;
    };

/** Places with which the command works. All paths are absolute with links resolved. */
export interface ConfineOptions {
  readonly cwd: string;
  readonly root: string;
  readonly extraRoots: readonly string[];
  /** In a writable workspace only these existing files can be written. */
  readonly scope?: {readonly files: readonly string[]};
  /** Further directories that the command may read but not write, even inside hidden places. */
  readonly seen?: readonly string[];
  /** Files and folders that the command finds empty, even inside places that it may read. */
  readonly masked?: readonly string[];
  /**
   * The agent's environment. The command gets the variables whose names are on the list, and sees the programs on its
   * PATH.
   */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ConfinedCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** The whole environment of the command. */
  readonly env: Readonly<Record<string, string>>;
  /** Data for descriptor 4, read to its end before the command starts. */
  readonly input?: Uint8Array;
  /** Receives the other end of descriptor 5, through which the command reaches the allowed hosts. */
  readonly link?: (stream: Duplex) => void;
  /** Hosts that the command can reach. When the list is empty, the command has no network. */
  readonly reaches: readonly string[];
  /**
   * Must be called once when the command has ended.
   * @param hasBegun false when no command ran, so that nothing has to be looked at. Default: true
   * @returns one line for each thing that had to be repaired afterwards
   */
  release(hasBegun?: boolean): readonly string[];
}

export interface Sandbox {
  /** The session's folder for temporary files, also of plain commands. */
  readonly folder: SessionFolder;
  /** Whether commands can be confined on this machine. It is tested once. Never rejects. */
  status(): Promise<SandboxStatus>;
  /**
   * Returns the command line that runs `argv` confined. The command inherits file descriptors.
   * @throws MiniCcError `SANDBOX_UNAVAILABLE` unless `status()` has returned `available: true`,
   * `SANDBOX_CANNOT_PROTECT` for a workspace whose protected places could be replaced.
   */
  confine(profile: SandboxProfile, argv: readonly string[], options: ConfineOptions): ConfinedCommand;
  /** Searches ahead for what the first command needs that may write. It changes nothing. */
  prepare?(options: ConfineOptions): void;
  /** Whether `confine` puts files into the workspace that a checkpoint would see. They are there until `release`. */
  addsFiles(profile: SandboxProfile, options: ConfineOptions): boolean;
  /**
   * Returns whether a confined command finds at a path what is there outside. The path is absolute, with links resolved;
   * it need not exist.
   */
  visibleIn(options: Omit<ConfineOptions, 'cwd'>): (place: string) => boolean;
  /** False for a directory that only the ended command could see, such as one in its private `/tmp`. */
  outlives(directory: string, options: Omit<ConfineOptions, 'cwd'>): boolean;
}
