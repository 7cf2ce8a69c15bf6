/** What a session keeps of its jobs. The server is one in memory. */
import {mkdtempSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {gzipSync} from 'node:zlib';
import type {Job} from 'bullmq';
import {expect, it, onTestFinished} from 'vitest';
import type {ShippedTrees, TreeState} from '../../../src/storage/worktrees/shipped-trees.ts';
import {Blobs} from '../../../src/workers/queue/blobs.ts';
import {Signatures} from '../../../src/workers/queue/signatures.ts';
import {JOB_FILE, JobFiles, Results, type StoredJob} from '../../../src/workers/session/job-files.ts';
import {createOutcome} from '../contents.ts';
import {MemoryRedis} from '../memory-redis.ts';

const tree = {key: 'k'.repeat(64), name: 'app', remotes: [] as string[]} as TreeState;
const kept = {jobId: 'job', nonce: 'n', signer: '1-own', tree} as StoredJob;

function createKept() {
  const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-kept-'));
  onTestFinished(() => rmSync(folder, {recursive: true}));
  return {folder, jobs: new JobFiles((runId) => path.join(folder, 'runs', runId))};
}

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
  const outcome = createOutcome({patch: btoa('patch')});
  const bytes = gzipSync(JSON.stringify(outcome));
  const readFrom = (ref: unknown, jobId = 'job') => {
    const body = {jobId, attempt: 1, worker: 'build', outcome: ref};
    return results.read({id: 'job', returnvalue: signatures.sign('result', body, 1_000)} as unknown as Job);
  };
  expect(await readFrom(bytes.toString('base64'))).toMatchObject({worker: 'build', outcome});
  const ref = blobs.describe(bytes);
  await blobs.put(bytes, ref);
  expect(await readFrom(ref)).toEqual({ref, worker: 'build', outcome});
  expect(redis.values.size).toBe(1);
  await expect(readFrom(bytes.toString('base64'), 'other')).rejects.toThrow('that of another run');
  const read = (await readFrom(ref)).outcome!;
  await results.bringBack('r', kept, {...read, commits: btoa('commits')}, 'label');
  const brought = jobs.read('r')!;
  expect(brought).toEqual({...kept, brought: {applied: ['a']}});
  expect(await results.bringBack('r', brought, read, 'label')).toEqual({applied: ['a']});
  expect(asked).toEqual([[{agentId: 'r', label: 'label'}, tree, Buffer.from('patch'), Buffer.from('commits')]]);
  await results.bringBack('r', kept, {...read, patch: undefined} as never, 'label');
  expect(asked[1]).toEqual([{agentId: 'r', label: 'label'}, tree, Buffer.alloc(0), undefined]);
});
