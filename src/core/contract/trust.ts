/** What a project's files ask for that could run code or send data elsewhere: it counts only once the user trusts it. */
export interface Claim {
  /** The absolute path of the file that asks. */
  readonly file: string;
  /** As messages name it: `permissions.allow`. */
  readonly key: string;
  /** What takes effect if it is trusted. */
  readonly value: unknown;
}

/** Whether the user trusts exactly this: the file, the key, the value. */
export type Trusts = (claim: Claim) => boolean;
