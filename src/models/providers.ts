/** Knows the model servers: the one that the environment names, those of the settings, and local ones. */
import type {Settings} from '../config/settings.ts';
import type {ModelApi} from '../core/contract/model.ts';
import {UsageError} from '../core/util/errors.ts';
import {findTypo} from '../core/util/names.ts';
import {withoutUndefined} from '../core/util/objects.ts';
import type {ModelServer} from './protocol.ts';

/** The entry `providers.NAME` of the settings. */
export type ProviderSettings = NonNullable<Settings['providers']>[string];

type Variables = Readonly<Record<string, string | undefined>>;

export interface Provider {
  readonly name: string;
  readonly api: ModelApi;
  readonly baseURL: string;
  /** Variable that contains the key; undefined when the server needs none. */
  readonly keyEnv: string | undefined;
  readonly local: boolean;
  readonly webSearch: boolean;
  /** Name of the setting or variable that has the address, for texts. */
  readonly address: string;
  readonly settings: ProviderSettings;
}

/** The provider that the environment names. Models without a provider before their name belong to it. */
export const DEFAULT_PROVIDER = 'anthropic';
const DEFAULT_BASE_URL = 'https://api.anthropic.com';

/** Servers on this machine that are known without settings, at their default ports. */
export const LOCAL_PROVIDERS: Readonly<Record<string, {readonly label: string; readonly settings: ProviderSettings}>> =
  {
    ollama: {label: 'Ollama', settings: {baseURL: 'http://127.0.0.1:11434', local: true}},
    lmstudio: {label: 'LM Studio', settings: {baseURL: 'http://127.0.0.1:1234/v1', api: 'openai', local: true}},
    llamacpp: {label: 'llama.cpp', settings: {baseURL: 'http://127.0.0.1:8080/v1', api: 'openai', local: true}},
    vllm: {label: 'vLLM', settings: {baseURL: 'http://127.0.0.1:8000/v1', api: 'openai', local: true}},
  };

/** @throws UsageError when ANTHROPIC_BASE_URL is not a URL */
export function getModelServer(env: Variables): ModelServer {
  const baseURL = env.ANTHROPIC_BASE_URL || DEFAULT_BASE_URL;
  if (!URL.canParse(baseURL)) {
    throw new UsageError(
      `ANTHROPIC_BASE_URL is not a URL: ${JSON.stringify(baseURL)}. Example: http://127.0.0.1:11434`,
    );
  }
  const takesCustomHeaders = true;
  if (env.ANTHROPIC_AUTH_TOKEN) return {baseURL, takesCustomHeaders, authToken: env.ANTHROPIC_AUTH_TOKEN};
  // A local server needs no key, but the SDK does.
  return {baseURL, takesCustomHeaders, apiKey: env.ANTHROPIC_API_KEY || 'none'};
}

/** Tells whether a key or a server is set in the environment. */
export function isServerSet(env: Variables): boolean {
  return Boolean(env.ANTHROPIC_API_KEY || env.ANTHROPIC_AUTH_TOKEN || env.ANTHROPIC_BASE_URL);
}

export class Providers {
  constructor(
    private readonly settings: Readonly<Record<string, ProviderSettings>>,
    private readonly env: Variables,
  ) {}

  /** Names of the providers in the settings. The default provider comes first when it can be used. */
  get names(): readonly string[] {
    const named = Object.keys(this.settings).filter((name) => name !== DEFAULT_PROVIDER);
    return this.#hasDefault ? [DEFAULT_PROVIDER, ...named] : named;
  }

