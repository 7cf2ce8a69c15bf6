import {describe, expect, it} from 'vitest';
import {Redactor} from '../../src/core/secrets/redaction.ts';
import {systemClock} from '../../src/core/turn/run-limits.ts';
import {PriceList} from '../../src/models/prices.ts';
import {ModelResolver} from '../../src/models/resolve.ts';
import {OfflineModel} from '../../src/offline-model/model.ts';
import {getKey} from '../support/request-facts.ts';
import {say} from '../support/scripted-replies.ts';
import {hello, serve} from './fixture.ts';

function resolver(env: Readonly<Record<string, string>> = {}, offline = false): ModelResolver {
  return new ModelResolver({
    env,
    offline,
    offlineModel: new OfflineModel({maxOutputTokens: 100}),
    retry: {maxWaitSeconds: 0},
    replyLimits: {idleSeconds: 5, thinkingSeconds: 600},
    clock: systemClock,
    maxOutputTokens: 100,
    prices: new PriceList({}),
    contextWindows: {},
    redactor: new Redactor([]),
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
});
