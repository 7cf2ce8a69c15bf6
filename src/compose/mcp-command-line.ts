/** Serves `mini-cc mcp list|get|add|add-json|remove|login|logout|serve`. */
import {existsSync, readFileSync, realpathSync} from 'node:fs';
import path from 'node:path';
import {createInterface} from 'node:readline';
import {formatLogout, formatServer, formatServers} from '../commands/extensions.ts';
import {
  type CommandLineOutcome,
  createUnknownVerb,
  printJson,
  printText,
  type SubcommandArguments,
} from '../commands/shared/command-line.ts';
import {DirectoryTrust} from '../config/trust.ts';
import {saveProperty} from '../config/user-settings.ts';
import {getErrorMessage, tryOr, UsageError} from '../core/util/errors.ts';
import {findReadableRepository} from '../core/util/files/git-folder.ts';
import {writeBelow} from '../core/util/files/whole-file.ts';
import {getProperties, parseRoot} from '../core/util/json-syntax.ts';
import {findNearest} from '../core/util/names.ts';
import {isObject} from '../core/util/objects.ts';
import {ProblemList} from '../core/util/problem.ts';
import {showControls} from '../core/util/text.ts';
import {getEntryKey, PROJECT_FILE} from '../extensions/mcp/entry-files.ts';
import {readServerEntry, toServerId} from '../extensions/mcp/server-entry.ts';
import {ProcessGroups} from '../sandbox/launch/process-groups.ts';
import {git} from '../storage/trees/git.ts';
import {createMcpServers} from './mcp.ts';
import {createSecrets, type SessionOptions} from './options.ts';
import {createRules, createSessionSandbox} from './permission-settings.ts';
import {loadTrustedSettings} from './trust.ts';

/** Flags of `mini-cc mcp add` and `remove`. */
export interface ServerFlags {
  readonly transport?: string;
  readonly scope?: string;
  /** Pairs `K=V`. */
  readonly env: readonly string[];
  /** Pairs `Name: value`. */
  readonly headers: readonly string[];
}

type McpArguments = SubcommandArguments & Partial<ServerFlags>;

const FORMS =
  'list, get NAME, add NAME -- COMMAND ARGUMENTS, add --transport http NAME URL, add-json NAME JSON, remove NAME (--scope local|project|user), login NAME, logout NAME, serve';

/** @throws UsageError for bad usage */
export async function mcpCommandLine(
  options: SessionOptions,
  args: McpArguments,
  say: (line: string) => void,
): Promise<CommandLineOutcome> {
  const {verb, words, json} = args;
  const wrong = verb === 'add' ? undefined : [...(args.env ?? []), ...(args.headers ?? [])][0];
  if (wrong !== undefined) throw new UsageError(`mcp ${verb} takes no --env and no --header`);
  switch (verb) {
    case 'list':
      if (words.length > 0) throw new UsageError(`mcp list takes no name: mini-cc mcp get ${words[0]}`);
      return list(options, json, say);
    case 'get':
      return get(options, getName(words, 'get'), json, say);
    case 'add':
      return add(options, args, createEntry(args));
    case 'add-json':
      return add(options, args, parseEntry(args.words));
    case 'serve':
      if (words.length > 0) throw new UsageError(`mcp serve takes no words, only flags: ${words.join(' ')}`);
      return serve(options);
    case 'login':
      return login(options, getName(words, 'login'), say);
    case 'logout':
      return logout(options, getName(words, 'logout'), say);
    case 'remove':
      return remove(options, getName(words, 'remove'), args.scope);
    case '':
      throw new UsageError(`mcp: say what to do: ${FORMS}`);
    default:
      throw createUnknownVerb('mini-cc mcp', verb, FORMS);
  }
}

function getName([name = '', ...more]: readonly string[], verb: string): string {
  if (name === '' || more.length > 0) throw new UsageError(`mcp ${verb}: give the name of one server`);
  return name;
}

/** Runs `work` with the servers that a session in this directory would have, and ends all that it started. */
async function withServers<T>(
  options: SessionOptions,
  say: (line: string) => void,
  work: (servers: ReturnType<typeof createMcpServers>['servers']) => Promise<T>,
): Promise<T> {
  const root = realpathSync(options.cwd);
  const loaded = await loadTrustedSettings(options, root);
  const {redactor, env} = createSecrets(options, loaded.keyNames, root, loaded);
  const {rules} = createRules(options, loaded, root, redactor);
  const sandbox = createSessionSandbox(loaded.settings, {miniCcHome: options.home, root, trusts: loaded.trust.trusts});
  const emit = () => undefined;
  const processes = new ProcessGroups();
  const {servers, warnings} = createMcpServers({
    options,
    root,
    loaded,
    env,
    sandbox,
    processes,
    rules,
    emit,
    redactor,
    extraRoots: [],
  });
  for (const line of [...loaded.trustWarnings, ...warnings]) say(`mini-cc: ${line}`);
  try {
    return await work(servers);
  } finally {
    await servers.close();
    processes.close();
    sandbox.folder.close();
  }
}