  get #hasDefault(): boolean {
    return isServerSet(this.env) || Object.hasOwn(this.settings, DEFAULT_PROVIDER) || this.isEmpty;
  }

  /** Name of the provider of models that name none; undefined where there is none or more than one. */
  get defaultName(): string | undefined {
    if (this.#hasDefault) return DEFAULT_PROVIDER;
    const [only, ...others] = this.names;
    return others.length === 0 ? only : undefined;
  }

  /** True when the settings name no provider. */
  get isEmpty(): boolean {
    return Object.keys(this.settings).length === 0;
  }

  /**
   * Returns the provider of models that name none.
   * @param asked the model, for the error
   * @throws UsageError when there is none
   */
  getDefault(asked: string): Provider {
    if (this.#hasDefault) return this.#getAnthropic();
    const only = this.defaultName;
    if (only !== undefined && !/^claude-/.test(asked)) return this.get(only);
    const example = `${this.names[0]}/NAME`;
    throw new UsageError(
      `the model ${asked} cannot be used: ANTHROPIC_API_KEY is not set. Name a model of a provider, such as --model ${example}`,
    );
  }

  has(name: string): boolean {
    return name === DEFAULT_PROVIDER || Object.hasOwn(this.settings, name) || Object.hasOwn(LOCAL_PROVIDERS, name);
  }

  /** @throws UsageError when the name is unknown or the provider cannot be used */
  get(name: string): Provider {
    if (name === DEFAULT_PROVIDER && !Object.hasOwn(this.settings, name)) return this.getDefault('');
    const own = Object.hasOwn(this.settings, name) ? this.settings[name] : LOCAL_PROVIDERS[name]?.settings;
    if (!own) throw new UsageError(this.describeUnknown(name));
    const {api = 'anthropic', apiKeyEnv, local, webSearch = false} = own;
    const isCloud = api === 'bedrock' || api === 'vertex';
    const baseURL = isCloud ? (own.baseURL ?? '') : normalize(own.baseURL ?? '', api);
    if (!isCloud && !URL.canParse(baseURL)) {
      throw new UsageError(`providers.${name} has no baseURL: say where that server is, such as http://127.0.0.1:8080`);
    }
    return {
      name,
      api,
      baseURL,
      keyEnv: apiKeyEnv,
      webSearch,
      settings: own,
      local: local ?? isLoopback(baseURL),
      address: `providers.${name}`,
    };
  }

  /**
   * Returns the address of the provider, with its key.
   * @param keyEnv variable of an agent's own key
   * @throws UsageError when the variable of the key is empty
   */
  getServer(provider: Provider, keyEnv = provider.keyEnv): ModelServer {
    if (provider.address === 'ANTHROPIC_BASE_URL' && keyEnv === provider.keyEnv) return getModelServer(this.env);
    const {name, api, baseURL, settings} = provider;
    const key = keyEnv === undefined ? undefined : this.env[keyEnv]?.trim();
    if (keyEnv !== undefined && !key) {
      throw new UsageError(`${keyEnv}, which has the key of the provider ${name}, is not set or empty`);
    }
    const {auth, region, project} = settings;
    return {
      baseURL,
      api,
      ...(key && {apiKey: key, sendsKeyAs: auth ?? 'bearer'}),
      ...withoutUndefined({region, project}),
    };
  }

  /** Returns the provider to whose server the key in this variable belongs, if one names the variable. */
  findOwner(keyEnv: string): string | undefined {
    if (keyEnv === 'ANTHROPIC_API_KEY' || keyEnv === 'ANTHROPIC_AUTH_TOKEN') return DEFAULT_PROVIDER;
    return Object.keys(this.settings).find((name) => this.settings[name]?.apiKeyEnv === keyEnv);
  }

  #getAnthropic(): Provider {
    if (!isServerSet(this.env) && Object.hasOwn(this.settings, DEFAULT_PROVIDER)) return this.get(DEFAULT_PROVIDER);
    const {baseURL} = getModelServer(this.env);
    const keyEnv = ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY'].find((name) => this.env[name]);
    return {
      name: DEFAULT_PROVIDER,
      api: 'anthropic',
      baseURL,
      keyEnv,
      settings: {},
      address: 'ANTHROPIC_BASE_URL',
      local: isLoopback(baseURL),
      webSearch: baseURL === DEFAULT_BASE_URL,
    };
  }

  /** Returns why there is no such provider, and which one may be meant. */
  describeUnknown(name: string): string {
    const known = [...this.names, ...Object.keys(LOCAL_PROVIDERS).filter((local) => !this.names.includes(local))];
    const meant = findTypo(name, known);
    const hint =
      meant === undefined ? `the settings name: ${this.names.join(', ') || 'none'}` : `did you mean ${meant}?`;
    // The error does not repeat the name. A key that was typed as a model would be shown in part, and no redaction
    // knows it.
    return `there is no such provider (${hint})`;
  }
}

/** Returns the address to which the client adds the paths of its endpoints. */
function normalize(baseURL: string, api: ModelApi): string {
  const trimmed = baseURL.replace(/\/+$/, '');
  if (api === 'anthropic') return trimmed.replace(/\/v1$/, '');
  return URL.canParse(trimmed) && new URL(trimmed).pathname === '/' ? `${trimmed}/v1` : trimmed;
}

/** Tells whether the address is one of this machine. */
export function isLoopback(baseURL: string): boolean {
  if (!URL.canParse(baseURL)) return false;
  const {hostname} = new URL(baseURL);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
