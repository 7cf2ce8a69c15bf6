/**
 * Lists the facts of all tools that models may be offered, except those of MCP servers, which are known by their
 * prefix.
 */
import type {ListableTools} from '../agents/tool-list.ts';
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import {ANSWER_TOOL} from '../core/turn/structured-answer.ts';
import {TOOL_SEARCH} from '../extensions/mcp/toolset.ts';
import {SKILL} from '../extensions/prompts/skill-tool.ts';
import {TOOLS} from '../tools/index.ts';

/** Tools that agents and `--tools` may list. */
export const AGENT_TOOLS: readonly ToolFacts[] = [...TOOLS, SKILL];

/** Returns the tools that agents of a session may list. @param baseTools tools of the session */
export function getListable(baseTools: readonly ToolFacts[]): ListableTools {
  const has = (name: string) => baseTools.some((tool) => tool.name === name);
  const names = AGENT_TOOLS.filter(({name, dispatches}) => dispatches || has(name)).map(({name}) => name);
  return {known: AGENT_TOOLS, names};
}

/** All tools, including those that a session adds by itself. */
export const ALL_TOOLS: readonly ToolFacts[] = [...AGENT_TOOLS, TOOL_SEARCH, {name: ANSWER_TOOL}];
