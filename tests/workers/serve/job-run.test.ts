/** One job at a worker, from its message to its result. The server is one in memory; the run is a script. */
import {randomBytes} from 'node:crypto';
import {gunzipSync} from 'node:zlib';
import {expect, it, vi} from 'vitest';
import type {AgentEventBody} from '../../../src/core/contract/events.ts';
import type {CachedTree, TreeCache, TreeSource} from '../../../src/storage/worktrees/tree-cache.ts';
import {Keys} from '../../../src/workers/queue/address.ts';
import {Blobs} from '../../../src/workers/queue/blobs.ts';
import type {JobControl} from '../../../src/workers/queue/checked-contents.ts';
import {type Job, type JobEvent, LIFE_MS, toRelative} from '../../../src/workers/queue/messages.ts';
import {Signatures} from '../../../src/workers/queue/signatures.ts';
import {type Execute, type Executed, GiveBack, JobRun} from '../../../src/workers/serve/job-run.ts';
import {passTime, passTimeUntil, stopTime} from '../../support/fake-time.ts';
import {until} from '../../support/wait.ts';
import {createResult, createTask} from '../contents.ts';
import {MemoryRedis} from '../memory-redis.ts';

const ROOT = '/srv/trees/app';
const work = toRelative(createTask({messages: [{role: 'user', content: '/home/me/app/a.ts'}]}), '/home/me/app');
const executed: Executed = {result: createResult({text: `wrote ${ROOT}/a.ts`}), entries: []};

interface Options {
  readonly execute?: Execute;
  readonly open?: (source: TreeSource) => Promise<unknown>;
  readonly job?: Partial<Job>;
  readonly isHeld?: boolean;
}

function createRun({execute = async () => executed, open, job, isHeld = true}: Options = {}) {
  const redis = new MemoryRedis();
  const [keys, signatures, blobs] = [new Keys('p'), new Signatures('secret'), new Blobs(redis.client, 'p')];
  const trees = {
    open: async (_tree: unknown, source: TreeSource) => {
      await open?.(source);
      return {root: ROOT} as CachedTree;
    },
  } as unknown as TreeCache;
  const message = {
    jobId: 'job',
    sessionId: 's',
    runId: 'r',
    round: 1,
    tree: {},
    work: JSON.stringify(work),
    ...job,
  } as Job;
  const deps = {keys, blobs, signatures, trees, execute, connection: redis.client, worker: 'build'};
  const run = new JobRun(message, 2, {...deps, isHeld: async () => isHeld});
  const write = (text: string) => redis.xadd(keys.control('job'), '*', 'm', text);
  const seal = (control: JobControl, jobId = 'job', by = signatures) =>
    JSON.stringify(by.sign('control', {jobId, message: control}, 1_000));
  const say = (...message: Parameters<typeof seal>) => write(seal(...message));
  const events = () =>
    (redis.streams.get(keys.events('s')) ?? []).map(
      ([, fields]) => signatures.verify('event', JSON.parse(fields[1]!)).body as JobEvent,
    );
  const said = () => events().map(({what}) => (what.type === 'event' ? what.event : what));
  return {run, redis, keys, blobs, signatures, write, seal, say, events, said};
}

const read = (outcome: unknown) => JSON.parse(gunzipSync(Buffer.from(outcome as string, 'base64')).toString());

it('a job works on its conversation with the paths of its tree, and its result has those of no machine', async () => {
  let given: unknown[] = [];
  const patched = {...executed, patch: Buffer.from('patch'), commits: Buffer.from('commits')};
  const {run, events, redis, keys} = createRun({
    execute: async (asked, place) => {
      given = [asked.prompt, asked.messages, place.runId, place.tree.root, place.traceparent, place.signal.aborted];
      return patched;
    },
    job: {traceparent: 'trace'},
  });
  const outcome = read(await run.work());
  expect(given).toEqual(['go', [{role: 'user', content: `${ROOT}/a.ts`}], 'r', ROOT, 'trace', false]);
  expect(JSON.stringify(outcome)).not.toContain(ROOT);
  expect(outcome).toMatchObject({entries: [], patch: btoa('patch'), commits: btoa('commits')});
  expect(events()).toEqual([{jobId: 'job', attempt: 2, worker: 'build', what: {type: 'begun'}}]);
  expect([redis.lives.get(keys.events('s')), run.isStopped]).toEqual([LIFE_MS, false]);
});

it('a session hears what its run does, but no texts that stream, and no large content', async () => {
  const large = 'x'.repeat(4_096);
  const message = {type: 'message', role: 'assistant', id: 'm', model: 'x'};
  const short = {...message, content: [{type: 'text', text: 'short'}]};
  const {run, said} = createRun({
    execute: async (_work, place) => {
      const events = [
        ...[{type: 'text_delta', text: 'a'}, {type: 'message', role: 'user', content: []}, short],
        ...[
          {...message, content: [{type: 'text', text: large}]},
          {type: 'run_note', text: large},
        ],
        {type: 'run_note', text: 'note'},
      ];
      for (const event of events) place.onEvent(event as AgentEventBody);
      place.onDelivered('message-1');
      return executed;
    },
  });
  await run.work();
  const heard = [{type: 'begun'}, short, {...message, content: []}, {type: 'run_note', text: 'note'}];
  expect(said()).toEqual([...heard, {type: 'delivered', id: 'message-1'}]);
});

