import {describe, expect, it, onTestFinished} from 'vitest';
import {Redactor} from '../../src/core/secrets/redaction.ts';
import {systemClock} from '../../src/core/turn/run-limits.ts';
import {PriceList} from '../../src/models/prices.ts';
import type {ProviderSettings} from '../../src/models/providers.ts';
import {type ModelOptions, ModelResolver} from '../../src/models/resolve.ts';
import {OfflineModel} from '../../src/offline-model/model.ts';
import {startChatServer} from '../support/chat-server.ts';
import {getKey} from '../support/request-facts.ts';
import {say} from '../support/scripted-replies.ts';
import {hello, serve} from './fixture.ts';

function resolver(
  env: Readonly<Record<string, string>> = {},
  offline = false,
  more: Partial<ModelOptions> = {},
): ModelResolver {
  return new ModelResolver({
    env,
    offline,
    offlineModel: new OfflineModel({maxOutputTokens: 100}),
    pauseSeconds: 0,
    maxWaitSeconds: 0,
    replyLimits: {idleSeconds: 400, thinkingSeconds: 600},
    clock: systemClock,
    maxOutputTokens: 100,
    prices: new PriceList({}),
    contextWindows: {},
    redactor: new Redactor([]),
    ...more,
  });
}

describe('the resolver of models', () => {
  it.each([
    [undefined, 'claude-sonnet-5-5'],
    ['opus', 'claude-opus-5-5'],
    ['Sonnet', 'claude-sonnet-5-5'],
    ['haiku', 'claude-haiku-5-5'],
    ['qwen3:8b', 'qwen3:8b'],
  ])('takes %s for %s', (name, id) => {
    expect(resolver().resolve(name).name).toBe(id);
  });

  it('lets the environment say what an alias means', () => {
    expect(resolver({ANTHROPIC_DEFAULT_OPUS_MODEL: 'my-opus'}).resolve('opus').name).toBe('my-opus');
    expect(resolver({ANTHROPIC_DEFAULT_OPUS_MODEL: 'my-opus'}).resolve('haiku').name).toBe('claude-haiku-5-5');
  });

  it('gives one model for one name, also by its alias', () => {
    const models = resolver();
    expect(models.resolve('sonnet')).toBe(models.resolve('claude-sonnet-5-5'));
    expect(models.resolve('offline')).toBe(models.resolve('offline'));
  });

  it.each([
    ['http://127.0.0.1:11434', true],
    ['http://127.1.2.3', true],
    ['http://localhost:8080', true],
    ['http://[::1]:8080', true],
    ['https://api.example.com', false],
  ])('calls a server at %s local: %s', (baseURL, local) => {
    expect(resolver({ANTHROPIC_BASE_URL: baseURL}).resolve('m').local).toBe(local);
  });

  it('gives the offline model by its name, and for every name where it is the only one', () => {
    expect(resolver().resolve('offline')).toMatchObject({name: 'offline', offline: true, local: false});
    expect(resolver({}, true).resolve('opus')).toMatchObject({name: 'offline', offline: true});
    expect(resolver().resolve('opus').offline).toBe(false);
  });

  it('refuses an empty name and an address that is no URL', () => {
    expect(() => resolver().resolve(' ')).toThrow('--model sonnet');
    expect(() => resolver({ANTHROPIC_BASE_URL: '127.0.0.1:80'}).resolve('m')).toThrow(
      'ANTHROPIC_BASE_URL is not a URL',
    );
  });

  it('sends the name of the model and a token rather than a key', async () => {
    const server = await serve([say('ok'), say('ok'), say('ok')]);
    const ask = (env: Readonly<Record<string, string>>) =>
      resolver({ANTHROPIC_BASE_URL: server.url, ...env})
        .resolve('qwen3')
        .reply(hello(), () => undefined);
    await ask({ANTHROPIC_AUTH_TOKEN: 'token', ANTHROPIC_API_KEY: 'key'});
    await ask({ANTHROPIC_API_KEY: 'key'});
    await ask({});
    expect(server.requests.map(({body}) => body.model)).toEqual(['qwen3', 'qwen3', 'qwen3']);
    expect(server.requests.map(getKey)).toEqual(['token', 'key', 'none']);
  });

  const PROVIDERS = {
    near: {baseURL: 'http://127.0.0.1:1'},
    far: {baseURL: 'https://far.example', api: 'openai'},
  } as const;
  const withProviders = (more: Partial<ModelOptions> = {}, env: Readonly<Record<string, string>> = {}) =>
    resolver(env, false, {providers: PROVIDERS, ...more});

  it('takes what stands before the first slash for the provider', () => {
    expect(withProviders().resolve('far/a/b')).toMatchObject({name: 'far/a/b', local: false});
    expect(withProviders().resolve('near/m')).toMatchObject({name: 'near/m', local: true});
    expect(resolver().resolve('anthropic/m').name).toBe('m');
    expect(resolver().resolve('anthropic/a/b').name).toBe('anthropic/a/b');
  });

  it.each([
    ['far/', 'the model "far/" cannot be used: it names no model of far'],
    [
      'fra/m',
      'the model "fra/m" cannot be used: there is no such provider (did you mean far?); for a model of the default provider: anthropic/fra/m',
    ],
    ['inherit', 'the model "inherit" is for subagents: name one, such as sonnet'],
    [' Inherit ', 'the model "inherit" is for subagents'],
  ])('refuses %s and says what to do', (name, words) => {
    expect(() => withProviders().resolve(name)).toThrow(words);
  });

  it('names the fallback that cannot be used, and takes none where it is the model itself', () => {
    expect(() => withProviders({fallback: ['fra/m']}).resolve('near/m')).toThrow('fallback: the model "fra/m"');
    const keyless = {near: {...PROVIDERS.near, apiKeyEnv: 'NONE'}, far: PROVIDERS.far};
    expect(() => withProviders({providers: keyless, fallback: ['near/m']}).resolve('far/m')).toThrow(
      'fallback: NONE, which has the key of the provider near, is not set or empty',
    );
    const models = withProviders({fallback: ['near/m']});
    expect(models.resolve('near/m')).toBe(models.resolve('near/m'));
    expect(models.resolve('far/m')).not.toBe(models.resolve('far/m'));
    // The same holds for the model that answers where the server does not know another.
    const ifUnknown = models.resolve('near/m');
    expect(models.resolve('near/m', {ifUnknown})).toBe(ifUnknown);
    expect(models.resolve('near/other', {ifUnknown})).not.toBe(models.resolve('near/other'));
  });

  it('makes another model for another key, level or number of tokens of thinking', () => {
    const models = withProviders({}, {OWN: 'k'});
    const all = [{}, {thinking: 'low'}, {thinkingTokens: 5}, {thinking: 'low', thinkingTokens: 5}] as const;
    expect(new Set(all.map((choice) => models.resolve('near/m', choice))).size).toBe(4);
    expect(models.resolve('near/m', {keyEnv: 'OWN'})).not.toBe(models.resolve('near/m'));
    expect(() => models.resolve('near/m', {keyEnv: 'NONE'})).toThrow('NONE');
  });

  it('takes the built-in model for names without a provider where nothing is set', () => {
    const models = withProviders({offlineByDefault: true});
    const named = (name: string | undefined) => models.resolve(name).name;
    expect([undefined, 'opus', 'm', 'near/m'].map(named)).toEqual(['offline', 'offline', 'offline', 'near/m']);
  });

  it.each([
    [{'claude-opus-5-5': 1, opus: 2}, 'opus', 1],
    [{opus: 2}, 'opus', 2],
    [{opus: 2}, 'claude-opus-5-5', 2],
    [{'near/m': 3, m: 4}, 'near/m', 3],
    [{m: 4}, 'near/m', 4],
    [{'anthropic/m': 5}, 'm', 5],
    [{}, 'near/m', undefined],
    [{}, 'offline', 1_000_000],
  ])('knows the windows of the settings %j: %s has %d', async (contextWindows, name, tokens) => {
    const models = resolver({}, false, {providers: {...PROVIDERS, anthropic: PROVIDERS.near}, contextWindows});
    expect(await models.resolve(name).contextWindow(false)).toBe(tokens);
  });

  it('lists aliases, the models of each server, and why one has none', async () => {
    const chat = await startChatServer([]);
    onTestFinished(chat.close);
    const down = {baseURL: 'http://127.0.0.1:1'};
    const providers: Readonly<Record<string, ProviderSettings>> = {
      ...{up: {baseURL: chat.url, api: 'openai' as const}, down, keyless: {...down, apiKeyEnv: 'NONE'}},
      // Servers of this machine that the settings name, too, are listed once.
      ...{ollama: down, lmstudio: down, llamacpp: down, vllm: down},
    };
    const list = async (more: Partial<ModelOptions>, env = {}) =>
      Object.fromEntries(
        (await resolver(env, false, {providers, ...more}).listModels()).map((each) => [each.provider, each]),
      );
    const listed = await list({});
    expect(Object.keys(listed)).toEqual(Object.keys(providers));
    expect(listed.up).toEqual({
      provider: 'up',
      models: ['gpt-test', 'gpt-small'].map((id) => ({name: `up/${id}`, id})),
    });
    expect(listed.down).toMatchObject({models: [], problem: expect.stringMatching(/^cannot reach 127\.0\.0\.1:1/)});
    expect(listed.keyless).toMatchObject({models: [], problem: expect.stringContaining('NONE')});
    expect(Object.keys(await list({offlineByDefault: true}))).toEqual([]);
    const aliases = await resolver({ANTHROPIC_BASE_URL: 'http://127.0.0.1:1'}, false, {providers}).listModels();
    expect(aliases[0]?.models.map(({name}) => name)).toEqual(['opus', 'sonnet', 'haiku']);
    expect(aliases[0]?.models[1]).toMatchObject({
      ...{id: expect.stringMatching(/^claude-sonnet-/), window: 200_000, thinks: true},
      price: {input: expect.any(Number), output: expect.any(Number)},
    });
    expect(await resolver({}, true).listModels()).toEqual([
      {provider: 'offline', models: [{name: 'offline', id: 'offline'}]},
    ]);
  });
});
