/** Serves `mini-cc plugin …` and `/plugin`. */
import {realpathSync} from 'node:fs';
import {
  askInTerminal,
  type CommandLineOutcome,
  createUnknownVerb,
  printJson,
  printText,
  type SubcommandArguments,
} from '../commands/shared/command-line.ts';
import type {Settings} from '../config/settings.ts';
import {UsageError} from '../core/util/errors.ts';
import {formatCount} from '../core/util/text.ts';
import {Plugins, type PluginsOptions} from '../extensions/plugins/plugins.ts';
import type {SessionOptions} from './options.ts';
import {type Brings, describeBrings, listBrings, listKnownMarketplaces} from './plugins.ts';
import {loadTrustedSettings} from './trust.ts';

const FORMS =
  'list, install NAME[@MARKETPLACE], enable NAME, disable NAME, update [NAME], remove NAME, marketplace add PATH|GIT-URL, marketplace list, marketplace update [NAME], marketplace remove NAME';

/** @throws UsageError for bad usage, and where a yes is needed and no person can be asked */
export async function pluginCommandLine(
  options: SessionOptions,
  {verb, words, json, sure}: SubcommandArguments,
  say: (line: string) => void,
): Promise<CommandLineOutcome> {
  const {settings, trustWarnings} = await loadTrustedSettings(options, realpathSync(options.cwd));
  for (const line of trustWarnings) say(`mini-cc: ${line}`);
  const confirm: PluginsOptions['confirm'] = async (question, detail) => {
    say(detail);
    return sure || askInTerminal(`${question} [y/N] `);
  };
  const plugins = openPlugins(options, settings, confirm);
  if (json && verb === 'list') return printJson(plugins.list().map(toListed));
  if (json && verb === 'marketplace' && words[0] === 'list') return printJson(plugins.listMarketplaces());
  return printText(await runPluginWords(plugins, [verb, ...words]));
}

export function openPlugins(
  {home, cwd}: Pick<SessionOptions, 'home' | 'cwd'>,
  settings: Settings,
  confirm: PluginsOptions['confirm'],
): Plugins {
  return new Plugins({home, cwd, known: listKnownMarketplaces(settings), describe: describeBrings, confirm});
}

/** @returns a text for the user @throws UsageError for bad usage */
export async function runPluginWords(plugins: Plugins, [verb = '', ...words]: readonly string[]): Promise<string> {
  const [name, ...more] = words;
  if (verb !== 'marketplace' && more.length > 0) throw new UsageError(`plugin ${verb}: ${more[0]} is too much`);
  const named = () => {
    if (name === undefined) throw new UsageError(`plugin ${verb}: say which one`);
    return name;
  };
  switch (verb) {
    case 'list':
      if (name !== undefined) throw new UsageError('plugin list takes no name');
      return formatPlugins(plugins);
    case 'install':
      return plugins.install(named());
    case 'enable':
    case 'disable':
      return plugins.setEnabled(named(), verb === 'enable');
    case 'update':
      return plugins.update(name);
    case 'remove':
    case 'uninstall':
      return plugins.remove(named());
    case 'marketplace':
      return runMarketplaceWords(plugins, words);
    case '':
      throw new UsageError(`plugin: say what to do: ${FORMS}`);
    default:
      throw createUnknownVerb('mini-cc plugin', verb, FORMS);
  }
}

async function runMarketplaceWords(plugins: Plugins, [verb = '', name, ...more]: readonly string[]): Promise<string> {
  if (more.length > 0) throw new UsageError(`plugin marketplace ${verb}: ${more[0]} is too much`);
  const named = () => {
    if (name === undefined) throw new UsageError(`plugin marketplace ${verb}: say which one`);
    return name;
  };
  switch (verb) {
    case 'add': {
      const {name: its, plugins: offered, problems} = await plugins.addMarketplace(named());
      return [`Added the marketplace ${its}, with ${formatCount(offered.length, 'plugin')}.`, ...problems].join('\n');
    }
    case 'list':
      return formatMarketplaces(plugins);
    case 'update': {
      const names = name === undefined ? plugins.listMarketplaces().map((each) => each.name) : [name];
      for (const each of names) await plugins.updateMarketplace(each);
      return names.length === 0 ? NO_MARKETPLACES : `Updated ${names.join(', ')}.`;
    }
    case 'remove':
      await plugins.removeMarketplace(named());
      return `Removed the marketplace ${name}. Its plugins stay installed.`;
    default:
      throw createUnknownVerb('mini-cc plugin marketplace', verb, 'add PATH|GIT-URL, list, update [NAME], remove NAME');
  }
}

const NO_MARKETPLACES = 'No marketplaces. mini-cc plugin marketplace add PATH|GIT-URL adds one.';

function formatMarketplaces(plugins: Plugins): string {
  const lines = plugins.listMarketplaces().map(({name, source, problem, plugins: offered}) => {
    return `${name} (${source}): ${problem ?? offered.join(', ')}`;
  });
  return lines.length === 0 ? NO_MARKETPLACES : lines.join('\n');
}

function formatPlugins(plugins: Plugins): string {
  const lines = plugins.list().map(({id, record, plugin, problem}) => {
    const brings = plugin ? formatBrings(listBrings(plugin)) : problem;
    return `${id}${record.version === '' ? '' : ` ${record.version}`}, ${record.enabled ? 'on' : 'off'}: ${brings}`;
  });
  return lines.length === 0 ? 'No plugins. mini-cc plugin install NAME@MARKETPLACE installs one.' : lines.join('\n');
}

function formatBrings({agents, commands, skills, hooks, mcpServers}: Brings): string {
  const counts = [
    [agents, 'agent'],
    [commands, 'command'],
    [skills, 'skill'],
    [hooks, 'hook'],
    [mcpServers, 'MCP server'],
  ] as const;
  return (
    counts.flatMap(([list, what]) => (list.length === 0 ? [] : [formatCount(list.length, what)])).join(', ') ||
    'nothing'
  );
}

const NOTHING: Brings = {agents: [], commands: [], skills: [], hooks: [], mcpServers: []};

function toListed({record, plugin, problem}: ReturnType<Plugins['list']>[number]) {
  const {name, marketplace, version, enabled, hash} = record;
  return {
    name,
    ...(marketplace !== undefined && {marketplace}),
    version,
    enabled,
    hash,
    brings: plugin ? listBrings(plugin) : NOTHING,
    ...(problem !== undefined && {problem}),
  };
}
