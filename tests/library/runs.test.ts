/** `SubagentManager` of the library: runs at work, requests that it refuses, and the example of docs/library.md on the built package. */
import {execFile} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {mkdir, symlink} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';
import {describe, expect, it, onTestFinished} from 'vitest';
import {MiniCcError, SubagentManager, UsageError} from '../../src/library/index.ts';
import type {SubagentManagerConfig} from '../../src/library/public.d.ts';
import {repairTaskInput} from '../../src/tools/task/task-input.ts';
import {createHome, createUserEnvironment} from '../support/environment.ts';
import {hangBeforeHeaders, type Reply, say, startMessagesServer} from '../support/messages-server.ts';
import {getToolNames} from '../support/request-facts.ts';
import {buildOnce, root} from '../support/run-cli.ts';
import {PATIENCE_MS} from '../support/wait.ts';
import {typescriptProject} from '../support/workspace.ts';

async function managerWith(config: SubagentManagerConfig = {}) {
  const [workspace, home] = [await typescriptProject(), await createHome()];
  const manager = new SubagentManager({cwd: workspace.path, home: home.env.MINI_CC_HOME!, ...config});
  onTestFinished(async () => {
    await manager.close();
    await Promise.all([workspace.remove(), home.remove()]);
  });
  return manager;
}

async function managerAt(reply: () => Reply, config: SubagentManagerConfig = {}) {
  const server = await startMessagesServer(reply);
  onTestFinished(() => server.close());
  return {server, manager: await managerWith({apiKey: 'k', baseURL: server.url, ...config})};
}

const explore = {agent_type: 'explore', prompt: 'look around'};

it('redacts its own key in results and transcripts when the model repeats it', async () => {
  const apiKey = 'sk-ant-example-0123456789';
  const {manager, server} = await managerAt(() => say(`your key is ${apiKey}`), {apiKey});
  const {summary, runId} = await manager.spawn({...explore, prompt: `look for ${apiKey}`});
  expect(summary).toBe('your key is [redacted: ANTHROPIC_API_KEY]');
  const run = manager.get(runId!);
  expect(run).toMatchObject({description: 'look for [redacted: ANTHROPIC_API_KEY]', summary});
  expect(readFileSync(run!.transcript!, 'utf8')).not.toContain(apiKey);
  expect(JSON.stringify(server.requests[0]?.body)).toContain(apiKey);
});

describe('runs at work', () => {
  it('are counted and listed from the moment of the call, and stopAll ends them', async () => {
    const {manager} = await managerAt(() => hangBeforeHeaders(), {maxConcurrent: 2});
    const results = Array.from({length: 10}, () => manager.spawn(explore));
    expect(manager.count()).toBe(10);
    const ids = manager.list().map(({runId}) => runId);
    expect(new Set(ids).size).toBe(10);
    expect(manager.get(ids[3]!)).toMatchObject({agent: 'explore', description: 'look around', state: 'created'});
    await manager.stopAll();
    expect(manager.count()).toBe(0);
    const ended = await Promise.all(results);
    expect(ended.map(({runId}) => runId)).toEqual(ids);
    expect(ended.filter(({success}) => success)).toEqual([]);
    expect(manager.list().map(({runId, outcome}) => ({runId, outcome}))).toEqual(
      ids.map((runId) => ({runId, outcome: 'stopped'})),
    );
  });

  it('are stopped by their id; an unknown id stops none', async () => {
    const {manager} = await managerAt(() => hangBeforeHeaders());
    await expect(manager.stop('unknown')).rejects.toThrow('Unknown subagent id: unknown');
    expect(() => manager.get('unknown')).toThrow('Unknown subagent id: unknown');
    const results = [manager.spawn(explore), manager.spawn(explore)];
    const [first] = manager.list();
    expect(await manager.stop(first!.runId)).toBe(true);
    expect(await results[0]).toMatchObject({runId: first!.runId, success: false});
    expect(manager.count()).toBe(1);
    expect(await manager.stop(first!.runId)).toBe(false);
  });

  it('go on with a message that is sent, without a turn of the main agent', async () => {
    let calls = 0;
    const {server, manager} = await managerAt(() => say(`answer ${++calls}`));
    await expect(manager.send('unknown', 'x')).rejects.toThrow('Unknown subagent id: unknown');
    const {runId} = await manager.spawn(explore);
    expect(manager.get(runId!)).toMatchObject({state: 'idle', outcome: 'success', summary: 'answer 1'});
    expect(await manager.send(runId!, 'and then?')).toBe('resumed');
    expect(manager.count()).toBe(1);
    await manager.waitAll();
    expect(manager.count()).toBe(0);
    expect(manager.get(runId!)).toMatchObject({summary: 'answer 2'});
    // The main agent would have started a turn before the next round ends.
    expect(await manager.send(runId!, 'and at last?')).toBe('resumed');
    await manager.waitAll();
    expect(manager.get(runId!)).toMatchObject({summary: 'answer 3'});
    expect(server.requests).toHaveLength(3);
  });

  it('go on with the tools of their request only', async () => {
    const {manager, server} = await managerAt(() => say('yes'));
    const {runId} = await manager.spawn({...explore, tools: ['grep']});
    expect(await manager.send(runId!, 'and then?')).toBe('resumed');
    await manager.waitAll();
    expect(server.requests.map(({body}) => getToolNames(body))).toEqual([['grep'], ['grep']]);
  });

  it('end when the manager is closed, also before they begin; then none can be started', async () => {
    const {manager} = await managerAt(() => hangBeforeHeaders());
    const early = manager.spawn(explore);
    await manager.close();
    expect(await early).toMatchObject({success: false});
    await expect(manager.spawn(explore)).rejects.toThrow('This SubagentManager is closed: make a new one');
    await expect(manager.spawnParallel([explore])).rejects.toThrow(MiniCcError);
    await expect(manager.send('#1', 'x')).rejects.toThrow('is closed');
  });
});

