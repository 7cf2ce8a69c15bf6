/**
 * Finds the model for a name by aliases, providers and the environment, and adds the models that answer when it cannot.
 */

import type {Model, Thinking} from '../core/contract/model.ts';
import type {ListedModel, ProviderModels} from '../core/contract/session-requests.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import {getErrorMessage, UsageError} from '../core/util/errors.ts';

import {AccountPauses} from './account-pauses.ts';
import {type ContextSize, createContextSize, findKnownWindow} from './context-size.ts';

import {type ChainLink, Circuits, createFallbackModel} from './fallback.ts';
import {findLocalServers} from './local-servers.ts';
import type {PriceList} from './prices.ts';
import type {ModelServer, Protocol, ServerWords} from './protocol.ts';
import {DEFAULT_PROVIDER, type Provider, type ProviderSettings, Providers} from './providers.ts';
import {createServerModel, type ModelSettings, type ServerModel} from './server-model.ts';

export interface ModelOptions
  extends Pick<ModelSettings, 'maxWaitSeconds' | 'replyLimits' | 'maxOutputTokens' | 'clock'> {
  readonly prices: PriceList;
  /** Seconds that a call may wait for the end of the account's limit. */
  readonly pauseSeconds: number;
  /** Context windows in tokens by the name of the model, from the settings. */
  readonly contextWindows: Readonly<Record<string, number>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly redactor: Redactor;
  readonly providers?: Readonly<Record<string, ProviderSettings>> | undefined;
  /** Models that answer when another cannot, in this order. */
  readonly fallback?: readonly string[] | undefined;
  /** Default thinking of models: a level, or a number of tokens. */
  readonly thinking?: Thinking | undefined;
  readonly thinkingTokens?: number | undefined;
  /** True with `--offline`: the offline model answers for every name. */
  readonly offline: boolean;
  /** True when neither a server nor a provider is set: the offline model answers for names without a provider. */
  readonly offlineByDefault?: boolean;
  readonly offlineModel: Model;
}

/** The choices of a run about its model, besides the name. */
interface ModelChoice {
  readonly thinking?: Thinking | undefined;
  /** Replaces the level; 0 for no thinking. */
  readonly thinkingTokens?: number | undefined;
  /** Variable of the agent's own key. When the server refuses that key, the provider's key is used. */
  readonly keyEnv?: string | undefined;
  /** The model that answers when the server does not know the requested one. */
  readonly ifUnknown?: Model | undefined;
}

type ThinkingChoice = Pick<ModelChoice, 'thinking' | 'thinkingTokens'>;

export const OFFLINE_NAME = 'offline';

/** Aliases with their models, and the variables that can name other models. */
const ALIASES: Readonly<Record<string, {readonly env: string; readonly id: string}>> = {
  opus: {env: 'ANTHROPIC_DEFAULT_OPUS_MODEL', id: 'claude-opus-5-5'},
  sonnet: {env: 'ANTHROPIC_DEFAULT_SONNET_MODEL', id: 'claude-sonnet-5-5'},
  haiku: {env: 'ANTHROPIC_DEFAULT_HAIKU_MODEL', id: 'claude-haiku-5-5'},
};

const ALIAS_NAMES: readonly string[] = Object.keys(ALIASES);

interface Target {
  readonly provider: Provider;
  readonly id: string;
  /** Name for the user. */
  readonly name: string;
}

export class ModelResolver {
  readonly providers: Providers;
  readonly #models = new Map<string, ServerModel>();
  readonly #protocols = new Map<string, () => Promise<Protocol>>();
  readonly #sizes = new Map<string, ContextSize>();
  readonly #circuits: Circuits;
  readonly #pauses: AccountPauses;
  #fallback: readonly Target[] | undefined;

  constructor(private readonly options: ModelOptions) {
    this.providers = new Providers(options.providers ?? {}, options.env);
    this.#circuits = new Circuits(options.clock);
    this.#pauses = new AccountPauses(options);
  }

