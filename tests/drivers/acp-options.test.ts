/** What an editor sets and stores besides prompts: choices of a session, its title, its end, and how one signs in. */
import {methods} from '@agentclientprotocol/sdk';
import {describe, expect, it} from 'vitest';
import {home as createHome, project, serve} from '../e2e/fixture.ts';
import {say} from '../support/scripted-replies.ts';
import {startAcp} from './acp-client.ts';

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
});
