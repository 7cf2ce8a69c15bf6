/** What an editor sets and stores besides prompts: choices of a session, its title, its end, and how one signs in. */
import {type McpServer, methods} from '@agentclientprotocol/sdk/unstable';
import {describe, expect, it} from 'vitest';
import {home as createHome, project, serve} from '../e2e/fixture.ts';
import {PLAYED} from '../extensions/mcp/fixture.ts';
import {callTool, say, status} from '../support/scripted-replies.ts';
import {choose, startAcp} from './acp-client.ts';

const {agent: METHODS} = methods;

describe('an editor', () => {
  it('shows and sets model, effort and mode as choices of a session', async () => {
    const server = await serve([say('a'), say('b')]);
    const acp = await startAcp(['--model', 'claude-sonnet-4-5'], {server});
    const {path: cwd} = await project();
    const {sessionId, configOptions} = await acp.agent.request(METHODS.session.new, {cwd, mcpServers: []});
    expect(configOptions?.map(({id, category}) => `${id} ${category}`)).toEqual([
      'mode mode',
      'model model',
      'effort thought_level',
    ]);
    const set = (configId: string, value: string) =>
      acp.agent.request(METHODS.session.setConfigOption, {sessionId, configId, value});
    const current = async (configId: string, value: string) => {
      const {configOptions: options} = await set(configId, value);
      return options.map((option) => (option.type === 'select' ? option.currentValue : option.type));
    };
    expect(await current('model', 'claude-haiku-4-5')).toEqual(['default', 'claude-haiku-4-5', 'default']);
    expect(await current('mode', 'plan')).toEqual(['plan', 'claude-haiku-4-5', 'default']);
    expect(await current('effort', 'high')).toEqual(['plan', 'claude-haiku-4-5', 'high']);
    await acp.prompt(sessionId, 'hello');
    expect(server.requests[0]!.body).toMatchObject({model: 'claude-haiku-4-5', thinking: {type: 'enabled'}});
    await expect(set('effort', 'huge')).rejects.toThrow(/no effort huge/);
    await expect(set('colour', 'red')).rejects.toThrow(/no option colour/);
  });

  it('is told the title of a conversation, and deletes it for good', async () => {
    const server = await serve([say('a')]);
    const home = await createHome();
    const {path: cwd} = await project();
    const acp = await startAcp([], {server, home});
    const sessionId = await acp.open(cwd);
    await acp.prompt(sessionId, 'Count the lines\nof all files');
    expect(acp.of('session_info_update')).toMatchObject([{title: expect.stringContaining('Count the lines')}]);
    const list = async () =>
      (await acp.agent.request(METHODS.session.list, {cwd})).sessions.map(({sessionId: id}) => id);
    expect(await list()).toEqual([sessionId]);
    await acp.agent.request(METHODS.session.delete, {sessionId});
    expect(await list()).toEqual([]);
    await expect(acp.agent.request(METHODS.session.delete, {sessionId})).rejects.toThrow();
  });

  it('signs in by the key of the environment, or learns that there is none', async () => {
    const server = await serve([]);
    const withKey = await startAcp([], {server});
    const {authMethods} = await withKey.agent.request(METHODS.initialize, {protocolVersion: 1});
    expect(authMethods).toMatchObject([{id: 'environment'}]);
    const signIn = (acp: typeof withKey, methodId: string) => acp.agent.request(METHODS.authenticate, {methodId});
    expect(await signIn(withKey, 'environment')).toEqual({});
    await expect(signIn(withKey, 'other')).rejects.toThrow(/no method other/);
    const without = await startAcp([]);
    await expect(signIn(without, 'environment')).rejects.toThrow(/ANTHROPIC_API_KEY/);
  });

  it('goes on with a copy of a session, and is told what each prompt and the whole used', async () => {
    const server = await serve([say('a'), say('b'), say('c')]);
    const {path: cwd} = await project();
    const acp = await startAcp(['--model', 'claude-sonnet-4-5'], {server});
    const sessionId = await acp.open(cwd);
    const {usage} = await acp.prompt(sessionId, 'first');
    expect(usage!.totalTokens).toBe(
      usage!.inputTokens + usage!.outputTokens + usage!.cachedReadTokens! + usage!.cachedWriteTokens!,
    );
    expect(usage!.outputTokens).toBeGreaterThan(0);
    await acp.until(({sessionUpdate}) => sessionUpdate === 'usage_update');
    expect(acp.of('usage_update').at(-1)).toMatchObject({cost: {currency: 'USD', amount: expect.any(Number)}});
    const fork = await acp.agent.request(METHODS.session.fork, {sessionId, cwd});
    expect(fork.sessionId).not.toBe(sessionId);
    expect(fork.configOptions).toHaveLength(3);
    await acp.prompt(fork.sessionId, 'in the copy');
    await acp.prompt(sessionId, 'in the first one');
    const texts = server.requests.map(({body}) => JSON.stringify(body.messages));
    expect(texts[1]).toMatch(/first.*in the copy/);
    expect(texts[2]).toMatch(/first.*in the first one/);
    expect(texts[2]).not.toContain('in the copy');
  });

  it('shows what agents and MCP servers ask as forms, and without forms they are not offered to ask', async () => {
    const options = [{label: 'red'}, {label: 'blue', description: 'like the sky'}];
    const script = [
      callTool('AskUserQuestion', {questions: [{question: 'Which colour?', options}]}, 'q1'),
      callTool('mcp__play__form', {}, 'm1'),
      callTool('ExitPlanMode', {plan: 'Paint it.'}, 'p1'),
      say('done'),
    ];
    const server = await serve(script);
    const {path: cwd} = await project();
    const args = ['--permission-mode', 'plan', '--allowed-tools', 'mcp__play'];
    const acp = await startAcp(args, {server}, {elicitation: {form: {}}});
    const mcpServers: McpServer[] = [{name: 'play', command: process.execPath, args: [PLAYED, 'asking'], env: []}];
    const open = async (client: typeof acp): Promise<string> =>
      (await client.agent.request(METHODS.session.new, {cwd, mcpServers})).sessionId;
    const answers = [{answer: 'option 1'}, {answer: 'Ada'}, {answer: 'green'}, {}, {answer: 'yes'}, {answer: 'small'}];
    acp.fill = () => ({action: 'accept', content: answers[acp.forms.length - 1] ?? {}});
    acp.answer = async ({options: [first]}) => choose(first!.optionId);
    const sessionId = await open(acp);
    await acp.agent.request(METHODS.session.setMode, {sessionId, modeId: 'default'});
    await acp.prompt(sessionId, 'ask me');
    const results = server.requests.slice(1).map(({body}) => JSON.stringify(body.messages.at(-1)));
    expect(results[0]).toContain('blue');
    const given = {action: 'accept', content: {name: 'Ada', color: '#0f0', age: 7, sure: true, kinds: ['small']}};
    expect(results[1]).toContain(JSON.stringify(JSON.stringify(given)).slice(1, -1));
    expect(results[2]).toContain('not in plan mode');
    expect(acp.forms[0]).toMatchObject({
      ...{mode: 'form' as const, sessionId, toolCallId: 'q1', message: 'Which colour?'},
      requestedSchema: {properties: {answer: {oneOf: [{title: 'red'}, {title: 'blue: like the sky'}, {}]}}},
    });
    expect(acp.forms[1]!.message).toContain('The MCP server play asks: Your name');

    const bare = await serve([say('x')]);
    const without = await startAcp(args, {server: bare});
    await without.prompt(await open(without), 'hi');
    expect(bare.requests[0]!.body.tools!.map(({name}) => name)).not.toContain('AskUserQuestion');
  });

  it('answers that a key is required where the server refuses the one there is', async () => {
    const refused = status(401, {errorType: 'authentication_error', message: 'invalid x-api-key'});
    const acp = await startAcp([], {server: await serve([refused])});
    const asked = acp.prompt(await acp.open((await project()).path), 'hi');
    await expect(asked).rejects.toMatchObject({code: -32000, message: expect.stringContaining('ANTHROPIC_API_KEY')});
  });

  it('lets the person begin with a plan by the answer to its question', async () => {
    const server = await serve([callTool('ExitPlanMode', {plan: 'Paint it.'}, 'p1'), say('done')]);
    const {path: cwd} = await project();
    const acp = await startAcp(['--permission-mode', 'plan'], {server}, {elicitation: {form: {}}});
    const sessionId = await acp.open(cwd);
    await acp.prompt(sessionId, 'plan it');
    expect(acp.asked).toMatchObject([{toolCall: {toolCallId: 'p1'}, options: [{optionId: 'acceptEdits'}, {}, {}]}]);
    expect(JSON.stringify(acp.asked)).toContain('Paint it.');
    await acp.until(({sessionUpdate}) => sessionUpdate === 'current_mode_update');
    expect(acp.of('current_mode_update')).toMatchObject([{currentModeId: 'acceptEdits'}]);
  });

  it('shows the output of a command as a terminal where it says so, and never starts one', async () => {
    const steps = () => [callTool('bash', {command: 'echo hello'}, 'b1'), say('Done.')];
    const {path: cwd} = await project();
    const run = async (can: object) => {
      const acp = await startAcp(['--allowed-tools', 'bash'], {server: await serve(steps())}, {terminal: true, ...can});
      await acp.prompt(await acp.open(cwd), 'run it');
      return [...acp.of('tool_call'), ...acp.of('tool_call_update')].filter(({toolCallId}) => toolCallId === 'b1');
    };
    const shown = await run({_meta: {terminal_output: true}});
    expect(shown.flatMap(({_meta: meta}) => Object.keys(meta ?? {}))).toEqual([
      ...['terminal_info', 'terminal_output', 'terminal_exit'],
    ]);
    expect(shown.at(-2)!._meta).toEqual({terminal_output: {terminal_id: 'b1', data: 'hello'}});
    expect(shown.at(-1)).toMatchObject({status: 'completed', content: [{type: 'terminal', terminalId: 'b1'}]});
    const plain = await run({});
    expect(plain.some(({_meta: meta}) => meta !== undefined)).toBe(false);
    expect(plain.at(-1)).toMatchObject({content: [{type: 'content'}]});
  });
});