  /**
   * Returns the model for a name. No server is asked.
   * @param name an alias, `provider/model`, or a model of the default provider; sonnet when undefined
   * @throws UsageError when the name, its provider or a fallback cannot be used
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
    if (links.length === 1) return this.#pauses.guard(main);
    const {maxWaitSeconds} = this.options;
    return this.#pauses.guard(createFallbackModel(links, {circuits: this.#circuits, maxWaitSeconds}));
  }

  /**
   * Lists all models that can be chosen: aliases, models that the providers' servers list, and models of servers on
   * this machine.
   */
  async listModels(): Promise<readonly ProviderModels[]> {
    if (this.options.offline) return [{provider: OFFLINE_NAME, models: [{name: OFFLINE_NAME, id: OFFLINE_NAME}]}];
    const {names} = this.providers;
    const isDefault = !this.options.offlineByDefault && names.includes(DEFAULT_PROVIDER);
    const [local, ...listed] = await Promise.all([
      findLocalServers(),
      ...(this.options.offlineByDefault ? [] : names).map((name) => this.#list(name)),
    ]);
    return [
      ...(isDefault ? [{provider: DEFAULT_PROVIDER, models: ALIAS_NAMES.map((name) => this.#describe(name))}] : []),
      ...listed,
      ...local
        .filter(({name}) => !names.includes(name))
        .map(({name: provider, models}) => ({
          provider,
          models: models.map((name) => ({name, id: name.slice(name.indexOf('/') + 1)})),
        })),
    ];
  }

  /** Lists the models of a provider's server. It never rejects. */
  async #list(provider: string): Promise<ProviderModels> {
    try {
      const found = this.providers.get(provider);
      const protocol = await this.#getProtocol(found, undefined)();
      const ids = await protocol.listModels();
      return {provider, models: ids.map((id) => this.#describe(getName(found, id)))};
    } catch (error) {
      return {provider, models: [], problem: getErrorMessage(error)};
    }
  }

  /** Says what is known of a model without asking its server. */
  #describe(name: string): ListedModel {
    const target = this.#find(name);
    const {provider, id, name: whole} = target;
    const window = this.#getSetWindow(target) ?? findKnownWindow(id);
    const price = this.options.prices.find(whole, id);
    // Every Claude that is served thinks; servers of other models do not say.
    const thinks = provider.api === 'anthropic' && /claude/.test(id) ? {thinks: true} : {};
    return {name, id, ...thinks, ...(window !== undefined && {window}), ...(price && {price})};
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
      const why = this.providers.has(prefix)
        ? `it names no model of ${prefix}`
        : this.providers.describeUnknown(prefix);
      throw new UsageError(`the model ${JSON.stringify(given)} cannot be used: ${why}${slashed}`);
    }
    const provider = this.providers.get(prefix);
    return {provider, id, name: getName(provider, id)};
  }

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

  /** @param keyEnv variable of an agent's own key */
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
    const size = this.#sizes.get(name) ?? this.#createSize({provider, id, name}, protocol);
    const model = createServerModel(
      {
        name,
        id,
        local,
        contextSize: size,
        searchesWeb: webSearch,
        source: {provider: provider.name, id, api, baseURL, keyEnv: keyEnv ?? provider.keyEnv, searchesWeb: webSearch},
        maxWaitSeconds: options.maxWaitSeconds,
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

  #createSize(target: Target, protocol: () => Promise<Protocol>): ContextSize {
    const {id, name} = target;
    const size = createContextSize(id, this.#getSetWindow(target), async () => (await protocol()).askContextWindow(id));
    this.#sizes.set(name, size);
    return size;
  }

  #getSetWindow({provider, id, name}: Target): number | undefined {
    const {contextWindows} = this.options;
    const names = [name, `${provider.name}/${id}`, id, this.#aliasOf(id)];
    return names.map((each) => contextWindows[each]).find((window) => window !== undefined);
  }

  /** Returns the alias of a model, because the settings may set the context window of an alias. */
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

/** Returns a name that means the same model everywhere. */
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
