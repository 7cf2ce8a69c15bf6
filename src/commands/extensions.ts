/** Implements `/mcp`, which shows the session's MCP servers and restarts them, and `/hooks`, which lists the hooks. */

import type {HookListing} from '../core/contract/hook.ts';
import type {McpServerState} from '../core/contract/mcp.ts';
import type {Command} from '../core/contract/session-requests.ts';
import {UsageError} from '../core/util/errors.ts';
import {formatCount, showControls, toShortLine} from '../core/util/text.ts';
import type {SlashCommands} from './shared/command-deps.ts';

const USAGE = '/mcp [NAME | reconnect | enable | disable | login | logout NAME]';
const MAX_CHARS = 90;

const mcpCommand: Command = {
  name: 'mcp',
  description: 'MCP servers: state, tools, /mcp reconnect NAME',
  argumentHint: '[NAME | reconnect | enable | disable | login | logout NAME]',
  async run({args, request, say, signal}) {
    const [verb = '', server = '', ...more] = args.split(/\s+/).filter((word) => word !== '');
    const servers = request({type: 'mcp_servers'});
    if (verb === '') return {ok: true, text: formatServers(servers)};
    if (!['reconnect', 'enable', 'disable', 'login', 'logout'].includes(verb)) {
      const found = servers.find(({name}) => name === args);
      if (!found) throw new UsageError(`there is no MCP server ${JSON.stringify(args)}. ${USAGE}`);
      return {ok: true, text: formatServer(found)};
    }
    if (server === '' || more.length > 0) throw new UsageError(`say which server: ${USAGE}`);
    if (verb === 'reconnect') {
      say(`Starting the MCP server ${server} …`);
      return {ok: true, text: formatServer(await request({type: 'reconnect_mcp_server', server}))};
    }
    if (verb === 'login') {
      return {ok: true, text: formatServer(await request({type: 'log_in_mcp_server', server, signal}))};
    }
    if (verb === 'logout')
      return {ok: true, text: formatLogout(server, await request({type: 'log_out_mcp_server', server}))};
    const state = await request({type: 'enable_mcp_server', server, enabled: verb === 'enable'});
    return {ok: true, text: formatServer(state)};
  },
};

export function formatLogout(server: string, wasKnown: boolean): string {
  return wasKnown ? `Logged out of ${server}: its tokens are erased here.` : `There was no login to ${server}.`;
}

const NONE =
  'No MCP servers. mini-cc mcp add NAME -- COMMAND adds one; .mcp.json of the project and "mcpServers" of settings name them too.';

export function formatServers(servers: readonly McpServerState[]): string {
  if (servers.length === 0) return NONE;
  return [
    'MCP servers:',
    ...servers.flatMap((server) => [formatLine(server), ...formatWarnings(server)].map((line) => `  ${line}`)),
  ].join('\n');
}

export function formatServer(server: McpServerState): string {
  const {from, version, target, tools, prompts} = server;
  const lines = [
    formatLine(server),
    ...formatWarnings(server),
    `  ${server.transport}: ${showControls(target)}`,
    `  from ${from}`,
    ...(version === undefined ? [] : [`  server ${version}`]),
    ...tools.map(({name, description}) => `  ${toShortLine(`${name}: ${description}`, MAX_CHARS)}`),
    ...prompts.map((name) => `  /${name}`),
  ];
  return lines.join('\n');
}

const STATUS: Readonly<Record<McpServerState['status'], string>> = {
  pending: 'not started: it starts at its first need',
  connected: 'connected',
  failed: 'failed',
  'needs-auth': 'wants a login',
  disabled: 'off',
  'not-approved': 'not approved',
};

function formatLine({name, status, problem, tools}: McpServerState): string {
  const count = status === 'connected' ? `, ${formatCount(tools.length, 'tool')}` : '';
  return `${name}: ${STATUS[status]}${count}${problem === undefined ? '' : `: ${problem}`}`;
}

function formatWarnings({warnings = []}: McpServerState): string[] {
  return warnings.map((warning) => `  warning: ${warning}`);
}

const hooksCommand: Command = {
  name: 'hooks',
  description: 'what runs at which event, and where it comes from',
  run: ({request}) => ({ok: true, text: format(request({type: 'hooks'}))}),
};

function format(hooks: readonly HookListing[]): string {
  if (hooks.length === 0) return 'No hooks. Settings name them under "hooks", as in Claude Code.';
  const lines = hooks.map(({event, matcher, command, from}) => {
    const what = matcher === '' || matcher === '*' ? event : `${event} (${matcher})`;
    return `  ${what}: ${command.split('\n')[0]}  [${from}]`;
  });
  return ['Hooks:', ...lines].join('\n');
}

export const slashCommands: SlashCommands = () => [hooksCommand, mcpCommand];
