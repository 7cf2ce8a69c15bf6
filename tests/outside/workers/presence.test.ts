/** How a session and a worker go on after a while in which the queue did not hear of them. */
import {Job, Queue} from 'bullmq';
import {expect, it, onTestFinished} from 'vitest';
import {Blobs} from '../../../src/workers/queue/blobs.ts';
import {connect} from '../../../src/workers/queue/connection.ts';
import {Keys} from '../../../src/workers/queue/keys.ts';
import {Sealer} from '../../../src/workers/queue/seal.ts';
import {JobRun, type JobRunDeps} from '../../../src/workers/serve/job-run.ts';
import {SessionEvents} from '../../../src/workers/session/session-events.ts';
import {eventually, SECRET, startRedis} from './fixture.ts';

const PREFIX = 'mini-cc';
const keys = new Keys(PREFIX);

async function open(url: string) {
  const connection = await connect(url);
  onTestFinished(() => connection.disconnect());
  return connection;
}

it('a session that was away for a while, as on a machine that slept, calls its jobs back that workers left aside', async () => {
  const redis = await startRedis();
  const [connection, reader] = [await open(redis.url), await open(redis.url)];
  const queue = new Queue('runs', {connection: connection as never, prefix: PREFIX, skipVersionCheck: true});
  const presence = keys.presence('s');
  const sealer = new Sealer(SECRET);
  const events = new SessionEvents({connection, reader, queue, sealer, stream: keys.events('s'), presence});
  onTestFinished(() => events.close());
  await events.showPresence();
  events.start();
  for (const jobId of ['r1-1', 'r2-1']) await queue.add('run', {}, {jobId, delay: 600_000});
  events.follow('r1-1', () => undefined);
  await redis.client.unlink(presence);
  await eventually(async () => (await Job.fromId(queue, 'r1-1'))!.isWaiting());
  expect(await redis.client.exists(presence)).toBe(1);
  // The job of another session waits on.
  expect(await (await Job.fromId(queue, 'r2-1'))!.isDelayed()).toBe(true);
});

it('a run that is aborted while its worker cannot write what it asks for ends at once, and alone', async () => {
  const redis = await startRedis();
  const connection = await open(redis.url);
  const sessionId = 's';
  const trees = {
    async open(_tree: unknown, {readPatch}: {readPatch: () => Promise<Buffer>}) {
      await connection.set(keys.presence(sessionId), '1');
      await redis.client.client('PAUSE', 600_000, 'WRITE');
      setTimeout(() => run.abort(new Error('another worker has taken it over')), 500);
      return readPatch();
    },
  };
  const deps = {
    ...{connection, keys, blobs: new Blobs(connection, PREFIX), sealer: new Sealer(SECRET), worker: 'w', trees},
    ...{controls: {follow: () => () => undefined}, isHeld: async () => true},
  } as unknown as JobRunDeps;
  const job = {jobId: 'r1-1', sessionId, runId: 'r1', round: 1, tree: {}, work: '{}'} as never;
  const run = new JobRun(job, 1, deps);
  await expect(run.work()).rejects.toThrow('taken it over');
  await redis.client.client('UNPAUSE');
});
