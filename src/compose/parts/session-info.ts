/** What front ends see of a session that does not change with its conversation. */
import {isSlashCommand} from '../../commands/table.ts';
import type {AgentCatalog} from '../../core/agent-types.ts';
import type {Command} from '../../core/contract/session.ts';
import type {SessionMcp, SessionParts} from '../../core/session/parts.ts';
import {listTools} from '../../core/tool-calls.ts';

interface InfoParts {
  readonly root: string;
  readonly run: SessionParts['run'];
  readonly commands: readonly Command[];
  readonly agents: AgentCatalog;
  readonly mcp: SessionMcp;
  readonly warnings: readonly string[];
}

/** Read at each use: agents may be written, and MCP servers started, while the session lasts. */
export function createSessionInfo({root, run, commands, agents, mcp, warnings}: InfoParts): SessionParts['info'] {
  return {
    cwd: root,
    get tools() {
      return listTools(run).map(({name}) => name);
    },
    get agents() {
      return agents.list().map((agent) => agent.name);
    },
    get commands() {
      return [...commands.filter(isSlashCommand), ...mcp.commands()].map(({run: _, ...shown}) => shown);
    },
    warnings,
  };
}
