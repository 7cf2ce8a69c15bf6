/** What a session keeps of its jobs, and lays into the queue for them. The server is one in memory. */
import {mkdtempSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {gzipSync} from 'node:zlib';
import type {Job} from 'bullmq';
import {expect, it, onTestFinished} from 'vitest';
import type {ShippedTrees, TreeState} from '../../../src/storage/worktrees/shipped-trees.ts';
import {Blobs} from '../../../src/workers/queue/blobs.ts';
import {Keys} from '../../../src/workers/queue/redis-keys.ts';
import {Signatures} from '../../../src/workers/queue/signatures.ts';
import {JOB_FILE, JobFiles, type StoredJob} from '../../../src/workers/session/job-files.ts';
import {JobLimit} from '../../../src/workers/session/job-limit.ts';
import {Results} from '../../../src/workers/session/results.ts';
import {TreeUploads} from '../../../src/workers/session/tree-uploads.ts';
import {settle} from '../../support/wait.ts';
import {MemoryRedis} from '../memory-redis.ts';

const tree = {key: 'k'.repeat(64), name: 'app', remotes: [] as string[]} as TreeState;
const kept = {jobId: 'job', nonce: 'n', signer: '1-own', tree} as StoredJob;
const keys = new Keys('p');

function createKept() {
  const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-kept-'));
  onTestFinished(() => rmSync(folder, {recursive: true}));
  return {folder, jobs: new JobFiles((runId) => path.join(folder, 'runs', runId))};
}

it('further runs wait for a place in the queue, which is told once, and a run that is aborted meanwhile never begins', async () => {
  const told: string[] = [];
  const places = new JobLimit(1, (text) => void told.push(text));
  const [begun, {signal}] = [[] as string[], new AbortController()];
  const first = Promise.withResolvers<string>();
  const run = (name: string, until?: Promise<string>, by = signal) => {
    const work = async () => {
      begun.push(name);
      return until ?? name;
    };
    return places.run(work, by, () => 'stopped');
  };
  expect(await run('none', undefined, AbortSignal.abort())).toBe('stopped');
  const ends = [run('a', first.promise)];
  expect(told).toEqual([]);
  const leaving = new AbortController();
  ends.push(run('b', undefined, leaving.signal), run('c'));
  leaving.abort();
  await settle();
  expect(begun).toEqual(['a']);
  expect(told).toEqual([expect.stringMatching(/^1 job of this session is in the queue/)]);
  first.resolve('a');
  expect([await Promise.all(ends), begun]).toEqual([
    ['a', 'stopped', 'c'],
    ['a', 'c'],
  ]);
  const failing = new AbortController();
  const fail = async () => {
    failing.abort();
    throw new Error('failed');
  };
  await expect(places.run(fail, failing.signal, () => 'stopped')).rejects.toThrow('failed');
  const again = [run('d'), run('e')];
  await Promise.all(again);
  expect(told).toHaveLength(2);
});

it('a job is kept beside its transcript for its user alone until it is forgotten', async () => {
  const {folder, jobs} = createKept();
  expect(jobs.read('r')).toBeUndefined();
  await jobs.write('r', kept);
  expect([jobs.read('r'), jobs.read('other')]).toEqual([kept, undefined]);
  const file = path.join(folder, 'runs', 'r', JOB_FILE);
  expect([file, path.dirname(file)].map((each) => statSync(each).mode & 0o777)).toEqual([0o600, 0o700]);
  writeFileSync(file, '{');
  expect(() => jobs.read('r')).toThrow(SyntaxError);
  await jobs.remove('r');
  await jobs.remove('r');
  expect(jobs.read('r')).toBeUndefined();
});

it('changes of a run come into the workspace once, also where the session ended in between', async () => {
  const {jobs} = createKept();
  const asked: unknown[] = [];
  const trees = {
    bringBack: async (...args: unknown[]) => {
      asked.push(args);
      return {applied: ['a']};
    },
  } as unknown as ShippedTrees;
  const redis = new MemoryRedis();
  const [signatures, blobs] = [new Signatures('secret'), new Blobs(redis.client, 'p')];
  const results = new Results({blobs, signatures, trees, files: jobs});
  const outcome = {result: {}, entries: [], notes: [], patch: btoa('patch')};
  const bytes = gzipSync(JSON.stringify(outcome));
  const readFrom = (ref: unknown, jobId = 'job') => {
    const body = {jobId, attempt: 1, worker: 'build', outcome: ref};
    return results.read({id: 'job', returnvalue: signatures.sign('result', body, 1_000)} as unknown as Job);
  };
  expect(await readFrom(bytes.toString('base64'))).toMatchObject({worker: 'build', outcome});
  const ref = blobs.describe(bytes);
  await blobs.put(bytes, ref);
  expect(await readFrom(ref)).toEqual({ref, worker: 'build', outcome});
  expect(await blobs.has(ref)).toBe(true);
  await expect(readFrom(bytes.toString('base64'), 'other')).rejects.toThrow('that of another run');
  const {outcome: read} = await readFrom(ref);
  await results.bringBack('r', kept, {...read, commits: btoa('commits')}, 'label');
  const brought = jobs.read('r')!;
  expect(brought).toEqual({...kept, brought: {applied: ['a']}});
  expect(await results.bringBack('r', brought, read, 'label')).toEqual({applied: ['a']});
  expect(asked).toEqual([[{agentId: 'r', label: 'label'}, tree, Buffer.from('patch'), Buffer.from('commits')]]);
  await results.bringBack('r', kept, {...read, patch: undefined} as never, 'label');
  expect(asked[1]).toEqual([{agentId: 'r', label: 'label'}, tree, Buffer.alloc(0), undefined]);
});

function createLaid(bundleBytes = 6) {
  const redis = new MemoryRedis();
  const blobs = new Blobs(redis.client, 'p');
  const reads: string[] = [];
  const readAs = (part: string, bytes: Buffer) => async () => {
    reads.push(part);
    return bytes;
  };
  const trees = {
    readPatch: readAs('patch', Buffer.from('patch')),
    readBundle: readAs('bundle', Buffer.alloc(bundleBytes)),
  } as unknown as ShippedTrees;
  return {redis, blobs, reads, trees, uploads: new TreeUploads(trees, redis.client, keys, blobs, '1-own')};
}

it('parts of a tree are laid into the queue once for all its runs, and again when they are not there any more', async () => {
  const {uploads, reads, redis, blobs} = createLaid();
  const [first, second] = await Promise.all([uploads.upload(tree), uploads.upload(tree)]);
  expect([first, reads]).toEqual([second, ['patch', 'bundle']]);
  expect([await blobs.has(first.patch!), await blobs.has(first.bundle!)]).toEqual([true, true]);
  expect(first.patch!.id).not.toBe(first.bundle!.id);
  await uploads.upload(tree);
  expect(reads).toHaveLength(2);
  await blobs.remove(first.patch!);
  await uploads.upload(tree);
  expect([reads.length, await blobs.has(first.patch!), redis.values.size]).toEqual([4, true, 2]);
  await uploads.upload({...tree, key: 'o'.repeat(64)});
  expect(redis.values.size).toBe(4);
});

it('the base of a tree is laid into the queue unless a remote has it or it is larger than 32 MB', async () => {
  const {uploads} = createLaid();
  expect(Object.keys(await uploads.upload({...tree, remotes: ['https://host/app']}))).toEqual(['patch']);
  const limit = 32 * 1024 * 1024;
  expect(Object.keys(await createLaid(limit).uploads.upload(tree))).toEqual(['patch', 'bundle']);
  expect(Object.keys(await createLaid(limit + 1).uploads.upload(tree))).toEqual(['patch']);
});

it('a tree that all workers have is not laid into the queue; one that could not be read is read anew', async () => {
  const {uploads, redis, reads, trees} = createLaid();
  const worker = (name: string, cached: string[]) => {
    const entry = {name, id: name, signer: '1-own', labels: [], state: 'idle', running: 0, concurrency: 1, cached};
    return redis.hset(keys.workers, name, JSON.stringify({...entry, at: redis.now}));
  };
  await worker('one', [`app@${'k'.repeat(12)}`]);
  expect([await uploads.upload(tree), reads]).toEqual([{}, []]);
  await worker('two', []);
  const {readPatch} = trees;
  trees.readPatch = async () => Promise.reject(new Error('unreadable'));
  await expect(uploads.upload(tree)).rejects.toThrow('unreadable');
  trees.readPatch = readPatch;
  expect(Object.keys(await uploads.upload(tree))).toEqual(['patch', 'bundle']);
});
