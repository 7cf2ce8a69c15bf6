/** From a model's name and what is set in the environment to a model that can be asked. */

import type {Model} from '../core/contract/model.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import {UsageError} from '../core/util/errors.ts';
import {AnthropicModel, type ModelServer} from './anthropic-model.ts';
import type {RetryPolicy} from './retry.ts';

export interface ModelOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The built-in model answers, whatever is asked for: by `--offline`, or since nothing else could. */
  readonly offline: boolean;
  /** The built-in model's `fetch`. */
  readonly offlineFetch: typeof globalThis.fetch;
  readonly retry: RetryPolicy;
  readonly idleSeconds: number;
  readonly maxOutputTokens: number;
  /** Takes keys out of what servers say in errors. */
  readonly redactor: Redactor;
}

export const OFFLINE_NAME = 'offline';
const DEFAULT_BASE_URL = 'https://api.anthropic.com';

/** Aliases and the models they mean; the environment may name others. */
const ALIASES: Readonly<Record<string, {readonly env: string; readonly id: string}>> = {
  opus: {env: 'ANTHROPIC_DEFAULT_OPUS_MODEL', id: 'claude-opus-5-5'},
  sonnet: {env: 'ANTHROPIC_DEFAULT_SONNET_MODEL', id: 'claude-sonnet-5-5'},
  haiku: {env: 'ANTHROPIC_DEFAULT_HAIKU_MODEL', id: 'claude-haiku-5-5'},
};

/** @throws UsageError for an address that is none */
export function serverOf(env: ModelOptions['env']): ModelServer {
  const baseURL = env.ANTHROPIC_BASE_URL || DEFAULT_BASE_URL;
  if (!URL.canParse(baseURL)) {
    throw new UsageError(`ANTHROPIC_BASE_URL is no URL: ${JSON.stringify(baseURL)}. Example: http://127.0.0.1:11434`);
  }
  if (env.ANTHROPIC_AUTH_TOKEN) return {baseURL, authToken: env.ANTHROPIC_AUTH_TOKEN};
  // A local server wants no key, but the SDK wants one.
  return {baseURL, apiKey: env.ANTHROPIC_API_KEY || 'none'};
}

export class ModelResolver {
  readonly #models = new Map<string, Model>();

  constructor(private readonly options: ModelOptions) {}

  /** @param name an alias or the name of a model; undefined: sonnet. */
  resolve(name: string | undefined): Model {
    if (this.options.offline || name === OFFLINE_NAME) return this.#offline();
    const id = this.#idOf(name ?? 'sonnet');
    const known = this.#models.get(id);
    if (known) return known;
    const server = serverOf(this.options.env);
    const model = new AnthropicModel(server, {
      name: id,
      id,
      offline: false,
      local: isLocal(server.baseURL),
      maxOutputTokens: this.options.maxOutputTokens,
      idleSeconds: this.options.idleSeconds,
      retry: this.options.retry,
      redactor: this.options.redactor,
    });
    this.#models.set(id, model);
    return model;
  }

  #idOf(name: string): string {
    if (name.trim() === '') throw new UsageError('The name of the model is empty: name one, e.g. --model sonnet');
    const alias = ALIASES[name.toLowerCase()];
    return alias ? (this.options.env[alias.env] ?? alias.id) : name;
  }

  #offline(): Model {
    const known = this.#models.get(OFFLINE_NAME);
    if (known) return known;
    const model = new AnthropicModel(
      {baseURL: 'http://offline.invalid', apiKey: OFFLINE_NAME, fetch: this.options.offlineFetch},
      {
        name: OFFLINE_NAME,
        id: OFFLINE_NAME,
        offline: true,
        local: false,
        maxOutputTokens: this.options.maxOutputTokens,
        idleSeconds: this.options.idleSeconds,
        retry: this.options.retry,
        redactor: this.options.redactor,
      },
    );
    this.#models.set(OFFLINE_NAME, model);
    return model;
  }
}

function isLocal(baseURL: string): boolean {
  const {hostname} = new URL(baseURL);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
