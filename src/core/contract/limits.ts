/** The limits of a run, and the time by which they are counted. */

export interface Limits {
  /** Model calls. */
  readonly maxTurns: number;
  /** Wall time in seconds, without the time that waits for a person; 0 = none. */
  readonly timeoutSeconds: number;
}

/** Limits of one layer: a Task call, a definition or the settings. What it does not set comes from the next layer. */
export interface NamedLimits {
  readonly maxTurns?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  /** Tokens in and out, cache included. */
  readonly maxTokens?: number | undefined;
}

export type RunLimits = Limits & Pick<NamedLimits, 'maxTokens'>;

/** Time as limits see it: milliseconds that never jump, and timers. A test passes its own. */
export interface Clock {
  now(): number;
  /** @param idle it must not keep a program alive that has nothing else to do. @returns the way to cancel it. */
  setTimer(callback: () => void, ms: number, idle?: boolean): () => void;
}
