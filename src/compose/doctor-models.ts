/** Examines model servers for `doctor`: keys, whether each server answers, and which run on this machine. */
import type {Finding} from '../commands/doctor.ts';
import {isModelConfigured} from '../config/environment.ts';
import type {Settings} from '../config/settings.ts';
import {getErrorMessage} from '../core/util/errors.ts';
import {createFetch} from '../models/http-fetch.ts';
import {findLocalServers, offerLocalServer} from '../models/local-servers.ts';
import type {ModelServer} from '../models/protocol.ts';
import {getModelServer, isServerSet, Providers} from '../models/providers.ts';
import type {SessionOptions} from './options.ts';

/** Never rejects. */
export async function examineModels({env, offline}: SessionOptions, settings: Settings): Promise<Finding[]> {
  if (offline || !isModelConfigured(env, settings)) {
    const remedy = 'set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for another server';
    const servers = await findLocalServers();
    return [
      {about: 'key', state: 'warning', text: 'none is set: the built-in offline model answers', remedy},
      ...servers.map((server): Finding => ({about: 'server', state: 'ok', text: offerLocalServer(server)})),
    ];
  }
  const providers = new Providers(settings.providers ?? {}, env);
  const names = Object.keys(settings.providers ?? {});
  const found = await Promise.all([
    isServerSet(env) ? examineDefault(env) : [],
    ...names.map((name) => examineProvider(name, providers)),
  ]);
  return found.flat();
}

async function examineDefault(env: SessionOptions['env']): Promise<Finding[]> {
  const names = ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY'].filter((name) => env[name]);
  const key: Finding =
    names.length > 0
      ? {about: 'key', state: 'ok', text: `${names[0]} is set`}
      : {about: 'key', state: 'ok', text: 'none, as ANTHROPIC_BASE_URL names a server that may want none'};
  let at: ModelServer;
  try {
    at = getModelServer(env);
  } catch (error) {
    const remedy = 'correct ANTHROPIC_BASE_URL';
    return [key, {about: 'server', state: 'missing', text: getErrorMessage(error), remedy}];
  }
  const {host} = new URL(at.baseURL);
  const check = await checkServer(at);
  if (!check.reached) {
    const remedy = 'check the network, ANTHROPIC_BASE_URL, and whether that server runs';
    return [key, {about: 'server', state: 'missing', text: `${host} is not reached: ${check.why}`, remedy}];
  }
  const server: Finding = {about: 'server', state: 'ok', text: `${host} answers`};
  if (!check.refusesKey) return [key, server];
  const remedy = `set ${names[0] ?? 'ANTHROPIC_API_KEY'} to a key of ${host}`;
  return [{about: 'key', state: 'missing', text: `${host} does not take it`, remedy}, server];
}

async function examineProvider(name: string, providers: Providers): Promise<Finding[]> {
  const about = `provider ${name}`;
  try {
    const provider = providers.get(name);
    const server = providers.getServer(provider);
    const key = provider.keyEnv === undefined ? 'without a key' : `${provider.keyEnv} is set`;
    if (provider.api === 'bedrock' || provider.api === 'vertex') {
      return [{about, state: 'ok', text: `${provider.api}, ${key}; its first call shows whether it answers`}];
    }
    const {host} = new URL(server.baseURL);
    const check = await checkServer(server);
    if (!check.reached) {
      const remedy = `check providers.${name}.baseURL, and whether that server runs`;
      return [{about, state: 'missing', text: `${host} is not reached: ${check.why}`, remedy}];
    }
    if (!check.refusesKey) return [{about, state: 'ok', text: `${host} answers, ${key}`}];
    const remedy = `set ${provider.keyEnv ?? `providers.${name}.apiKeyEnv`} to a key of ${host}`;
    return [{about, state: 'missing', text: `${host} does not take the key`, remedy}];
  } catch (error) {
    return [{about, state: 'missing', text: getErrorMessage(error), remedy: `correct providers.${name}`}];
  }
}

type ServerCheck =
  | {readonly reached: true; readonly refusesKey: boolean}
  /** `why` completes the sentence "HOST is not reached: WHY". */
  | {readonly reached: false; readonly why: string};

const TIMEOUT_MS = 4000;

/**
 * Checks the server. It never rejects. A server without such a list answers with an error, which shows that it works,
 * too.
 */
export async function checkServer({baseURL, api, apiKey, authToken, sendsKeyAs}: ModelServer): Promise<ServerCheck> {
  const isBearer = authToken !== undefined || api === 'openai' || sendsKeyAs === 'bearer';
  const value = authToken ?? apiKey;
  const key: Record<string, string> = value
    ? isBearer
      ? {authorization: `Bearer ${value}`}
      : {'x-api-key': value}
    : {};
  const path = api === 'openai' ? '/models' : '/v1/models?limit=1';
  try {
    const response = await createFetch()(`${baseURL.replace(/\/+$/, '')}${path}`, {
      headers: {'anthropic-version': '2023-06-01', ...key},
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.text();
    return {reached: true, refusesKey: [401, 403].includes(response.status)};
  } catch (error) {
    return {reached: false, why: getReason(error)};
  }
}

function getReason(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} s`;
  // The cause has the system's own message: `connect ECONNREFUSED 127.0.0.1:1`.
  const {cause} = error as {cause?: unknown};
  return cause instanceof Error && cause.message !== '' ? cause.message : getErrorMessage(error);
}
