/** Connections to Redis or Valkey, and what goes wrong with them in words. */
import {Redis, type RedisOptions} from 'ioredis';
import {getErrorMessage, MiniCcError} from '../../core/util/errors.ts';
import {formatAddress} from './address.ts';

/** The name of the queue within the prefix. Who has another secret or format has another queue, and never gets these jobs. */
export function getQueueName(signer: string): string {
  return `runs-${signer}`;
}

const CONNECT_MS = 5_000;
/** Between two attempts to connect again, at most. Milliseconds. */
const MAX_PAUSE_MS = 1_000;

/**
 * A connection that is there when this resolves. Later it connects again by itself, and commands wait meanwhile.
 * @throws MiniCcError `QUEUE` with one line when the server cannot be reached or refuses
 */
export async function connect(url: string): Promise<Redis> {
  const options: RedisOptions = {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    // BullMQ asks for it: commands wait until the connection is back.
    maxRetriesPerRequest: null,
    keepAlive: 5_000,
    retryStrategy: () => null,
  };
  const connection = new Redis(url, options);
  let last: unknown;
  connection.on('error', (error) => {
    last = error;
  });
  try {
    await connection.connect();
    await connection.ping();
  } catch (error) {
    connection.disconnect();
    throw new MiniCcError('QUEUE', `${formatAddress(url)}: ${describeFailure(last ?? error)}`);
  }
  connection.options.retryStrategy = (times) => Math.min(MAX_PAUSE_MS, times * 100);
  return connection;
}

/** In a few words. */
export function describeFailure(error: unknown): string {
  const text = getErrorMessage(error);
  if (/ECONNREFUSED/.test(text)) return 'no Redis server answers there (connection refused)';
  if (/ENOTFOUND|EAI_AGAIN/.test(text)) return 'there is no such host';
  if (/ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/.test(text)) return 'it cannot be reached';
  if (/NOAUTH|WRONGPASS|invalid password/i.test(text)) return 'the server refuses the password of the address';
  if (/^OOM|OOM command not allowed/.test(text)) return 'the Redis server is full (its maxmemory is reached)';
  if (/MISCONF/.test(text)) return 'the Redis server cannot write to its disk';
  return text;
}
