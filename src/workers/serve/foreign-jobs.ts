/**
 * Finds jobs that wait in this queue for workers with another secret or version. This worker never gets them, and
 * reports them.
 */
import type {Redis} from 'ioredis';
import {getQueueName} from '../queue/connection.ts';
import type {Keys} from '../queue/redis-keys.ts';
import {describeMismatch} from '../queue/worker-list.ts';

/** Milliseconds. A session that has queued no job for this long is ignored. */
const RECENT_MS = 24 * 60 * 60 * 1000;

/** @param now time of the server's clock, in milliseconds @returns one line for each signer with jobs that wait */
export async function findForeignJobs(
  connection: Redis,
  keys: Keys,
  signer: string,
  now: number,
): Promise<readonly string[]> {
  const signers = Object.entries(await connection.hgetall(keys.signers));
  const others = signers.filter(([other, at]) => other !== signer && now - Number(at) < RECENT_MS);
  const said: string[] = [];
  for (const [other] of others) {
    const waiting = await connection.llen(`${keys.prefix}:${getQueueName(other)}:wait`);
    const why = describeMismatch(other, signer);
    if (waiting > 0 && why)
      said.push(`jobs wait here that it leaves to other workers: their session ${why}${mend(why)}`);
  }
  return said;
}

function mend(why: string): string {
  return why.endsWith('secret')
    ? '. Give both the same value of MINI_CC_QUEUE_SECRET (or of secretEnv)'
    : '. Install one version on both sides';
}
