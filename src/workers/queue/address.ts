/** Where a queue is, and how that is shown. */

/** Where the queue is. */
export interface QueueAddress {
  readonly url: string;
  readonly prefix: string;
  readonly secret: string;
}

/** The address without what could be a password. */
export function formatAddress(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed ? `${parsed.protocol}//${parsed.host}${parsed.pathname === '/' ? '' : parsed.pathname}` : url;
}

/** The address without its password; undefined for what is no address of Redis. */
export function checkQueueUrl(url: string): string | undefined {
  const isRedis = URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol) && new URL(url).hostname !== '';
  return isRedis ? formatAddress(url) : undefined;
}