it('a run gets all messages that are signed, of their form and meant for it, each once, also those from before it listened', async () => {
  const got: string[] = [];
  const {run, say, seal, write} = createRun({
    execute: async (_work, place) => {
      place.onMessage((id, text) => void got.push(`${id} ${text}`));
      await say({type: 'send', id: '4', text: 'late'});
      await until(() => got.length === 3, 'the messages');
      return executed;
    },
  });
  await say({type: 'send', id: '1', text: 'early'});
  await say({type: 'send', id: '2', text: 'of another'}, 'other');
  await say({type: 'send', id: '3', text: 'forged'}, 'job', new Signatures('wrong'));
  await write('no JSON');
  await write(seal({type: 'send', id: '5', text: 5} as never));
  const copied = seal({type: 'send', id: '6', text: 'once'});
  for (let copies = 0; copies < 3; copies += 1) await write(copied);
  await run.work();
  expect(got).toEqual(['1 early', '6 once', '4 late']);
});

it('a run that a person stops gives the result that it has; one that its worker ends gives none', async () => {
  const untilAborted: Execute = async (_work, {signal}) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, {once: true}));
    return executed;
  };
  let started = 0;
  const execute: Execute = (...args) => {
    started += 1;
    return untilAborted(...args);
  };
  const stopped = createRun({execute});
  const result = stopped.run.work();
  await until(() => started === 1, 'the run');
  await stopped.say({type: 'stop'});
  expect(read(await result).result.outcome).toBe('success');
  expect(stopped.run.isStopped).toBe(true);
  const ended = createRun({execute});
  const none = ended.run.work();
  await until(() => started === 2, 'the other run');
  ended.run.abort(new Error('lost'));
  await expect(none).rejects.toThrow('lost');
  expect(ended.run.isStopped).toBe(false);
});

it('a result that is too large for the message lies beside it, unless another worker has the job by now', async () => {
  const large = {...executed, patch: randomBytes(64 * 1024)};
  const {run, blobs, redis} = createRun({execute: async () => large});
  const ref = await run.work();
  if (typeof ref === 'string') throw new Error('it is in the message');
  const bytes = await blobs.read(ref);
  expect(JSON.parse(gunzipSync(bytes).toString()).patch).toBe(large.patch.toString('base64'));
  redis.set = async () => Promise.reject(new Error('OOM command not allowed'));
  const failed = (await run.work().catch((error: unknown) => error)) as GiveBack;
  expect(failed).toMatchObject({isOwn: false, message: expect.stringMatching(/written: the Redis server is full/)});
  const late = await createRun({execute: async () => large, isHeld: false})
    .run.work()
    .catch((error: unknown) => error);
  expect(late).not.toBeInstanceOf(GiveBack);
  expect(String(late)).toContain('taken it over');
});

it('a large task is read from beside its message, and a tree that cannot be made goes to another worker', async () => {
  let prompt = '';
  const execute: Execute = async (asked) => {
    prompt = asked.prompt;
    return executed;
  };
  const blob = new Blobs(new MemoryRedis().client, 'p').describe(Buffer.from(JSON.stringify(work)));
  const beside = createRun({execute, job: {work: blob}});
  await beside.blobs.put(Buffer.from(JSON.stringify(work)), blob);
  await beside.run.work();
  expect(prompt).toBe('go');
  const full = createRun({open: async () => Promise.reject(new Error('the disk is full'))});
  const failed = await full.run.work().catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(GiveBack);
  expect(failed).toMatchObject({isOwn: true, message: 'it cannot lay out the files: the disk is full'});
});

it('parts of a tree that the worker lacks are asked for at the session, and taken out of the queue', async () => {
  const parts: string[] = [];
  const asking = createRun({
    open: async (source) => {
      parts.push(String(await source.readBundle()));
    },
  });
  asking.redis.values.set(asking.keys.presence('s'), Buffer.from('1'));
  const ended = asking.run.work();
  await until(() => asking.said().length === 2, 'the question');
  expect(asking.said()[1]).toEqual({type: 'needs', part: 'bundle'});
  const sent = asking.blobs.describe(Buffer.from('sent'));
  await asking.blobs.put(Buffer.from('sent'), sent);
  await asking.say({type: 'part', part: 'bundle', blob: sent});
  await ended;
  expect([parts, [...asking.redis.values.keys()]]).toEqual([['sent'], [asking.keys.presence('s')]]);
});

it('a part that is not what the session wrote sends the job back to the queue', async () => {
  const {run, redis, keys, blobs, say, said} = createRun({open: (source) => source.readPatch()});
  redis.values.set(keys.presence('s'), Buffer.from('1'));
  const error = run.work().catch((reason: unknown) => reason);
  await until(() => said().length === 2, 'the question');
  const sent = blobs.describe(Buffer.from('sent'));
  await blobs.put(Buffer.from('changed'), sent);
  await say({type: 'part', part: 'patch', blob: sent});
  expect(await error).toMatchObject({isOwn: false, message: expect.stringMatching(/^its files did not come: /)});
});

it('a job whose session is away, or does not send its files within ten minutes, goes back to the queue', async () => {
  stopTime();
  const give = async (after: number | undefined, isAway: boolean) => {
    const {run, redis, keys} = createRun({open: (source) => source.readPatch()});
    if (after !== undefined) redis.values.set(keys.presence('s'), Buffer.from('1'));
    const error = run.work().catch((reason: unknown) => reason);
    await passTime(5);
    if (after !== undefined) await vi.advanceTimersByTimeAsync(after);
    if (isAway) redis.values.clear();
    return (await passTimeUntil(error)) as GiveBack;
  };
  for (const given of [await give(undefined, true), await give(2_000, true)]) {
    expect(given).toMatchObject({
      isOwn: false,
      message: expect.stringMatching(/only its session has its files, and that is away$/),
    });
  }
  expect(await give(599_000, false)).toMatchObject({
    isOwn: false,
    message: expect.stringMatching(/does not send them$/),
  });
});
