/** Finds the model for a name: by aliases, the environment and the address of the server. */

import type {Model} from '../core/contract/model.ts';
import {UsageError} from '../core/util/errors.ts';
import {AnthropicModel, type ModelServer, type ModelSettings} from './anthropic-model.ts';

export interface ModelOptions
  extends Pick<ModelSettings, 'retry' | 'replyLimits' | 'maxOutputTokens' | 'redactor' | 'clock'> {
  /** Context windows by the name of the model, as the settings say. Tokens. */
  readonly contextWindows: Readonly<Record<string, number>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The built-in model answers for every name: with `--offline`, or when no server is configured. */
  readonly offline: boolean;
  /** The `fetch` of the built-in model. */
  readonly offlineFetch: typeof globalThis.fetch;
}

const OFFLINE_NAME = 'offline';
const DEFAULT_BASE_URL = 'https://api.anthropic.com';

/** Aliases, the model that each one means, and the variable that can name another. */
const ALIASES: Readonly<Record<string, {readonly env: string; readonly id: string}>> = {
  opus: {env: 'ANTHROPIC_DEFAULT_OPUS_MODEL', id: 'claude-opus-5-5'},
  sonnet: {env: 'ANTHROPIC_DEFAULT_SONNET_MODEL', id: 'claude-sonnet-5-5'},
  haiku: {env: 'ANTHROPIC_DEFAULT_HAIKU_MODEL', id: 'claude-haiku-5-5'},
};

/** @throws UsageError when ANTHROPIC_BASE_URL is not a URL. */
export function getModelServer(env: ModelOptions['env']): ModelServer {
  const baseURL = env.ANTHROPIC_BASE_URL || DEFAULT_BASE_URL;
  if (!URL.canParse(baseURL)) {
    throw new UsageError(
      `ANTHROPIC_BASE_URL is not a URL: ${JSON.stringify(baseURL)}. Example: http://127.0.0.1:11434`,
    );
  }
  if (env.ANTHROPIC_AUTH_TOKEN) return {baseURL, authToken: env.ANTHROPIC_AUTH_TOKEN};
  // A local server needs no key, but the SDK does.
  return {baseURL, apiKey: env.ANTHROPIC_API_KEY || 'none'};
}

export class ModelResolver {
  readonly #models = new Map<string, Model>();

  constructor(private readonly options: ModelOptions) {}

  /** @param name an alias or the name of a model; undefined: sonnet. */
  resolve(name: string | undefined): Model {
    const offline = this.options.offline || name === OFFLINE_NAME;
    const id = offline ? OFFLINE_NAME : this.#getId(name ?? 'sonnet');
    const known = this.#models.get(id);
    if (known) return known;
    const server = offline ? this.#offlineServer() : getModelServer(this.options.env);
    const local = !offline && isLocal(server.baseURL);
    const contextWindow = this.options.contextWindows[id] ?? this.options.contextWindows[name ?? ''];
    const model = new AnthropicModel(server, {...this.options, name: id, id, offline, local, contextWindow});
    this.#models.set(id, model);
    return model;
  }

  #getId(name: string): string {
    if (name.trim() === '') throw new UsageError('The name of the model is empty. Name one, e.g. --model sonnet');
    const alias = ALIASES[name.toLowerCase()];
    return alias ? (this.options.env[alias.env] ?? alias.id) : name;
  }

  #offlineServer(): ModelServer {
    return {baseURL: 'http://offline.invalid', apiKey: OFFLINE_NAME, fetch: this.options.offlineFetch};
  }
}

function isLocal(baseURL: string): boolean {
  const {hostname} = new URL(baseURL);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