/** Starts each server, to report whether it works. */
function list(options: SessionOptions, json: boolean, say: (line: string) => void): Promise<CommandLineOutcome> {
  return withServers(options, say, async (servers) => {
    await servers.startAll();
    const states = servers.list();
    return json ? printJson(states) : printText(showControls(formatServers(states)));
  });
}

function get(
  options: SessionOptions,
  name: string,
  json: boolean,
  say: (line: string) => void,
): Promise<CommandLineOutcome> {
  return withServers(options, say, async (servers) => {
    const before = servers.get(name);
    if (before.status === 'pending') await servers.reconnect(name).catch(() => undefined);
    const state = servers.get(name);
    return json ? printJson(state) : printText(showControls(formatServer(state)));
  });
}

const SCOPES = ['local', 'project', 'user'] as const;
const LOCAL_SETTINGS = 'settings.local.json';

function getFile({cwd, home}: Pick<SessionOptions, 'cwd' | 'home'>, scope: string): string {
  const root = realpathSync(cwd);
  if (scope === 'user') return path.join(home, 'settings.json');
  return scope === 'project' ? path.join(root, PROJECT_FILE) : path.join(root, '.mini-cc', LOCAL_SETTINGS);
}

/** Offers the tools of a session over standard input and output, until the client closes its end. */
async function serve(options: SessionOptions): Promise<CommandLineOutcome> {
  const [{compose}, {serveMcp}] = await Promise.all([import('./session.ts'), import('../drivers/mcp/serve.ts')]);
  const session = await compose(options);
  try {
    await serveMcp(session);
  } finally {
    await session.close();
  }
  return printText('');
}

function login(options: SessionOptions, name: string, say: (line: string) => void): Promise<CommandLineOutcome> {
  return withServers(options, say, async (servers) => {
    const show = (address: string, signal: AbortSignal) => {
      say(`Open this address in a browser, and log in:\n\n${address}\n`);
      say(
        'This goes on by itself when the browser comes back. If it cannot reach this machine, paste the address that it ends at:',
      );
      return readAddress(signal);
    };
    const state = await servers.logIn(name, new AbortController().signal, show);
    return printText(`Logged in. ${formatServer(state)}`);
  });
}

/** Waits for a line of standard input. Its end says nothing, since the browser may still come back. */
async function readAddress(signal: AbortSignal): Promise<string> {
  const lines = createInterface({input: process.stdin, signal});
  for await (const line of lines) if (line.trim() !== '') return line;
  return new Promise(() => undefined);
}

function logout(options: SessionOptions, name: string, say: (line: string) => void): Promise<CommandLineOutcome> {
  return withServers(options, say, async (servers) => printText(formatLogout(name, await servers.logOut(name))));
}

/** @returns the entry that `add-json` got as text @throws UsageError */
function parseEntry([name = '', text = '', ...more]: readonly string[]): Record<string, unknown> {
  const form = `mini-cc mcp add-json NAME '{"type": "http", "url": "https://…"}'`;
  if (name === '' || text === '' || more.length > 0)
    throw new UsageError(`mcp add-json: give a name and one JSON object: ${form}`);
  const value = tryOr(() => JSON.parse(text) as unknown, undefined);
  if (!isObject(value)) throw new UsageError(`mcp add-json ${name}: the entry is no JSON object: ${form}`);
  return value;
}

async function add(
  options: SessionOptions,
  args: McpArguments,
  entry: Readonly<Record<string, unknown>>,
): Promise<CommandLineOutcome> {
  const {verb, words, scope = 'local'} = args;
  const [name = ''] = words;
  if (toServerId(name) !== name) {
    throw new UsageError(`mcp ${verb}: ${JSON.stringify(name)} is no name: letters, digits, - and single _ alone`);
  }
  const {problem} = readServerEntry(name, entry, '');
  if (problem !== undefined) throw new UsageError(`mcp ${verb} ${name}: ${problem}`);
  const file = getFile(options, scope);
  if (readNames(file).includes(name)) {
    throw new UsageError(`${file} has a server ${name} already: mini-cc mcp remove ${name} --scope ${scope}`);
  }
  const ignoring = scope === 'local' && !existsSync(file) ? await ignoreLocalSettings(realpathSync(options.cwd)) : [];
  await saveProperty(file, ['mcpServers', name], entry);
  // The person who types the entry approves it, so no question follows.
  const claim = {file, key: getEntryKey(name), value: entry};
  const trouble =
    scope === 'user'
      ? undefined
      : await new DirectoryTrust(options.home, realpathSync(options.cwd)).remember([claim], 'trusted');
  const stderr = [...ignoring, ...(trouble === undefined ? [] : [trouble])]
    .map((line) => `mini-cc: ${line}\n`)
    .join('');
  return {...printText(`Added the MCP server ${name} to ${file}`), stderr};
}

