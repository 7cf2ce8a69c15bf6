/**
 * Creates the facts of a session for front ends that do not change with its conversation, and its warnings at the
 * start.
 */

import type {AgentCatalog} from '../core/agent-types.ts';
import type {ForeignWord, SessionInfo} from '../core/contract/events.ts';
import type {Command} from '../core/contract/session-requests.ts';
import type {FanOuts} from '../core/fan-out/fan-outs.ts';
import {describeConversation} from '../core/session/conversation-requests.ts';
import type {SessionMcp, SessionParts} from '../core/session/parts.ts';
import {listTools} from '../core/turn/prepared-call.ts';
import {findLocalServers} from '../models/local-servers.ts';
import {describeBrokenAgents, listForeignAgentWords} from './agents.ts';
import {isSlashCommand} from './commands.ts';
import {ALL_TOOLS} from './known-tools.ts';
import {describeOffline, isOfflineByDefault} from './options.ts';
import type {ComposedParts} from './runs.ts';

interface InfoParts extends Pick<SessionInfo, 'skills' | 'plugins'> {
  readonly root: string;
  readonly run: SessionParts['run'];
  readonly commands: readonly Command[];
  readonly agents: AgentCatalog;
  readonly mcp: SessionMcp;
  readonly warnings: readonly string[];
  readonly foreignWords: readonly ForeignWord[];
}

/** The lists are read at each use, because agents may be written and MCP servers started while the session lasts. */
export function createSessionInfo({root, run, commands, agents, mcp, ...fixed}: InfoParts): SessionParts['info'] {
  return {
    cwd: root,
    get tools() {
      return listTools(run).map(({name}) => name);
    },
    toolFacts: ALL_TOOLS,
    get agents() {
      return agents.list().map((agent) => agent.name);
    },
    get commands() {
      return [...commands.filter(isSlashCommand), ...mcp.commands()].map(({run: _, ...shown}) => shown);
    },
    ...fixed,
  };
}

/** Names the skills and plugins of a session. */
export function listExtensions({project, tools}: ComposedParts): Pick<SessionInfo, 'skills' | 'plugins'> {
  const skills = tools.found.prompts.filter(({kind}) => kind === 'skill').map(({name}) => name);
  const plugins = project.loaded.plugins.map(({name, root}) => ({name, path: root}));
  return {...(skills.length > 0 && {skills}), ...(plugins.length > 0 && {plugins})};
}

/** Lists what the command line, its settings and the driver named and mini-cc lacks. */
export function listForeignWords({project: {options, loaded}, tools, agents}: ComposedParts): readonly ForeignWord[] {
  return [
    ...(options.foreignWords ?? []),
    ...loaded.foreignWords,
    ...tools.foreignWords,
    ...listForeignAgentWords(agents.catalog),
  ];
}

/** Returns the messages to the user at the start of a session, one line each. */
export async function listWarnings(parts: ComposedParts, fanOuts: FanOuts): Promise<readonly string[]> {
  const {project, records, tools, agents, models, permissions, changes} = parts;
  const {options, loaded, settings, redactor} = project;
  const servers = isOfflineByDefault(options, settings) ? await findLocalServers() : [];
  return redactor.values([
    ...loaded.warnings,
    ...[...(options.foreignWords ?? []), ...tools.foreignWords].map(({text}) => text),
    ...tools.warnings,
    ...models.warnings,
    ...agents.warnings,
    ...permissions.hooks.warnings,
    ...describeBrokenAgents(agents.catalog),
    ...records.firstConversation.warnings,
    ...describeConversation(models.state.conversation, {changes: changes.changes, fanOuts}),
    ...(models.state.model.offline && !options.offline ? describeOffline(servers) : []),
  ]);
}
