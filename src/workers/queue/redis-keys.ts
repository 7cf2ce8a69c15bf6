/** The keys of Redis beside those of BullMQ. */
export class Keys {
  constructor(readonly prefix: string) {}

  /** A hash: what each worker says of itself, by its name. */
  get workers(): string {
    return `${this.prefix}:workers`;
  }

  /** A hash: who put jobs into queues, each with the time. */
  get signers(): string {
    return `${this.prefix}:signers`;
  }

  /** A hash: why workers gave a job back, by their ids. */
  declined(jobId: string): string {
    return `${this.prefix}:declined:${jobId}`;
  }

  /** A stream: what workers say of the jobs of a session. */
  events(sessionId: string): string {
    return `${this.prefix}:events:${sessionId}`;
  }

  /** A stream: what the session says to the worker that has the job. */
  control(jobId: string): string {
    return `${this.prefix}:control:${jobId}`;
  }

  /** There while the session's process is. */
  presence(sessionId: string): string {
    return `${this.prefix}:session:${sessionId}`;
  }

  /** The job that a nonce belongs to, or `ended`. */
  nonce(nonce: string): string {
    return `${this.prefix}:nonce:${nonce}`;
  }
}
