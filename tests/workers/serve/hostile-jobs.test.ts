/** A worker against jobs that are signed with the right secret, and ask for what no session may have. */
import {existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {createExecute} from '../../../src/compose/workers/execute.ts';
import {ShippedTrees} from '../../../src/storage/worktrees/shipped-trees.ts';
import {TreeCache} from '../../../src/storage/worktrees/tree-cache.ts';
import {Keys} from '../../../src/workers/queue/address.ts';
import {Blobs} from '../../../src/workers/queue/blobs.ts';
import {check} from '../../../src/workers/queue/checked-contents.ts';
import {type Job, jobSchema, toRelative} from '../../../src/workers/queue/messages.ts';
import {RefusedMessage, Signatures} from '../../../src/workers/queue/signatures.ts';
import {type Execute, JobRun} from '../../../src/workers/serve/job-run.ts';
import {emptyFolder} from '../../support/workspace.ts';
import {createResult, createTask} from '../contents.ts';
import {listHostileJobs} from '../hostile-job.ts';
import {MemoryRedis} from '../memory-redis.ts';

/** A worker with a folder of its own, a folder beside it, and a workspace whose tree it gets. */
async function createWorker() {
  const base = mkdtempSync(path.join(tmpdir(), 'mini-cc-hostile-'));
  onTestFinished(() => rmSync(base, {recursive: true, force: true}));
  const victim = path.join(base, 'victim');
  mkdirSync(victim);
  writeFileSync(path.join(victim, 'file'), 'private');
  const workspace = await emptyFolder();
  onTestFinished(workspace.remove);
  await workspace.git('init', '-q');
  await workspace.write('a.txt', 'one\n');
  const shipped = new ShippedTrees({
    root: workspace.path,
    folders: {trees: () => path.join(base, 'shipped'), run: (runId) => path.join(base, runId)},
    hidden: () => [],
    isProtected: () => false,
    writing: (_, _files, work) => work(),
  });
  const state = await shipped.capture(new AbortController().signal);
  const cache = new TreeCache(path.join(base, 'worker', 'trees'));
  const trees = {
    open: (tree: typeof state) =>
      cache.open(tree, {readPatch: () => shipped.readPatch(state), readBundle: () => shipped.readBundle(state)}),
  } as unknown as TreeCache;
  const job: Job = {jobId: 'r-1', sessionId: 's', runId: 'r', round: 1, tree: state, work: ''};
  return {base, victim, trees, job, root: workspace.path};
}

it('forty hostile jobs are refused with a word each, and touch nothing outside of the worker’s trees', async () => {
  const {base, victim, trees, job, root} = await createWorker();
  const redis = new MemoryRedis();
  const own = createExecute({env: {}, home: path.join(base, 'home'), allowAgents: ['*'], settings: {}});
  const begun: string[] = [];
  /** Carries out the job as the worker does, from the body of its message on. */
  const run = async (name: string, body: unknown, execute: Execute) => {
    const deps = {keys: new Keys('p'), blobs: new Blobs(redis.client, 'p'), signatures: new Signatures('secret')};
    const more = {connection: redis.client, worker: 'build', isHeld: async () => true, trees};
    const begin: Execute = (...args) => {
      begun.push(name);
      return execute(...args);
    };
    return new JobRun(check('job', jobSchema, body), 1, {...deps, ...more, execute: begin}).work();
  };
  const jobs = listHostileJobs(victim);
  expect(jobs).toHaveLength(40);
  for (const {name, job: change, task} of jobs) {
    const asked = task ? task(createTask(), root) : createTask();
    const work = JSON.stringify(toRelative(asked, root));
    const body = change ? change({...job, work}) : {...job, work};
    const failed = await run(name, JSON.parse(JSON.stringify(body)), own).then(
      () => `${name}: taken`,
      (error: unknown) => error,
    );
    expect(failed, name).toBeInstanceOf(RefusedMessage);
    expect(String(failed), name).toMatch(/its (?:job|task|scope|rules) [\w ]+/);
    expect(String(failed), name).not.toContain('victim');
  }
  // Rules are read when the session is made: these four began, and no model was asked.
  expect(begun.filter((name) => !/rule|pattern/.test(name))).toEqual([]);
  expect(readdirSync(victim)).toEqual(['file']);
  expect(readFileSync(path.join(victim, 'file'), 'utf8')).toBe('private');
  expect(readdirSync(base).sort()).toEqual(['shipped', 'victim', 'worker']);
  expect(existsSync(path.join(base, 'worker', 'victim'))).toBe(false);
  // The same job without a change is taken.
  const taken = await run('honest', {...job, work: JSON.stringify(createTask())}, async () => ({
    result: createResult(),
    entries: [],
  }));
  expect([typeof taken, begun.at(-1)]).toEqual(['string', 'honest']);
});
