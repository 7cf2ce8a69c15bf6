/** Builds the keys in Redis that are not those of BullMQ. */
export class Keys {
  constructor(readonly prefix: string) {}

  /** Hash of the workers' entries by their names. */
  get workers(): string {
    return `${this.prefix}:workers`;
  }

  /** Hash of the reasons why workers gave a job back, by their ids. */
  declined(jobId: string): string {
    return `${this.prefix}:declined:${jobId}`;
  }

  /** Stream of the workers' events about the jobs of a session. */
  events(sessionId: string): string {
    return `${this.prefix}:events:${sessionId}`;
  }

  /** Stream of the session's messages to the worker that has the job. */
  control(jobId: string): string {
    return `${this.prefix}:control:${jobId}`;
  }

  /** Exists while the session's process does. */
  presence(sessionId: string): string {
    return `${this.prefix}:session:${sessionId}`;
  }

  /** Value: the job that a nonce belongs to, or `ended`. */
  nonce(nonce: string): string {
    return `${this.prefix}:nonce:${nonce}`;
  }
}
