import {describe, expect, it} from 'vitest';
import {type ProviderSettings, Providers} from '../../src/models/providers.ts';

const AT = {baseURL: 'https://models.example/'};
const providers = (
  settings: Readonly<Record<string, ProviderSettings>> = {},
  env: Readonly<Record<string, string>> = {},
) => new Providers(settings, env);

describe('providers', () => {
  it.each<[string, Providers, readonly string[]]>([
    ['nothing is set', providers(), ['anthropic']],
    ['others are set', providers({x: AT, y: AT}), ['x', 'y']],
    ['a key is set, too', providers({x: AT}, {ANTHROPIC_API_KEY: 'k'}), ['anthropic', 'x']],
    ['a token is set, too', providers({x: AT}, {ANTHROPIC_AUTH_TOKEN: 'k'}), ['anthropic', 'x']],
    ['a server is set, too', providers({x: AT}, {ANTHROPIC_BASE_URL: 'http://a'}), ['anthropic', 'x']],
    ['the settings have the default one', providers({x: AT, anthropic: AT}), ['anthropic', 'x']],
  ])('are named, the default one first where it can be used: %s', (_, {names}, expected) => {
    expect(names).toEqual(expected);
  });

  it('take models without a provider for the default one, or for the only one', () => {
    expect(providers().getDefault('m')).toMatchObject({name: 'anthropic', webSearch: true, local: false});
    expect(providers({x: AT}).getDefault('m').name).toBe('x');
    expect([providers(), providers({x: AT}), providers({x: AT, y: AT})].map(({defaultName}) => defaultName)).toEqual([
      ...['anthropic', 'x', undefined],
    ]);
    for (const [given, model] of [
      [providers({x: AT}), 'claude-opus-5-5'],
      [providers({x: AT, y: AT}), 'm'],
    ] as const) {
      expect(() => given.getDefault(model)).toThrow(
        `the model ${model} cannot be used: ANTHROPIC_API_KEY is not set. Name a model of a provider, such as --model x/NAME`,
      );
    }
  });

  it('take the default one of the environment before that of the settings', () => {
    const settings = {anthropic: {baseURL: 'https://own.example', apiKeyEnv: 'OWN'}};
    expect(providers(settings).getDefault('m')).toMatchObject({baseURL: 'https://own.example', keyEnv: 'OWN'});
    const env = {ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'http://127.0.0.1:1'};
    expect(providers(settings, env).getDefault('m')).toMatchObject({
      ...{baseURL: 'http://127.0.0.1:1', keyEnv: 'ANTHROPIC_API_KEY', local: true, webSearch: false},
    });
    expect(providers(settings, {...env, ANTHROPIC_AUTH_TOKEN: 't'}).getDefault('m').keyEnv).toBe(
      'ANTHROPIC_AUTH_TOKEN',
    );
    expect(providers().get('anthropic')).toEqual(providers().getDefault(''));
  });

  it.each([
    [{baseURL: 'https://a.example/v1/'}, 'https://a.example', false],
    [{baseURL: 'https://a.example/api//', api: 'openai'}, 'https://a.example/api', false],
    [{baseURL: 'http://localhost:1/', api: 'openai'}, 'http://localhost:1/v1', true],
    [{baseURL: 'http://127.9.9.9:1'}, 'http://127.9.9.9:1', true],
    [{baseURL: 'http://[::1]:1'}, 'http://[::1]:1', true],
    [{baseURL: 'http://192.168.0.2', local: true}, 'http://192.168.0.2', true],
    [{baseURL: 'http://localhost', local: false}, 'http://localhost', false],
    [{api: 'bedrock'}, '', false],
    [{api: 'vertex', baseURL: 'https://v.example/v1'}, 'https://v.example/v1', false],
  ] as const)('of %j are at %j, local: %s', (settings, baseURL, local) => {
    const provider = providers({x: settings}).get('x');
    expect(provider).toMatchObject({name: 'x', baseURL, local, webSearch: false, address: 'providers.x'});
  });

  it('that are known without settings can be used, and settings take their place', () => {
    expect(providers().get('ollama')).toMatchObject({baseURL: 'http://127.0.0.1:11434', local: true, api: 'anthropic'});
    expect(providers({ollama: AT}).get('ollama').baseURL).toBe('https://models.example');
    const known = providers({x: AT});
    expect(['x', 'ollama', 'anthropic', 'y', 'toString'].filter((name) => known.has(name))).toEqual([
      ...['x', 'ollama', 'anthropic'],
    ]);
  });

  it.each<[Providers, string, string]>([
    [providers({openrouter: AT}), 'openruter', 'there is no such provider (did you mean openrouter?)'],
    [providers({openrouter: AT}), 'olama', 'there is no such provider (did you mean ollama?)'],
    [providers({x: AT, yy: AT}), 'something', 'there is no such provider (the settings name: x, yy)'],
    [providers({x: {}}), 'x', 'providers.x has no baseURL: say where that server is, such as http://127.0.0.1:8080'],
    [providers({x: {baseURL: 'nowhere'}}), 'x', 'providers.x has no baseURL'],
  ])('that cannot be used are named with what to do: %#', (given, name, words) => {
    expect(() => given.get(name)).toThrow(words);
  });

  it('send their own key alone, as their settings say', () => {
    const settings = {
      bare: AT,
      keyed: {...AT, apiKeyEnv: 'KEY', api: 'openai'},
      header: {...AT, apiKeyEnv: 'KEY', auth: 'x-api-key'},
      cloud: {api: 'vertex', region: 'r', project: 'p'},
      empty: {...AT, apiKeyEnv: 'NONE'},
    } as const;
    const all = providers(settings, {KEY: ' k ', OTHER: 'o', NONE: ' ', ANTHROPIC_API_KEY: 'main'});
    const server = (name: string, keyEnv?: string) => all.getServer(all.get(name), keyEnv);
    const baseURL = 'https://models.example';
    expect(server('bare')).toEqual({baseURL, api: 'anthropic'});
    expect(server('keyed')).toEqual({baseURL: `${baseURL}/v1`, api: 'openai', apiKey: 'k', sendsKeyAs: 'bearer'});
    expect(server('header')).toMatchObject({apiKey: 'k', sendsKeyAs: 'x-api-key'});
    expect(server('cloud')).toEqual({baseURL: '', api: 'vertex', region: 'r', project: 'p'});
    expect(server('keyed', 'OTHER')).toMatchObject({apiKey: 'o'});
    expect(() => server('empty')).toThrow('NONE, which has the key of the provider empty, is not set or empty');
    expect(server('anthropic')).toEqual({
      ...{baseURL: 'https://api.anthropic.com', apiKey: 'main', takesCustomHeaders: true},
    });
    expect(server('anthropic', 'OTHER')).toMatchObject({apiKey: 'o', sendsKeyAs: 'bearer'});
  });

  it('own the keys that they name', () => {
    const all = providers({x: {...AT, apiKeyEnv: 'X_KEY'}, y: AT});
    expect(['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'X_KEY', 'Y_KEY'].map((name) => all.findOwner(name))).toEqual([
      ...['anthropic', 'anthropic', 'x', undefined],
    ]);
  });
});
