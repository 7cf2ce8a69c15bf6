/** How a session and a worker go on after a while in which the queue did not hear of them. */
import path from 'node:path';
import {Job, Queue} from 'bullmq';
import {expect, it, onTestFinished} from 'vitest';
import type {RemoteTask} from '../../../src/core/runs/remote-runs.ts';
import {RunAborted} from '../../../src/core/turn/run-ending.ts';
import {Keys} from '../../../src/workers/queue/address.ts';
import {Blobs} from '../../../src/workers/queue/blobs.ts';
import {connect, getQueueName} from '../../../src/workers/queue/connection.ts';
import {Signatures} from '../../../src/workers/queue/signatures.ts';
import {JobRun, type JobRunDeps} from '../../../src/workers/serve/job-run.ts';
import {QueueRuns} from '../../../src/workers/session/queue-runs.ts';
import {SessionEvents} from '../../../src/workers/session/session-events.ts';
import {emptyFolder} from '../../support/workspace.ts';
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
  const signatures = new Signatures(SECRET);
  const events = new SessionEvents({connection, reader, queue, signatures, keys});
  onTestFinished(() => events.close());
  events.start('s');
  await events.showPresence('s');
  for (const jobId of ['r1-1', 'r2-1']) await queue.add('run', {}, {jobId, delay: 600_000});
  events.follow('r1-1', () => undefined);
  await redis.client.unlink(presence);
  await eventually(async () => (await Job.fromId(queue, 'r1-1'))!.isWaiting());
  expect(await redis.client.exists(presence)).toBe(1);
  // The job of another session waits on.
  expect(await (await Job.fromId(queue, 'r2-1'))!.isDelayed()).toBe(true);
});

it('after /clear, which gives the session another id, workers reach it by the one of each job', async () => {
  const redis = await startRedis();
  const folder = await emptyFolder();
  onTestFinished(folder.remove);
  const tree = {key: 'a'.repeat(64), base: undefined, start: 'b'.repeat(40), remotes: []};
  const trees = {
    capture: async () => tree,
    readPatch: async () => Buffer.from('p'),
    readBundle: async () => Buffer.from('b'),
  };
  let sessionId = 'before';
  const runs = await QueueRuns.open({
    ...{address: {url: redis.url, prefix: PREFIX, secret: SECRET}, root: folder.path},
    ...{sessionId: () => sessionId, runFolder: (id) => path.join(folder.path, id), trees: trees as never},
    ...{traceparent: () => undefined, notify: () => undefined, redact: (value) => value},
  });
  const signatures = new Signatures(SECRET);
  const queue = new Queue(getQueueName(signatures.signer), {
    ...{connection: redis.client as never, prefix: PREFIX, skipVersionCheck: true},
  });
  const leaving = new AbortController();
  const ended: Promise<unknown>[] = [];
  const begun: string[] = [];
  for (const runId of ['r1', 'r2']) {
    const watch = {
      ...{label: runId, signal: leaving.signal, event: () => undefined, delivered: () => undefined},
      ...{reserve: async () => undefined, release: () => undefined},
      ...{onMessage: () => undefined, begun: (worker: string) => void begun.push(`${runId} at ${worker}`)},
    };
    const task = {
      spec: {runId},
      round: 1,
      agent: {},
      messages: [],
      permissions: {},
      limits: {},
    } as unknown as RemoteTask;
    ended.push(runs.run(task, watch));
    await eventually(async () => (await Job.fromId(queue, `${runId}-1`)) !== undefined);
    const job = (await Job.fromId(queue, `${runId}-1`))!;
    const {body} = signatures.verify('job', job.data) as {body: {sessionId: string}};
    expect([body.sessionId, await redis.client.exists(keys.presence(sessionId))]).toEqual([sessionId, 1]);
    const event = {jobId: `${runId}-1`, attempt: 1, worker: 'w', what: {type: 'begun'}};
    await redis.client.xadd(keys.events(sessionId), '*', 'm', JSON.stringify(signatures.sign('event', event, 60_000)));
    await eventually(() => begun.includes(`${runId} at w`));
    sessionId = 'after';
  }
  leaving.abort(new RunAborted('close'));
  expect(await Promise.all(ended)).toEqual([undefined, undefined]);
  await runs.close();
});

it('a run that is aborted while its worker cannot write what it asks for ends at once, and alone', async () => {
  const redis = await startRedis();
  const connection = await open(redis.url);
  const sessionId = 's';
  let aborting: Promise<void> | undefined;
  const trees = {
    async open(_tree: unknown, {readPatch}: {readPatch: () => Promise<Buffer>}) {
      await connection.set(keys.presence(sessionId), '1');
      await redis.client.client('PAUSE', 600_000, 'WRITE');
      const isWaiting = async () => /blocked_clients:[1-9]/.test(await redis.client.info('clients'));
      aborting = eventually(isWaiting).then(() => run.abort(new Error('another worker has taken it over')));
      return readPatch();
    },
  };
  const deps = {
    ...{connection, keys, blobs: new Blobs(connection, PREFIX), signatures: new Signatures(SECRET), worker: 'w', trees},
    isHeld: async () => true,
  } as unknown as JobRunDeps;
  const agent = {name: 'code', description: '', tools: '*', prompt: '', readOnly: false};
  const task = {
    ...{spec: {runId: 'r1', agent: 'code', description: '', model: 'm', background: false, cleanup: 'keep'}, round: 1},
    ...{agent, prompt: 'go', limits: {maxTurns: 1, timeoutSeconds: 60}, messages: [], isBudgeted: false},
    permissions: {mode: 'default', deny: [], edits: []},
  };
  const job = {jobId: 'r1-1', sessionId, runId: 'r1', round: 1, tree: {}, work: JSON.stringify(task)} as never;
  const run = new JobRun(job, 1, deps);
  await expect(run.work()).rejects.toThrow('taken it over');
  await aborting;
  await redis.client.client('UNPAUSE');
});
