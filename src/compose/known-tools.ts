/** What is known of the tools that models may be offered. Tools of MCP servers are known by how their names begin. */
import type {ListableTools} from '../agents/known-tools.ts';
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import {ANSWER_TOOL} from '../core/turn/structured-answer.ts';
import {TOOL_SEARCH} from '../extensions/mcp/toolset.ts';
import {SKILL} from '../extensions/prompts/skill-tool.ts';
import {TOOLS} from '../tools/index.ts';

/** Those that agents and `--tools` may list. */
export const AGENT_TOOLS: readonly ToolFacts[] = [...TOOLS, SKILL];

/** Those that agents of a session may list. @param baseTools the ones that it has */
export function getListable(baseTools: readonly ToolFacts[]): ListableTools {
  const has = (name: string) => baseTools.some((tool) => tool.name === name);
  const names = AGENT_TOOLS.filter(({name, dispatches}) => dispatches || has(name)).map(({name}) => name);
  return {known: AGENT_TOOLS, names};
}

/** With those that a session adds by itself. */
export const ALL_TOOLS: readonly ToolFacts[] = [...AGENT_TOOLS, TOOL_SEARCH, {name: ANSWER_TOOL}];
