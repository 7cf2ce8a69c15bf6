/** Parses an entry of `mcpServers` in Claude Code's shape: the program to start or the address to connect to. */

import {z} from 'zod';
import {MiniCcError, tryOr} from '../../core/util/errors.ts';
import {findTypo} from '../../core/util/names.ts';
import {isObject} from '../../core/util/objects.ts';
import {removeLogins} from '../../core/util/text.ts';

const text = z.string().regex(/\S/);
const texts = z.record(z.string(), z.string());
const port = z.int().min(1).max(65_535);
/** Milliseconds for each call. */
const timeout = z.number().positive().optional();

/** How mini-cc is known to the sign-in server. Without `clientId` it registers there. */
const oauthSchema = z
  .strictObject({
    clientId: text.optional(),
    /** Variable of the environment that has the client's secret. */
    clientSecretEnv: text.optional(),
    /** Scopes separated by blanks. Default: those that the server asks for. */
    scopes: z
      .union([text, z.array(text).min(1)])
      .transform((scopes) => [scopes].flat().join(' '))
      .optional(),
    /** Port to which the browser comes back. Default: any that is free. */
    callbackPort: port.optional(),
  })
  .refine(({clientId, clientSecretEnv}) => clientSecretEnv === undefined || clientId !== undefined, {
    error: 'oauth.clientSecretEnv goes with oauth.clientId',
  });
export type OAuthEntry = z.output<typeof oauthSchema>;

const program = z.object({command: text, args: z.array(z.string()).default([]), env: texts.default({}), timeout});
const remote = z.object({
  // An address with variables is checked when they have values.
  url: text.refine((url) => url.includes('${') || isAddress(url), {
    error: ({input}) => describeBadAddress(String(input)),
  }),
  headers: texts.default({}),
  oauth: oauthSchema.default({}),
  timeout,
});
const SCHEMAS = {stdio: program, http: remote, sse: remote, sdk: z.object({timeout})};

/** What a field must be, by its path. */
const MUST_BE: Readonly<Record<string, string>> = {
  command: 'the name of a program',
  args: 'a list of texts',
  env: 'an object of texts',
  url: 'an address: "https://…"',
  headers: 'an object of texts',
  timeout: 'a number of milliseconds above 0',
  oauth: 'an object: {"clientId": …}',
  'oauth.callbackPort': 'a port, from 1 to 65535',
};

export type ServerConfig =
  | ({readonly type: 'stdio'} & z.output<typeof program>)
  | ({readonly type: 'http' | 'sse'} & z.output<typeof remote>)
  /** A server in the process of the program that drives the session. */
  | {readonly type: 'sdk'; readonly timeout?: number | undefined};

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
  const keys = [...Object.keys(SCHEMAS[type].shape), 'type', 'description', 'name'];
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  const meant = unknown === undefined ? undefined : findTypo(unknown, keys);
  if (meant !== undefined) return `there is no key ${JSON.stringify(unknown)} (did you mean ${JSON.stringify(meant)}?)`;
  const {success, data, error} = SCHEMAS[type].safeParse(value);
  return success ? ({type, ...data} as ServerConfig) : describeIssue(error.issues[0]!);
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'custom') return issue.message;
  const field = issue.path.slice(0, issue.path[0] === 'oauth' ? 2 : 1).join('.');
  if (issue.code === 'unrecognized_keys')
    return `${field} has no key ${JSON.stringify(issue.keys[0])}: ${Object.keys(oauthSchema.shape).join(', ')}`;
  return `${field} must be ${MUST_BE[field] ?? 'a text'}`;
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
