import {describe, expect, it} from 'vitest';
import {AGENT_TYPES} from '../../../src/core/agent-types.ts';
import type {SubagentResult} from '../../../src/core/contract/runs.ts';
import {createReplayModel, TaskDedup} from '../../../src/core/runs/dedup.ts';
import {getTaskKey, type RunRequest} from '../../../src/core/runs/dispatch.ts';
import {settle} from '../../support/wait.ts';
import {ScriptedModel} from '../scripted-model.ts';

const task = (change: Partial<RunRequest> = {}): RunRequest => ({
  agent: AGENT_TYPES.explore!,
  prompt: 'read README.md',
  description: 'look around',
  model: new ScriptedModel([]),
  limits: {maxTurns: 50},
  signal: new AbortController().signal,
  ...change,
});
const hash = (change: Partial<RunRequest>, session = 's') => getTaskKey(task(change), session);

describe('the hash of a task', () => {
  it('ignores differences in white space', () => {
    expect(hash({prompt: '  read\n README.md '})).toBe(hash({}));
  });

  it('differs by case, by any character of a long prompt, and by each setting of the run', () => {
    const long = 'x'.repeat(300);
    const keys = [
      hash({}),
      hash({prompt: 'Read README.md'}),
      hash({prompt: `${long}a`}),
      hash({prompt: `${long}b`}),
      hash({agent: {...AGENT_TYPES.explore!, prompt: 'edited'}}),
      hash({model: Object.assign(new ScriptedModel([]), {name: 'n'})}),
      hash({model: Object.assign(new ScriptedModel([]), {thinking: 'high' as const})}),
      hash({limits: {maxTurns: 5}}),
      hash({}, 't'),
      hash({isolation: 'worktree'}),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('the same task twice', () => {
  function dedup() {
    const world = {now: 0, workspace: 'a', runs: 0};
    const tasks = new TaskDedup<string>({
      now: () => world.now,
      fingerprint: async () => world.workspace,
      isReusable: (result) => result !== '',
    });
    const run = async (
      key: string,
      options: {readOnly?: boolean; until?: Promise<void>; result?: string; fail?: boolean} = {},
    ) => {
      const work = async () => {
        world.runs += 1;
        await options.until;
        if (options.fail) throw new Error('failed');
        return options.result ?? `result ${world.runs}`;
      };
      const dispatched = await tasks.dispatch(key, options.readOnly ?? true, () => ({ended: work()}));
      const result = dispatched.source === 'cached' ? dispatched.result : await dispatched.started.ended;
      return {source: dispatched.source, result};
    };
    /** The second call comes while the first is at work. */
    const runTwice = async (options: {readOnly?: boolean} = {}) => {
      const end = Promise.withResolvers<void>();
      const first = run('k', {...options, until: end.promise});
      const second = run('k', options);
      await settle();
      end.resolve();
      return [await first, await second] as const;
    };
    return {world, run, runTwice};
  }

  it('is one run while the first call is at work, and both calls get its result', async () => {
    const {runTwice, world} = dedup();
    const [first, second] = await runTwice();
    expect(world.runs).toBe(1);
    expect([first.source, second.source]).toEqual(['run', 'joined']);
    expect(second.result).toBe(first.result);
  });

  it('joins a writing run too, but its result is not used again after its end', async () => {
    const {run, runTwice} = dedup();
    const [, second] = await runTwice({readOnly: false});
    expect(second.source).toBe('joined');
    expect((await run('k', {readOnly: false})).source).toBe('run');
  });

  it('uses the result again within five minutes, and runs after them', async () => {
    const {run, world} = dedup();
    await run('k');
    world.now += 5 * 60 * 1000;
    expect((await run('k')).source).toBe('cached');
    world.now += 1;
    expect((await run('k')).source).toBe('run');
  });

  it('runs again when the workspace has changed since it began', async () => {
    const {run, world} = dedup();
    const end = Promise.withResolvers<void>();
    const running = run('k', {until: end.promise});
    await settle();
    world.workspace = 'changed while it ran';
    end.resolve();
    await running;
    expect((await run('k')).source).toBe('run');
  });

  it('runs again at once after a failure or an empty result', async () => {
    const {run} = dedup();
    await expect(run('k', {fail: true})).rejects.toThrow('failed');
    expect((await run('k', {result: ''})).source).toBe('run');
    expect((await run('k')).source).toBe('run');
    expect((await run('k')).source).toBe('cached');
  });

  it('keeps 50 results, drops the oldest one, and never a run at work', async () => {
    const {run, world} = dedup();
    const end = Promise.withResolvers<void>();
    const running = run('running', {until: end.promise});
    for (let index = 0; index < 50; index += 1) await run(`k${index}`);
    expect((await run('k0')).source).toBe('run');
    expect((await run('k49')).source).toBe('cached');
    const joined = run('running');
    end.resolve();
    expect((await joined).source).toBe('joined');
    await running;
    expect(world.runs).toBe(52);
  });

  it('is one run when two calls find at the same time that the result is too old', async () => {
    const {run, runTwice, world} = dedup();
    await run('k');
    world.workspace = 'b';
    const sources = (await runTwice()).map(({source}) => source);
    expect(sources.sort()).toEqual(['joined', 'run']);
    expect(world.runs).toBe(2);
  });
});

it.each([
  ['found', '[cached]\nfound\n\n(run r: 8 tools · read 5 files)'],
  ['ANNOUNCE_SKIP', 'ANNOUNCE_SKIP'],
])('a run whose text was %j is repeated as %j', async (given, text) => {
  const result = {
    runId: 'r',
    receipt: {line: 'Receipt: 8 tools · read 5 files'},
    result: {text: given},
  } as SubagentResult;
  const model = createReplayModel(new ScriptedModel([]), result);
  expect(model).toMatchObject({name: 'scripted', offline: false});
  const reply = await model.reply({} as never, () => undefined);
  expect(reply).toMatchObject({content: [{type: 'text', text}], stopReason: 'end_turn'});
});
