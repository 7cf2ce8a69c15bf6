/** What tests of workers share: a Redis server and worker processes that go with the test. */
import {onTestFinished} from 'vitest';
import {
  createRedis,
  createWorker,
  type RedisServer,
  type RunningWorker,
  type WorkerSettings,
} from '../../support/queue.ts';
import {until} from '../../support/wait.ts';

export {
  freePort,
  listWorkers,
  type RedisServer,
  type RunningWorker,
  SECRET,
  type WorkerSettings,
  withQueue,
} from '../../support/queue.ts';

/** A server on loopback, with an append-only file that survives a kill. */
export async function startRedis(config: readonly string[] = []): Promise<RedisServer> {
  const redis = await createRedis(config);
  onTestFinished(redis.close);
  return redis;
}

/** Starts a worker, and waits until it serves. */
export async function startWorker(options: WorkerSettings): Promise<RunningWorker> {
  const worker = await createWorker(options);
  onTestFinished(worker.close);
  return worker;
}

/** As `until`, for what needs several processes: they may have little of a machine's time. */
export async function eventually(condition: () => Promise<boolean> | boolean): Promise<void> {
  await until(condition, 'what the processes do together');
}
