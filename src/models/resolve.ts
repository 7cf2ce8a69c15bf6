/** Finds the model for a name: by aliases, providers and the environment, with the models that answer where it cannot. */

import type {Model, Thinking} from '../core/contract/model.ts';
import type {ProviderModels} from '../core/contract/session-requests.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import {getErrorMessage, UsageError} from '../core/util/errors.ts';
import {ContextSize} from './context-size.ts';
import {type ChainLink, Circuits, FallbackModel} from './fallback.ts';
import {findLocalServers} from './local-servers.ts';
import type {PriceList} from './prices.ts';
import type {ModelServer, Protocol, ServerWords} from './protocol.ts';
import {DEFAULT_PROVIDER, type Provider, type ProviderSettings, Providers} from './providers.ts';
import {type ModelSettings, ServerModel} from './server-model.ts';

export interface ModelOptions extends Pick<ModelSettings, 'retry' | 'replyLimits' | 'maxOutputTokens' | 'clock'> {
  readonly prices: PriceList;
  /** Context windows by the name of the model, as the settings say. Tokens. */
  readonly contextWindows: Readonly<Record<string, number>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly redactor: Redactor;
  readonly providers?: Readonly<Record<string, ProviderSettings>> | undefined;
  /** Models that answer where another cannot, in this order. */
  readonly fallback?: readonly string[] | undefined;
  /** How much models think for which nothing else says it: a level, or tokens. */
  readonly thinking?: Thinking | undefined;
  readonly thinkingTokens?: number | undefined;
  /** `--offline`: the built-in model answers for every name. */
  readonly offline: boolean;
  /** Neither a server nor a provider is set: the built-in model answers for names without a provider. */
  readonly offlineByDefault?: boolean;
  /** The built-in model. */
  readonly offlineModel: Model;
}

/** What a run says about its model beside the name. */
export interface ModelChoice {
  readonly thinking?: Thinking | undefined;
  /** In place of a level; 0: none. */
  readonly thinkingTokens?: number | undefined;
  /** The variable of the agent's own key; the provider's key is used where the server refuses it. */
  readonly keyEnv?: string | undefined;
  /** Answers where the server does not know the model. */
  readonly ifUnknown?: Model | undefined;
}

type ThinkingChoice = Pick<ModelChoice, 'thinking' | 'thinkingTokens'>;

const OFFLINE_NAME = 'offline';

/** Aliases, the model that each one means, and the variable that can name another. */
const ALIASES: Readonly<Record<string, {readonly env: string; readonly id: string}>> = {
  opus: {env: 'ANTHROPIC_DEFAULT_OPUS_MODEL', id: 'claude-opus-5-5'},
  sonnet: {env: 'ANTHROPIC_DEFAULT_SONNET_MODEL', id: 'claude-sonnet-5-5'},
  haiku: {env: 'ANTHROPIC_DEFAULT_HAIKU_MODEL', id: 'claude-haiku-5-5'},
};

const ALIAS_NAMES: readonly string[] = Object.keys(ALIASES);

/** A model at a server. */
interface Target {
  readonly provider: Provider;
  readonly id: string;
  /** Shown to the user. */
  readonly name: string;
}

export class ModelResolver {
  readonly providers: Providers;
  readonly #models = new Map<string, ServerModel>();
  readonly #protocols = new Map<string, () => Promise<Protocol>>();
  readonly #sizes = new Map<string, ContextSize>();
  readonly #circuits: Circuits;
  #fallback: readonly Target[] | undefined;

  constructor(private readonly options: ModelOptions) {
    this.providers = new Providers(options.providers ?? {}, options.env);
    this.#circuits = new Circuits(options.clock);
  }

