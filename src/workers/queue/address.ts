/** Describes where a queue is: its address, and its keys in Redis that are not those of BullMQ. */

export interface QueueAddress {
  readonly url: string;
  readonly prefix: string;
  readonly secret: string;
}

/** Formats the address without the parts that could be a password. */
export function formatAddress(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed ? `${parsed.protocol}//${parsed.host}${parsed.pathname === '/' ? '' : parsed.pathname}` : url;
}

/** Returns the address without its password; undefined if it is no address of Redis. */
export function checkQueueUrl(url: string): string | undefined {
  const isRedis = URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol) && new URL(url).hostname !== '';
  return isRedis ? formatAddress(url) : undefined;
}

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
