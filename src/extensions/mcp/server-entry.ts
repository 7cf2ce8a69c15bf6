/** Parses an entry of `mcpServers` in Claude Code's shape: the program to start or the address to connect to. */

import {MiniCcError, tryOr} from '../../core/util/errors.ts';
import {findTypo} from '../../core/util/names.ts';
import {isObject, withoutUndefined} from '../../core/util/objects.ts';
import {removeLogins} from '../../core/util/text.ts';

export type ServerConfig =
  | {
      readonly type: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly timeoutMs?: number;
    }
  | {
      readonly type: 'http' | 'sse';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly oauth: OAuthEntry;
      readonly timeoutMs?: number;
    }
  /** A server in the process of the program that drives the session. */
  | {readonly type: 'sdk'; readonly timeoutMs?: number};

/** How mini-cc is known to the sign-in server. Without `clientId` it registers there. */
export interface OAuthEntry {
  readonly clientId?: string;
  /** Variable of the environment that has the client's secret. */
  readonly clientSecretEnv?: string;
  /** Scopes separated by blanks. Default: those that the server asks for. */
  readonly scopes?: string;
  /** Port to which the browser comes back. Default: any that is free. */
  readonly callbackPort?: number;
}

/** A server as it was written, before its variables are replaced by values. */
export interface ServerEntry {
  readonly name: string;
  /** The file, the flag, or `driver`. */
  readonly from: string;
  /** Undefined when `problem` says why. */
  readonly config?: ServerConfig;
  readonly problem?: string;
  /** True for a server of the project that the user has not approved. */
  readonly isUnapproved?: boolean;
}

const KEYS: Readonly<Record<ServerConfig['type'], readonly string[]>> = {
  stdio: ['command', 'args', 'env', 'type', 'timeout', 'description'],
  http: ['url', 'headers', 'oauth', 'type', 'timeout', 'description'],
  sse: ['url', 'headers', 'oauth', 'type', 'timeout', 'description'],
  sdk: ['name', 'type', 'timeout', 'description'],
};
const TYPES: Readonly<Record<string, ServerConfig['type']>> = {
  stdio: 'stdio',
  http: 'http',
  'streamable-http': 'http',
  sse: 'sse',
  sdk: 'sdk',
};

/** Converts the name of a server for the names of its tools: `mcp__SERVER__TOOL`. */
export function toServerId(name: string): string {
  return name
    .replace(/[^\w-]/g, '_')
    .replace(/_{2,}/g, '_')
    .replace(/^_+|_+$/g, '');
}

/** @returns the entry, which has a `problem` when it is wrong @param from the place where it was written */
export function readServerEntry(name: string, value: unknown, from: string): ServerEntry {
  if (toServerId(name) === '') return {name, from, problem: 'its name has no letter and no digit'};
  const config = parseConfig(value);
  return typeof config === 'string' ? {name, from, problem: config} : {name, from, config};
}

/** @returns the config, or a text that describes the problem */
function parseConfig(value: unknown): ServerConfig | string {
  if (!isObject(value)) return 'must be an object: {"command": …} or {"type": "http", "url": …}';
  const written = value.type ?? (value.url === undefined ? 'stdio' : 'http');
  const type = typeof written === 'string' && Object.hasOwn(TYPES, written) ? TYPES[written]! : undefined;
  if (!type) return `type ${JSON.stringify(written)} is none of ${Object.keys(TYPES).join(', ')}`;
  const unknown = Object.keys(value).find((key) => !KEYS[type].includes(key));
  const meant = unknown === undefined ? undefined : findTypo(unknown, KEYS[type]);
  if (meant !== undefined) return `there is no key ${JSON.stringify(unknown)} (did you mean ${JSON.stringify(meant)}?)`;
  const {timeout} = value;
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0)) {
    return 'timeout must be a number of milliseconds above 0';
  }
  const limit = timeout === undefined ? {} : {timeoutMs: timeout};
  if (type === 'sdk') return {type, ...limit};
  return type === 'stdio' ? parseStdio(value, limit) : parseHttp(type, value, limit);
}

function parseStdio({command, args = [], env = {}}: Record<string, unknown>, limit: {timeoutMs?: number}) {
  if (typeof command !== 'string' || command.trim() === '') return 'command must be the name of a program';
  if (!isListOfTexts(args)) return 'args must be a list of texts';
  if (!isTexts(env)) return 'env must be an object of texts';
  return {type: 'stdio', command, args, env, ...limit} as const;
}

