/** What lies in a Redis server: as bytes, and as names for a person. */
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import type {RedisServer} from '../../support/queue.ts';

/** All values, and the server's files. */
export async function dumpRedis({client, folder}: RedisServer): Promise<string> {
  let dump = '';
  for (const key of await client.keys('*')) dump += (await client.dumpBuffer(key))?.toString('latin1') ?? '';
  for (const name of readdirSync(folder, {recursive: true, withFileTypes: true})) {
    if (name.isFile()) dump += readFileSync(path.join(name.parentPath, name.name), 'latin1');
  }
  return dump;
}

/** The keys, and what is in lists and sets: there are the states of jobs. */
export async function describeRedis({client}: RedisServer): Promise<string> {
  const found: string[] = [];
  for (const key of await client.keys('mini-cc:*')) {
    const type = await client.type(key);
    if (type === 'list') found.push(`${key}: ${await client.lrange(key, 0, -1)}`);
    else if (type === 'zset') found.push(`${key}: ${await client.zrange(key, 0, -1)}`);
    else found.push(key);
  }
  return found.toSorted().join('\n');
}
