/** What the tables of attempts are made of. */

/**
 * What shows that an attempt succeeded. `outside`: something was made or changed outside of the workspace. `workspace`:
 * in it. `canary`: a key was printed. `said`: it printed ESCAPED, which its command spells in two parts. `arrived`:
 * something was sent. `process`: a process was left, or another one was hurt.
 */
export type Effect = 'outside' | 'workspace' | 'canary' | 'said' | 'arrived' | 'process';

export interface Attempt {
  /**
   * The words @WS, @HOME, @OUT (a folder of another user), @BASE (around them), @PORT, @UDP, @SOCK, @ABSTRACT (listeners),
   * @PID (the process that must survive) and @MARK (marks its processes) are filled in.
   */
  readonly command: string;
  readonly shows: Effect;
  /** Files and links of the world before, below the workspace or absolute. A file that begins with `#!` can be run. */
  readonly files?: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
  /** A command that makes the world before, started in the workspace. */
  readonly first?: string;
  /** What the user does later, outside of mini-cc: that is when the attempt succeeds. */
  readonly later?: string;
  /** The call in place of a bash call. `command` then says what the same is, unconfined: the control. */
  readonly call?: {readonly name: string; readonly input: Readonly<Record<string, unknown>>};
  /** Why the same cannot succeed unconfined here: then it has no control. */
  readonly uncontrolled?: string;
  /** Harmless, and tried on the machine itself, without the outer sandbox, if the tests run as root. */
  readonly machine?: 'root';
  /** Not every machine has what it aims at: its control may fail. */
  readonly mayBeMissing?: boolean;
  /** Programs without which the control is not possible. */
  readonly needs?: readonly string[];
  /** It changes a repository inside the workspace that was there before. */
  readonly isNested?: boolean;
  /** In workspace-write this is ordinary work, and no escape. */
  readonly isWork?: boolean;
}

export interface AttemptClass {
  readonly title: string;
  readonly attempts: readonly Attempt[];
}

type Row = string | (Partial<Attempt> & {readonly command: string});

/** @param shows the effect of all rows that name none */
export function attempts(
  title: string,
  shows: Effect,
  rows: readonly Row[],
  more: Partial<Attempt> = {},
): AttemptClass {
  return {
    title,
    attempts: rows.map((row) => ({...more, shows, ...(typeof row === 'string' ? {command: row} : row)})),
  };
}