const IGNORE_FILE = path.join('.mini-cc', '.gitignore');

/**
 * Lets git ignore the user's own settings of a project, which may have keys, before their file is created. The file that
 * says so ignores itself.
 * @returns a warning when that is not possible
 */
async function ignoreLocalSettings(root: string): Promise<readonly string[]> {
  const name = path.join('.mini-cc', LOCAL_SETTINGS);
  try {
    if (!findReadableRepository(root) || (await git(root, ['check-ignore', '-q', name])).exitCode === 0) return [];
    const file = path.join(root, IGNORE_FILE);
    const before = existsSync(file) ? readFileSync(file, 'utf8').replace(/(?<!\n)$/, '\n') : '.gitignore\n';
    await writeBelow(root, [{name: IGNORE_FILE, text: `${before}${LOCAL_SETTINGS}\n`}]);
    return [];
  } catch (error) {
    return [`git does not ignore ${name}, which may have keys: ${getErrorMessage(error)}`];
  }
}

function createEntry({words, transport, env = [], headers = []}: McpArguments): Record<string, unknown> {
  const [name = '', target = '', ...rest] = words;
  if (name === '')
    throw new UsageError('mcp add: give a name and a command: mini-cc mcp add NAME -- COMMAND ARGUMENTS');
  if (target === '')
    throw new UsageError(`mcp add ${name}: give its command behind --, or its address behind --transport http`);
  if (transport === 'http' || transport === 'sse') {
    if (rest.length > 0) throw new UsageError(`mcp add ${name}: an address is one word: ${rest[0]} is too much`);
    if (env.length > 0) throw new UsageError(`mcp add ${name}: --env is for programs; --header is for addresses`);
    const pairs = headers.map((header) => split(header, ':', '--header "Name: value"'));
    return {type: transport, url: target, ...(pairs.length > 0 && {headers: Object.fromEntries(pairs)})};
  }
  if (headers.length > 0) throw new UsageError(`mcp add ${name}: --header goes with --transport http`);
  if (/^https?:\/\//i.test(target) && transport === undefined) {
    throw new UsageError(
      `mcp add ${name}: ${target} is an address: mini-cc mcp add --transport http ${name} ${target}`,
    );
  }
  const pairs = env.map((each) => split(each, '=', '--env NAME=value'));
  return {type: 'stdio', command: target, args: rest, ...(pairs.length > 0 && {env: Object.fromEntries(pairs)})};
}

function split(text: string, sign: string, form: string): [string, string] {
  const at = text.indexOf(sign);
  if (at > 0) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  throw new UsageError(`mcp add: ${JSON.stringify(text)} is not ${form}`);
}

async function remove(options: SessionOptions, name: string, scope: string | undefined): Promise<CommandLineOutcome> {
  const places = SCOPES.map((each) => ({scope: each, file: getFile(options, each)}));
  const found = places.filter(
    (place) => (scope ?? place.scope) === place.scope && readNames(place.file).includes(name),
  );
  const [first, ...others] = found;
  if (!first) {
    const known = places.flatMap(({file}) => readNames(file));
    const meant = findNearest(name, known);
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`;
    throw new UsageError(
      `mcp remove: no server ${JSON.stringify(name)} is written down${scope ? ` for ${scope}` : ''}${hint}`,
    );
  }
  if (others.length > 0) {
    const scopes = found.map((each) => each.scope).join(' and ');
    throw new UsageError(`mcp remove: ${name} is written down for ${scopes}: say which by --scope`);
  }
  await saveProperty(first.file, ['mcpServers', name], undefined);
  return printText(`Removed the MCP server ${name} from ${first.file}`);
}

/** Returns the names below `mcpServers`. @throws UsageError for a file that is no JSON */
function readNames(file: string): string[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8');
  const problems = new ProblemList(file);
  if (text.trim() === '') return [];
  const root = parseRoot(text, problems);
  if (!root) throw new UsageError(`${file}: ${problems.all[0]?.message ?? 'is no JSON'}`);
  const [, servers] = getProperties(root).find(([key]) => key.value === 'mcpServers') ?? [];
  return servers?.type === 'object' ? getProperties(servers).map(([key]) => String(key.value)) : [];
}