function parseHttp(
  type: 'http' | 'sse',
  {url, headers = {}, oauth = {}}: Record<string, unknown>,
  limit: {timeoutMs?: number},
) {
  if (typeof url !== 'string' || url.trim() === '') return 'url must be an address: "https://…"';
  // An address with variables is checked when they have values.
  if (!url.includes('${') && !isAddress(url)) return describeBadAddress(url);
  if (!isTexts(headers)) return 'headers must be an object of texts';
  const parsed = parseOAuth(oauth);
  return typeof parsed === 'string' ? parsed : {type, url, headers, oauth: parsed, ...limit};
}

const OAUTH_KEYS = ['clientId', 'clientSecretEnv', 'scopes', 'callbackPort'];

/** @returns the entry, or a text that describes the problem */
function parseOAuth(value: unknown): OAuthEntry | string {
  if (!isObject(value)) return 'oauth must be an object: {"clientId": …}';
  const unknown = Object.keys(value).find((key) => !OAUTH_KEYS.includes(key));
  if (unknown !== undefined) return `oauth has no key ${JSON.stringify(unknown)}: ${OAUTH_KEYS.join(', ')}`;
  const {clientId, clientSecretEnv, scopes, callbackPort} = value;
  const list = isListOfTexts(scopes) ? scopes.join(' ') : scopes;
  const wrong = Object.entries({clientId, clientSecretEnv, scopes: list}).find(
    ([, text]) => text !== undefined && (typeof text !== 'string' || text.trim() === ''),
  );
  if (wrong) return `oauth.${wrong[0]} must be a text`;
  if (clientSecretEnv !== undefined && clientId === undefined) return 'oauth.clientSecretEnv goes with oauth.clientId';
  const isPort =
    callbackPort === undefined ||
    (Number.isInteger(callbackPort) && Number(callbackPort) > 0 && Number(callbackPort) < 65_536);
  if (!isPort) return 'oauth.callbackPort must be a port, from 1 to 65535';
  return withoutUndefined({clientId, clientSecretEnv, scopes: list, callbackPort}) as OAuthEntry;
}

function isAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:/i.test(url);
}

function describeBadAddress(url: string): string {
  return `${JSON.stringify(removeLogins(url))} is no address: it begins with http:// or https://`;
}

/**
 * Replaces `${VAR}` and `${VAR:-default}` by values.
 * @throws MiniCcError `MCP_VARIABLE` when a variable is not set and has no default
 */
export function expandConfig(config: ServerConfig, env: Readonly<Record<string, string | undefined>>): ServerConfig {
  const expand = (text: string) =>
    text.replaceAll(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (_, name: string, fallback: string | undefined) => {
      const value = env[name] || fallback;
      if (value === undefined) {
        throw new MiniCcError(
          'MCP_VARIABLE',
          `the variable ${name} is not set: export it, or write \${${name}:-a default}`,
        );
      }
      return value;
    });
  const expandAll = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, expand(text)]));
  switch (config.type) {
    case 'sdk':
      return config;
    case 'stdio':
      return {
        ...config,
        command: expand(config.command),
        args: config.args.map(expand),
        env: expandAll(config.env),
      };
    default: {
      const url = expand(config.url);
      if (!isAddress(url)) throw new MiniCcError('MCP_URL', describeBadAddress(url));
      return {...config, url, headers: expandAll(config.headers)};
    }
  }
}

/** Lists what may contain keys, by names, with the values of the variables that the entry names. */
export function listVariables(
  {name, config}: ServerEntry,
  env: Readonly<Record<string, string | undefined>>,
): readonly Readonly<Record<string, string>>[] {
  if (!config) return [];
  const id = `mcpServers.${toServerId(name)}`;
  const entry = tryOr(() => expandConfig(config, env), config);
  if (entry.type === 'sdk') return [];
  if (entry.type !== 'stdio') return [entry.headers, {[`${id}.url`]: entry.url}];
  const named = entry.args.flatMap((argument, index) => {
    // `--api-key=KEY`, `--api-key KEY`, and `Authorization: Bearer KEY` behind `--header`.
    const text = /^-[\w-]+$/.test(argument) ? `${argument}=${entry.args[index + 1] ?? ''}` : argument;
    const [, key, value] = /^-{0,2}([\w-]+)(?:=|: *)(.+)$/.exec(text) ?? [];
    return key === undefined || value === undefined ? [] : [{[key]: value}];
  });
  return [entry.env, ...named, {[`${id}.args`]: entry.args.join(' ')}];
}

/** Returns the program or the address as it was written, without the values of headers and variables. */
export function describeTarget({config}: ServerEntry): string {
  if (!config) return '';
  if (config.type === 'stdio') return [config.command, ...config.args].join(' ');
  return config.type === 'sdk' ? 'in the process of the driver' : config.url;
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isTexts(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((each) => typeof each === 'string');
}