describe('a wrong request or configuration', () => {
  it('is a failed result among the others in spawnParallel', async () => {
    const {manager} = await managerAt(() => say('good'));
    const results = await manager.spawnParallel([explore, {...explore, agent_type: 'nope'}, {prompt: ''}]);
    expect(results).toMatchObject([
      {success: true, summary: 'good'},
      {success: false, error: expect.stringContaining('Invalid agent_type: "nope"'), summary: ''},
      {success: false, error: expect.stringContaining('Missing or empty prompt')},
    ]);
    expect(manager.count()).toBe(0);
  });

  it('rejects spawnParallel when the configuration is wrong; the manager can still be closed', async () => {
    const manager = await managerWith({cwd: '/no/such/folder'});
    await expect(manager.spawnParallel([explore, explore])).rejects.toThrow('ENOENT');
    await manager.stopAll();
    expect(manager.count()).toBe(0);
  });

  it.each([
    [{home: ''}, 'session directory cannot be empty'],
    [{home: ' '}, 'session directory cannot be empty'],
    [{cwd: ''}, 'cwd cannot be empty'],
  ])('refuses %j, which would mean the working directory', (config, words) => {
    expect(() => new SubagentManager(config)).toThrow(words);
  });

  it.each([0, -1, 1.5, Number.NaN])('is a maxConcurrent of %s', (maxConcurrent) => {
    const words = `maxConcurrent must be a whole number from 1 on, not ${maxConcurrent}`;
    expect(() => new SubagentManager({maxConcurrent})).toThrow(new UsageError(words));
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('is a timeout of %s', (timeout) => {
    const words = `timeout must be a number of milliseconds, or 0 for none, not ${timeout}`;
    expect(() => new SubagentManager({timeout})).toThrow(new UsageError(words));
  });

  it('is not a timeout of 0, which means no limit', async () => {
    const {manager} = await managerAt(() => say('yes'), {timeout: 0});
    expect(await manager.spawn(explore)).toMatchObject({success: true});
  });

  it('is an unknown agent, with the message of the Task tool', async () => {
    const {manager} = await managerAt(() => say('yes'));
    expect(await manager.spawn({...explore, agent_type: ' Explore'})).toMatchObject({success: true});
    for (const agent_type of ['exploer', 'Plam', 'toString']) {
      let words = '';
      try {
        repairTaskInput({...explore, agent_type}, ['explore', 'code', 'plan']);
      } catch (error) {
        words = (error as Error).message;
      }
      await expect(manager.spawn({...explore, agent_type})).rejects.toThrow(new UsageError(words));
    }
  });

  it('names tools that the agent does not have', async () => {
    const {manager} = await managerAt(() => say('yes'));
    await expect(manager.spawn({...explore, tools: ['write_file']})).rejects.toThrow(
      new UsageError('explore has none of these tools: write_file. It has: bash, read_file, grep, glob, symbols'),
    );
    const code = manager.spawn({agent_type: 'code', prompt: 'x', tools: ['nope']});
    await expect(code).rejects.toThrow(/^code has none of these tools: nope\. It has: .*read_file/);
    await expect(code).rejects.not.toThrow('Task');
    const one = manager.spawn({...explore, tools: ['grep', 'nope', 'Read']});
    await expect(one).rejects.toThrow('explore has none of these tools: nope. It has: bash');
    await expect(manager.spawn({...explore, tools: []})).rejects.toThrow('tools is empty. It has: bash');
  });
});

describe('the built package', () => {
  /** Runs a program in a project that has mini-cc installed. */
  async function runProgram(code: string) {
    await buildOnce();
    const [workspace, home] = [await typescriptProject(), await createHome()];
    onTestFinished(async () => void (await Promise.all([workspace.remove(), home.remove()])));
    await mkdir(path.join(workspace.path, 'node_modules'));
    await symlink(root, path.join(workspace.path, 'node_modules', 'mini-cc'));
    const program = await workspace.write('program.mjs', code);
    const env = {...createUserEnvironment(), ...home.env} as NodeJS.ProcessEnv;
    return promisify(execFile)(process.execPath, [program], {cwd: workspace.path, env, timeout: 2 * PATIENCE_MS});
  }

  const exampleIn = (file: string) => {
    const text = readFileSync(path.join(root, file), 'utf8').replaceAll(/^ \* ?/gm, '');
    return /```js\n(import \{SubagentManager\}[\s\S]*?)```/.exec(text)?.[1] ?? '';
  };

  it('runs the example of docs/library.md and the docstring offline', async () => {
    const example = exampleIn('docs/library.md');
    expect(example).toBe(exampleIn('src/library/public.d.ts'));
    const {stdout, stderr} = await runProgram(example);
    expect(stderr).toBe('');
    expect(stdout).toContain('src/greet.ts');
    expect(stdout).toContain("'symbols'");
    expect(stdout.match(/^true /gm)).toHaveLength(3);
  });

  it('throws errors with their names, though the bundle renames classes', async () => {
    const {stdout} = await runProgram(`
      import {MiniCcError, SubagentManager, UsageError} from 'mini-cc';
      try {
        new SubagentManager({timeout: -1});
      } catch (error) {
        console.log(error.name, error instanceof UsageError, error instanceof MiniCcError, error.code);
      }
      const manager = new SubagentManager();
      await manager.close();
      await manager.spawn({prompt: 'x'}).catch((error) => console.log(error.name, error.code));
    `);
    expect(stdout).toBe('UsageError true true USAGE\nMiniCcError MANAGER_CLOSED\n');
  });
});
