/** A program's request as the manager's, and the manager's result as the program's. */
import {type AgentCatalog, type AgentDefinition, unknownAgentWords, withOnly} from '../core/agent-types.ts';
import type {SubagentResult} from '../core/subagent.ts';
import {reasonOf} from '../core/turn/run-ending.ts';
import {tokensOf} from '../core/turn/token-budget.ts';
import {UsageError} from '../core/util/errors.ts';
import {toolName} from '../core/util/tool-names.ts';
import type {SubtaskRequest, SubtaskResult} from './public.d.ts';

const WRITING_TOOLS = ['write_file', 'edit_file', 'bash'];

/** The prompt with the files below it. @throws UsageError when there is nothing to do. */
export function getPrompt({prompt, instruction, files = []}: SubtaskRequest): string {
  const text = prompt ?? instruction ?? '';
  if (text.trim() === '') throw new UsageError('A subtask needs a prompt or an instruction');
  return files.length === 0 ? text : `${text}\n\nFiles:\n${files.map((file) => `- ${file}`).join('\n')}`;
}

/** The agent that is asked for, else the built-in one that fits the tools. */
export function getAgentName({agent_type, tools}: SubtaskRequest): string {
  const writes = tools === undefined || tools.some((tool) => WRITING_TOOLS.includes(toolName(tool)));
  return agent_type ?? (writes ? 'code' : 'explore');
}

/**
 * The agent with the tools that it may use.
 * @param offered tools that an agent with `*` has.
 * @throws UsageError for an unknown agent, with the message of the Task tool, and for tools that the agent does not have.
 */
export function getAgent(request: SubtaskRequest, agents: AgentCatalog, offered: readonly string[]): AgentDefinition {
  const sent = getAgentName(request);
  // As the Task tool reads it: white space and case do not matter.
  const name = sent.trim();
  const agent = agents.get(name) ?? agents.get(name.toLowerCase());
  if (!agent) {
    const names = agents.list().map((each) => each.name);
    throw new UsageError(unknownAgentWords(sent, name, names));
  }
  if (!request.tools) return agent;
  checkTools(agent.name, request.tools, agent.tools === '*' ? offered : agent.tools);
  return withOnly(agent, request.tools.map(toolName), offered);
}

/** @throws UsageError when none is asked for, or one that the agent does not have. */
export function checkTools(agent: string, asked: readonly string[], has: readonly string[]): void {
  const missing = asked.filter((tool) => !has.includes(toolName(tool)));
  if (asked.length > 0 && missing.length === 0) return;
  const problem = asked.length === 0 ? 'tools is empty' : `${agent} has none of these tools: ${missing.join(', ')}`;
  throw new UsageError(`${problem}. It has: ${has.join(', ')}`);
}

/** The result of a run that has ended. */
export function toSubtaskResult({runId, result, receipt}: SubagentResult): SubtaskResult {
  const reason = reasonOf(result);
  const error = result.outcome === 'timeout' ? `EXECUTION_TIMEOUT: ${reason}` : reason;
  return {
    runId,
    success: result.outcome === 'success',
    summary: result.text,
    changes: receipt.filesChanged,
    duration: Math.round(result.durationMs),
    ...(error === '' ? {} : {error}),
    metadata: {
      toolsUsed: [...new Set(result.tools.map(({tool}) => tool))],
      tokensUsed: tokensOf(result.usage),
      filesRead: receipt.filesRead,
      filesModified: receipt.filesChanged,
    },
  };
}

/** The result of a request that was wrong: no run began. */
export function toRefusal(error: string): SubtaskResult {
  const metadata = {toolsUsed: [], tokensUsed: 0, filesRead: [], filesModified: []};
  return {success: false, summary: '', changes: [], duration: 0, error, metadata};
}
