/** Connects to Redis or Valkey, and describes failures of connections. */
import {Redis, type RedisOptions} from 'ioredis';
import {getErrorCode, getErrorMessage, MiniCcError} from '../../core/util/errors.ts';
import {formatAddress} from './address.ts';

/**
 * Returns the name of the queue within the prefix. Sides with another secret or format use another queue, and never get
 * these jobs.
 */
export function getQueueName(signer: string): string {
  return `runs-${signer}`;
}

const CONNECT_MS = 5_000;
/** Milliseconds until the first answer. */
const ANSWER_MS = 10_000;
/** Longest pause between two attempts to connect again, in milliseconds. */
const MAX_PAUSE_MS = 1_000;
/** Milliseconds between two pings on each connection. */
const PING_MS = 2_000;
/**
 * Number of unanswered pings after which the connection counts as lost. Pings are counted instead of time, because this
 * process may have been suspended.
 */
const MAX_SILENT_PINGS = 3;

/**
 * Returns a connection that is established. Later it reconnects by itself, and commands wait until then. A connection
 * that is lost without notice (a router forgot it) is noticed within about 10 s.
 * @throws MiniCcError `QUEUE` with one line when the server cannot be reached or refuses
 */
export async function connect(url: string): Promise<Redis> {
  const {pathname, protocol} = new URL(url);
  if (!/^\/?\d*$/.test(pathname)) {
    throw new MiniCcError('QUEUE', `${formatAddress(url)}: after the port stands the number of a database, such as /1`);
  }
  const options: RedisOptions = {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    // BullMQ requires this: commands wait until the connection is back.
    maxRetriesPerRequest: null,
    keepAlive: 5_000,
    retryStrategy: () => null,
  };
  const connection = new Redis(url, options);
  let last: unknown;
  connection.on('error', (error) => {
    last = error;
  });
  let timer: NodeJS.Timeout | undefined;
  const silent = new Promise<never>((_resolve, reject) => {
    const what = 'what answers there is no Redis server: it says nothing';
    timer = setTimeout(() => reject(new MiniCcError('QUEUE', what)), ANSWER_MS);
  });
  try {
    await Promise.race([connection.connect().then(() => connection.ping()), silent]);
    // If the address names a database that does not exist, ioredis continues in database 0.
    if (last !== undefined) throw last;
  } catch (error) {
    connection.disconnect();
    const isSilent = protocol === 'rediss:' && /ETIMEDOUT/.test(getErrorMessage(last ?? error));
    throw new MiniCcError('QUEUE', `${formatAddress(url)}: ${isSilent ? NO_TLS : describeFailure(last ?? error)}`);
  } finally {
    clearTimeout(timer);
  }
  connection.options.retryStrategy = (times) => Math.min(MAX_PAUSE_MS, times * 100);
  watchSilence(connection);
  return connection;
}

/**
 * Detects lost connections, which TCP alone would notice after a quarter of an hour. A blocking command must take less
 * time than the pings that may be missed.
 */
function watchSilence(connection: Redis): void {
  let [isAsked, missed] = [false, 0];
  const answered = () => {
    [isAsked, missed] = [false, 0];
  };
  const timer = setInterval(() => {
    const {status} = connection;
    // Connecting has a limit of its own. After it, the status is `connect` until the server has answered.
    if (status !== 'ready' && status !== 'connect') return answered();
    if (status === 'ready' && !isAsked) {
      isAsked = true;
      connection.ping().then(answered, answered);
      return;
    }
    missed += 1;
    if (missed < MAX_SILENT_PINGS) return;
    answered();
    // Commands that wait for their answer are sent again.
    connection.disconnect(true);
  }, PING_MS);
  timer.unref();
  connection.once('end', () => clearInterval(timer));
}

const NO_TLS = 'no server answers there over TLS: redis:// is without it, rediss:// with it';

/**
 * Describes a failure of the queue. The words of the server are left out, because any client of the server may have
 * written them.
 */
export function describeFailure(error: unknown): string {
  const text = getErrorMessage(error);
  if (error instanceof MiniCcError) return text;
  if (/ECONNREFUSED/.test(text)) return 'no Redis server answers there (connection refused)';
  if (/ENOTFOUND|EAI_AGAIN/.test(text)) return 'there is no such host';
  if (/DB index is out of range/.test(text)) return 'the server has no database of this number';
  if (/^Protocol error/.test(text)) return 'what answers there is no Redis server';
  if (/EPROTO|wrong version number|packet length too long/i.test(text)) {
    return NO_TLS;
  }
  if (/CERT|^ERR_TLS/.test(getErrorCode(error) ?? '')) return 'its certificate is not one for this address';
  if (/ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/.test(text)) return 'it cannot be reached';
  if (/NOAUTH|WRONGPASS|invalid password/i.test(text)) return 'the server refuses the password of the address';
  if (/^OOM|OOM command not allowed/.test(text)) return 'the Redis server is full (its maxmemory is reached)';
  if (/MISCONF/.test(text)) return 'the Redis server cannot write to its disk';
  if (/max number of clients/.test(text)) return 'the Redis server has too many clients';
  if (/^LOADING/.test(text)) return 'the Redis server still reads its data';
  if (/^READONLY/.test(text)) return 'the Redis server is a copy that cannot be written';
  if (/^NOPERM/.test(text)) return 'the Redis server does not permit this to its user';
  return (error as Error | undefined)?.name === 'ReplyError' ? 'the Redis server answers with an error' : text;
}
