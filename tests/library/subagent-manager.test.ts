/** `SubagentManager` of the library: requests and results. */
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {SubagentManager} from '../../src/library/index.ts';
import type {RunEvent, SubagentManagerConfig, SubtaskRequest} from '../../src/library/public.d.ts';
import {createHome} from '../support/environment.ts';
import {callTool, hangBeforeHeaders, say, startMessagesServer, status} from '../support/messages-server.ts';
import {countReplies} from '../support/request-facts.ts';
import {typescriptProject} from '../support/workspace.ts';

async function managerWith(config: SubagentManagerConfig = {}) {
  const [workspace, home] = [await typescriptProject(), await createHome()];
  const manager = new SubagentManager({cwd: workspace.path, home: home.env.MINI_CC_HOME!, ...config});
  onTestFinished(async () => {
    await manager.close();
    await Promise.all([workspace.remove(), home.remove()]);
  });
  return {manager, workspace};
}

describe('new SubagentManager()', () => {
  it('returns the files that were changed and read, and the tools and tokens that were used', async () => {
    const server = await startMessagesServer((body) =>
      countReplies(body) === 0
        ? callTool('view_file', {path: 'src/greet.ts'})
        : countReplies(body) === 1
          ? callTool('read_file', {path: 'src/greet.ts'})
          : countReplies(body) === 2
            ? callTool('edit_file', {path: 'src/greet.ts', old_string: "', '", new_string: "' '"})
            : say('done'),
    );
    onTestFinished(() => server.close());
    const {manager, workspace} = await managerWith({
      ...{apiKey: 'key-of-the-caller', baseURL: server.url, model: 'some-model', permissionMode: 'acceptEdits'},
    });
    const result = await manager.spawn({
      ...{instruction: 'No comma', files: ['src/greet.ts'], tools: ['view_file', 'str_replace_editor']},
    });
    const file = path.join(workspace.path, 'src/greet.ts');
    expect(result).toMatchObject({success: true, summary: 'done', changes: [file]});
    expect(result.metadata).toMatchObject({filesRead: [file], filesModified: [file]});
    expect(result.metadata.toolsUsed).toEqual(['view_file', 'read_file', 'edit_file']);
    expect(result.metadata.tokensUsed).toBeGreaterThan(100);
    const [first] = server.requests;
    expect(first?.body.model).toBe('some-model');
    expect(first?.body.tools?.map(({name}) => name)).toEqual(['read_file', 'edit_file']);
    expect(JSON.stringify(first?.body.messages)).toContain('No comma\\n\\nFiles:\\n- src/greet.ts');
    expect(JSON.stringify(first?.headers)).toContain('key-of-the-caller');
  });

  it('ends a run at its timeout in milliseconds, with EXECUTION_TIMEOUT in the error', async () => {
    const server = await startMessagesServer(() => hangBeforeHeaders());
    onTestFinished(() => server.close());
    const {manager} = await managerWith({apiKey: 'k', baseURL: server.url, timeout: 300, maxConcurrent: 1});
    const result = await manager.spawn({prompt: 'x', agent_type: 'explore'});
    expect(result).toMatchObject({success: false, error: 'EXECUTION_TIMEOUT: timed out after 0.3 s'});
  });

  it('is bounded by its slots alone: a program may start more runs than a prompt, and a task that fails again and again', async () => {
    let most = 0;
    const server = await startMessagesServer(({messages}) => {
      most = Math.max(most, server.active);
      return JSON.stringify(messages).includes('fail') ? status(400, {message: 'no such deployment'}) : say('found');
    });
    onTestFinished(() => server.close());
    const {manager} = await managerWith({apiKey: 'k', baseURL: server.url, maxConcurrent: 3});
    const asked = Array.from({length: 60}, (_, index) => ({agent_type: 'explore', prompt: `look at part ${index}`}));
    const results = await manager.spawnParallel(asked);
    expect(results.map(({summary}) => summary)).toEqual(Array(60).fill('found'));
    for (let round = 0; round < 5; round += 1) {
      const failed = await manager.spawn({agent_type: 'explore', prompt: 'fail'});
      expect(failed).toMatchObject({success: false, error: expect.stringContaining('no such deployment')});
    }
    expect(server.requests).toHaveLength(65);
    expect(most).toBeLessThanOrEqual(3);
  });

  it('sends only its own key when there are two managers', async () => {
    const server = await startMessagesServer(() => say('yes'));
    onTestFinished(() => server.close());
    const managers = await Promise.all(['key-a', 'key-b'].map((apiKey) => managerWith({apiKey, baseURL: server.url})));
    await Promise.all(managers.map(({manager}) => manager.spawn({prompt: 'x', agent_type: 'explore'})));
    const keys = server.requests.map(({headers}) =>
      JSON.stringify(headers)
        .match(/key-[ab]/g)
        ?.join(),
    );
    expect(keys.sort()).toEqual(['key-a', 'key-b']);
  });

  it('dispatches to agents of the project', async () => {
    const server = await startMessagesServer(() => say('yes'));
    onTestFinished(() => server.close());
    const {manager, workspace} = await managerWith({apiKey: 'k', baseURL: server.url});
    const agent = {name: 'critic', description: 'Finds fault', tools: ['grep'], prompt: 'You find fault with code.'};
    await workspace.write('.mini-cc/agents/critic.json', JSON.stringify(agent));
    expect(await manager.spawn({prompt: 'x', agent_type: 'critic'})).toMatchObject({success: true, summary: 'yes'});
    expect(JSON.stringify(server.requests[0]?.body.system)).toContain('You find fault with code.');
  });

  it('throws what is wrong with a request', async () => {
    const {manager} = await managerWith();
    await expect(manager.spawn({prompt: ' '})).rejects.toThrow('Missing or empty prompt parameter');
    const untyped = (request: unknown) => expect(manager.spawn(request as SubtaskRequest)).rejects;
    await untyped(null).toThrow('A subtask is an object with a prompt, not null');
    await untyped('x').toThrow('A subtask is an object with a prompt, not "x"');
    await untyped({prompt: 5}).toThrow('prompt must be text, not 5');
    await untyped({prompt: 'x', agent_type: ['explore']}).toThrow('agent_type must be text, not ["explore"]');
    await untyped({prompt: 'x', files: 'src/a.ts'}).toThrow('files must be a list of texts, not "src/a.ts"');
    await untyped({prompt: 'x', tools: [1]}).toThrow('tools must be a list of texts, not [1]');
    const mode = 'allowAll' as 'default';
    expect(() => new SubagentManager({permissionMode: mode})).toThrow(
      /^permissionMode must be default, .*, not allowAll$/,
    );
    await expect(manager.spawn({prompt: 'x', agent_type: 'toString'})).rejects.toThrow(
      'Invalid agent_type: "toString". Valid types: explore, code, plan',
    );
  });

  it('publishes the events of its runs to listeners, but not those of the main agent', async () => {
    const server = await startMessagesServer((body) =>
      countReplies(body) === 0 ? callTool('read_file', {path: 'src/greet.ts'}) : say('done'),
    );
    onTestFinished(() => server.close());
    const {manager} = await managerWith({apiKey: 'k', baseURL: server.url});
    const events: RunEvent[] = [];
    const late: RunEvent[] = [];
    manager.subscribe(() => {
      throw new Error('a listener that throws does not disturb the others');
    });
    const unsubscribe = manager.subscribe((event) => events.push(event));
    const {runId} = await manager.spawn({prompt: 'x', agent_type: 'explore'});
    unsubscribe();
    manager.subscribe((event) => late.push(event));
    await manager.spawn({prompt: 'y', agent_type: 'explore'});
    expect(new Set(events.map(({agentId}) => agentId))).toEqual(new Set([runId]));
    expect(events.find(({type}) => type === 'tool_end')).toMatchObject({tool: 'read_file', isError: false});
    expect(events.at(-1)).toMatchObject({type: 'run_state', state: 'idle'});
    expect(events.map(({type}) => type)).toContain('run_end');
    expect(late.length).toBe(events.length);
  });
});
