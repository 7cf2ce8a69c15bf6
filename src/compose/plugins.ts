/** Finds the plugins of a session, and says in words what a plugin brings. */
import {existsSync, realpathSync} from 'node:fs';
import path from 'node:path';
import {readEntry} from '../agents/catalog.ts';
import {listAgentFiles, listAgentFolders} from '../agents/folders.ts';
import {isRead} from '../config/layers.ts';
import type {Settings} from '../config/settings.ts';
import type {Plugin} from '../core/contract/plugin.ts';
import {getErrorMessage} from '../core/util/errors.ts';
import {isObject} from '../core/util/objects.ts';
import {formatProblem} from '../core/util/problem.ts';
import {showControls, toOneLine} from '../core/util/text.ts';
import {describeTarget, readServerEntry} from '../extensions/mcp/server-entry.ts';
import {findPrompts} from '../extensions/prompts/find-prompts.ts';
import {AGENT_TOOLS, ALL_TOOLS} from './known-tools.ts';
import type {SessionOptions} from './options.ts';

interface FoundPlugins {
  readonly plugins: readonly Plugin[];
  /** One line each. */
  readonly warnings: readonly string[];
}

/** Reads the plugins that are installed and on, and those of `--plugin-dir`. Without any, nothing is loaded. */
export async function findPlugins(
  {home, cwd, pluginDirs = [], settingSources}: Pick<SessionOptions, 'home' | 'cwd' | 'pluginDirs' | 'settingSources'>,
  {enabledPlugins = {}}: Pick<Settings, 'enabledPlugins'>,
): Promise<FoundPlugins> {
  const isStored = isRead('user', settingSources) && existsSync(path.join(home, 'plugins', 'plugins.json'));
  const missing = (ids: readonly string[]) =>
    Object.keys(enabledPlugins)
      .filter((id) => enabledPlugins[id] && !ids.includes(id))
      .map(
        (id) =>
          `the settings name the plugin ${showControls(id)}, which is not installed: mini-cc plugin install ${showControls(id)}`,
      );
  if (!isStored && pluginDirs.length === 0) return {plugins: [], warnings: missing([])};
  const [{readPlugin}, {PluginRecords}] = await Promise.all([
    import('../extensions/plugins/read-plugin.ts'),
    import('../extensions/plugins/plugin-records.ts'),
  ]);
  const plugins = new Map<string, Plugin>();
  const warnings: string[] = [];
  const add = (read: () => Plugin) => {
    try {
      const plugin = read();
      const first = plugins.get(plugin.name);
      if (first) warnings.push(`the plugin ${plugin.id} is not used: ${first.id} has its name`);
      else plugins.set(plugin.name, plugin);
      warnings.push(...plugin.problems.map((problem) => `plugin ${plugin.id}: ${problem}`));
    } catch (error) {
      warnings.push(toOneLine(showControls(getErrorMessage(error))));
    }
  };
  for (const dir of pluginDirs) add(() => readPlugin(realpathSync(path.resolve(cwd, dir)), undefined));
  if (!isStored) return {plugins: [...plugins.values()], warnings: [...warnings, ...missing([])]};
  const records = new PluginRecords(home);
  const stored = tryRead(() => records.read().plugins, warnings);
  for (const [id, record] of Object.entries(stored ?? {})) {
    if (enabledPlugins[id] ?? record.enabled) add(() => records.load(id, record));
  }
  return {plugins: [...plugins.values()], warnings: [...warnings, ...missing(Object.keys(stored ?? {}))]};
}

function tryRead<T>(read: () => T, warnings: string[]): T | undefined {
  try {
    return read();
  } catch (error) {
    warnings.push(toOneLine(getErrorMessage(error)));
    return undefined;
  }
}

/** Names of what a plugin brings, by kind. */
export interface Brings {
  readonly agents: readonly string[];
  readonly commands: readonly string[];
  readonly skills: readonly string[];
  readonly hooks: readonly string[];
  readonly mcpServers: readonly string[];
}

/** Reads all parts of a plugin as a session does. */
function readParts(plugin: Plugin) {
  const locations = {cwd: plugin.root, home: plugin.root, miniCcHome: plugin.root, sources: []};
  const listable = {known: AGENT_TOOLS, names: AGENT_TOOLS.map(({name}) => name)};
  const entries = listAgentFolders({...locations, plugins: [plugin]}).flatMap((folder) =>
    listAgentFiles(folder).files.map(({file}) => readEntry(folder, file, {listable})),
  );
  const found = findPrompts({...locations, tools: ALL_TOOLS, plugins: [plugin]}, () => false);
  const servers = Object.entries(plugin.servers).map(([name, value]) => readServerEntry(name, value, plugin.id));
  return {entries, found, servers};
}

export function listBrings(plugin: Plugin): Brings {
  const {entries, found, servers} = readParts(plugin);
  const ofKind = (kind: string) => found.prompts.filter((prompt) => prompt.kind === kind).map(({name}) => name);
  return {
    agents: entries.flatMap(({agent}) => agent?.definition.name ?? []),
    commands: ofKind('command'),
    skills: ofKind('skill'),
    hooks: plugin.hooks.map(({event, matcher}) => (matcher === '' ? event : `${event}(${matcher})`)),
    mcpServers: servers.map(({name}) => name),
  };
}

/** Describes what a plugin brings, a part a line, and what of it runs code. */
export function describeBrings(plugin: Plugin): string[] {
  const {entries, found, servers} = readParts(plugin);
  const prompts = found.prompts.map(({kind, name, allowedTools, body}) => {
    const runs = [...body.matchAll(/!`([^`\n]+)`/g)].map(([, command]) => `runs ${command}`);
    const allows = allowedTools.length === 0 ? [] : [`allows ${allowedTools.join(', ')}`];
    return [`${kind} /${name}`, ...runs, ...allows].join('; ');
  });
  const agents = entries.flatMap(({agent}) =>
    agent
      ? [
          `agent ${agent.definition.name}: ${agent.definition.readOnly ? 'reads only; ' : ''}tools ${agent.tools.join(', ')}`,
        ]
      : [],
  );
  const hooks = plugin.hooks.map(
    ({event, matcher, command}) => `hook ${event}${matcher === '' ? '' : ` (${matcher})`} runs code: ${command}`,
  );
  const programs = servers.map((server) => {
    const does = server.config?.type === 'stdio' ? 'runs code' : 'is reached';
    return `MCP server ${server.name} ${does}: ${server.problem ?? describeTarget(server)}`;
  });
  const problems = [
    ...entries.flatMap((entry) => entry.problems.filter(({severity}) => severity === 'error').map(formatProblem)),
    ...found.problems,
  ];
  const wrong = problems.map((problem) => `not used: ${problem}`);
  return [...prompts, ...agents, ...hooks, ...programs, ...wrong].map((line) => toOneLine(showControls(line)));
}

/** Returns the addresses of the marketplaces that settings name, in Claude Code's form. */
export function listKnownMarketplaces({extraKnownMarketplaces = {}}: Settings): Record<string, string> {
  const addresses = Object.entries(extraKnownMarketplaces).flatMap(([name, {source}]) => {
    const {repo, url, path: folder} = isObject(source) ? source : {};
    const address = [repo, url, folder].find((each) => typeof each === 'string') ?? source;
    return typeof address === 'string' ? [[name, address]] : [];
  });
  return Object.fromEntries(addresses);
}
