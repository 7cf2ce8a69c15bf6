export interface Options {
  /** Seconds. Default: 30. */
  readonly timeout?: number;
}

export function getDeadline({timeout = 30}: Options, now: number): number {
  return now + timeout;
}
