/** Describes the address of a queue, and formats it for the screen. */

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