  /**
   * @param name an alias, `provider/model`, or a model of the default provider; undefined: sonnet.
   * @throws UsageError when the name, its provider or a fallback cannot be used. No server is asked.
   */
  resolve(name: string | undefined, {keyEnv, ifUnknown, ...thinking}: ModelChoice = {}): Model {
    if (this.#isOffline(name)) return this.options.offlineModel;
    const target = this.#find(name ?? 'sonnet');
    const main = this.#getModel(target, thinking);
    const own = keyEnv === undefined ? undefined : this.#getModel(target, thinking, keyEnv);
    const links: ChainLink[] = [
      ...(own ? [{key: `${target.name} ${keyEnv}`, model: own}] : []),
      {key: target.name, model: main},
      ...(ifUnknown && ifUnknown.name !== target.name
        ? [{key: ifUnknown.name, model: ifUnknown, onlyFor: 'not_found' as const}]
        : []),
      ...this.#getFallback()
        .filter((each) => each.name !== target.name)
        .map((each) => ({key: each.name, model: this.#getModel(each, thinking)})),
    ];
    if (links.length === 1) return main;
    return new FallbackModel(links, {circuits: this.#circuits, ...this.options.retry});
  }

  /** All models that can be chosen: aliases, those that each provider's server lists, and of servers on this machine. */
  async listModels(): Promise<readonly ProviderModels[]> {
    if (this.options.offline) return [{provider: OFFLINE_NAME, models: [OFFLINE_NAME]}];
    const {names} = this.providers;
    const isDefault = !this.options.offlineByDefault && names.includes(DEFAULT_PROVIDER);
    const [local, ...listed] = await Promise.all([
      findLocalServers(),
      ...(this.options.offlineByDefault ? [] : names).map((name) => this.#list(name)),
    ]);
    return [
      ...(isDefault ? [{provider: DEFAULT_PROVIDER, models: ALIAS_NAMES}] : []),
      ...listed,
      ...local.filter(({name}) => !names.includes(name)).map(({name: provider, models}) => ({provider, models})),
    ];
  }

  /** As the provider's server lists them. Never rejects. */
  async #list(provider: string): Promise<ProviderModels> {
    try {
      const found = this.providers.get(provider);
      const protocol = await this.#getProtocol(found, undefined)();
      const ids = await protocol.listModels();
      return {provider, models: ids.map((id) => getName(found, id))};
    } catch (error) {
      return {provider, models: [], problem: getErrorMessage(error)};
    }
  }

  #isOffline(name: string | undefined): boolean {
    const {offline, offlineByDefault = false} = this.options;
    if (offline || name?.trim() === OFFLINE_NAME) return true;
    return offlineByDefault && !(name !== undefined && this.#expand(name).includes('/'));
  }

  #find(given: string): Target {
    const name = this.#expand(given);
    const slash = name.indexOf('/');
    if (slash < 0) {
      const provider = this.providers.getDefault(given);
      return {provider, id: name, name: getName(provider, name)};
    }
    const [prefix, id] = [name.slice(0, slash), name.slice(slash + 1)];
    if (!this.providers.has(prefix) || id === '') {
      const slashed = id === '' ? '' : `; for a model of the default provider: ${DEFAULT_PROVIDER}/${name}`;
      throw new UsageError(
        `the model ${JSON.stringify(given)} cannot be used: ${this.#describe(prefix, id)}${slashed}`,
      );
    }
    const provider = this.providers.get(prefix);
    return {provider, id, name: getName(provider, id)};
  }

  #describe(prefix: string, id: string): string {
    if (this.providers.has(prefix) && id === '') return `it names no model of ${prefix}`;
    try {
      this.providers.get(prefix);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** An alias as what it stands for. */
  #expand(given: string): string {
    const name = given.trim();
    if (name === '') throw new UsageError('The name of the model is empty. Name one, e.g. --model sonnet');
    if (name.toLowerCase() === 'inherit') {
      throw new UsageError('the model "inherit" is for subagents: name one, such as sonnet');
    }
    const alias = Object.hasOwn(ALIASES, name.toLowerCase()) ? ALIASES[name.toLowerCase()] : undefined;
    return alias ? this.options.env[alias.env] || alias.id : name;
  }

  #getFallback(): readonly Target[] {
    this.#fallback ??= (this.options.fallback ?? []).map((name) => {
      try {
        const target = this.#find(name);
        this.providers.getServer(target.provider);
        return target;
      } catch (error) {
        throw error instanceof UsageError ? new UsageError(`fallback: ${error.message}`) : error;
      }
    });
    return this.#fallback;
  }

  /** @param keyEnv the variable of an agent's own key */
  #getModel(
    {provider, id, name}: Target,
    {thinking, thinkingTokens: tokens}: ThinkingChoice,
    keyEnv?: string,
  ): ServerModel {
    const key = [name, keyEnv, thinking, tokens].join(' ');
    const known = this.#models.get(key);
    if (known) return known;
    const {options} = this;
    const protocol = this.#getProtocol(provider, keyEnv);
    const {api, baseURL, local, webSearch} = provider;
    const size = this.#sizes.get(name) ?? this.#createSize(name, id, protocol);
    const model = new ServerModel(
      {
        name,
        id,
        local,
        contextSize: size,
        searchesWeb: webSearch,
        source: {provider: provider.name, id, api, baseURL, keyEnv: keyEnv ?? provider.keyEnv, searchesWeb: webSearch},
        retry: options.retry,
        replyLimits: options.replyLimits,
        clock: options.clock,
        maxOutputTokens: options.maxOutputTokens,
        prices: options.prices,
        thinking: thinking ?? options.thinking,
        thinkingTokens: tokens ?? (thinking === undefined ? options.thinkingTokens : undefined),
      },
      protocol,
    );
    this.#models.set(key, model);
    return model;
  }

  #createSize(name: string, id: string, protocol: () => Promise<Protocol>): ContextSize {
    const {contextWindows} = this.options;
    const ask = async () => (await protocol()).askContextWindow(id);
    const size = new ContextSize(
      id,
      contextWindows[name] ?? contextWindows[id] ?? contextWindows[this.#aliasOf(id)],
      ask,
    );
    this.#sizes.set(name, size);
    return size;
  }

  /** The settings may say the window of an alias. */
  #aliasOf(id: string): string {
    return ALIAS_NAMES.find((alias) => this.#expand(alias) === id) ?? '';
  }

  /** @throws UsageError when the variable of the key is empty */
  #getProtocol(provider: Provider, keyEnv: string | undefined): () => Promise<Protocol> {
    const key = `${provider.name} ${keyEnv}`;
    const known = this.#protocols.get(key);
    if (known) return known;
    const server = this.providers.getServer(provider, keyEnv ?? provider.keyEnv);
    const words = {
      host: URL.canParse(server.baseURL) ? new URL(server.baseURL).host : provider.name,
      key:
        keyEnv ??
        provider.keyEnv ??
        (provider.address === 'ANTHROPIC_BASE_URL' ? 'ANTHROPIC_API_KEY' : provider.address),
      address: provider.address,
      redactor: this.options.redactor,
    };
    let loading: Promise<Protocol> | undefined;
    const load = () => (loading ??= loadProtocol(server, words));
    this.#protocols.set(key, load);
    return load;
  }
}

/** A name that means the same model wherever it is used. */
function getName({name, address}: Provider, id: string): string {
  const isDefault = name === DEFAULT_PROVIDER || address === 'ANTHROPIC_BASE_URL';
  return isDefault && !id.includes('/') ? id : `${name}/${id}`;
}

async function loadProtocol(server: ModelServer, words: ServerWords): Promise<Protocol> {
  if (server.api === 'openai') {
    const {createChatProtocol} = await import('./openai/protocol.ts');
    return createChatProtocol(server, words);
  }
  const {createMessagesProtocol} = await import('./anthropic/protocol.ts');
  return createMessagesProtocol(server, words);
}
