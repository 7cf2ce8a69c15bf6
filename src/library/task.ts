/** What a program asks of the library, checked before anything runs, and worded for people. */
import {type AgentCatalog, type AgentDefinition, unknownAgentWords, withOnly} from '../core/agent-types.ts';
import {UsageError} from '../core/util/errors.ts';
import {toolName} from '../core/util/tool-names.ts';

export interface SubtaskRequest {
  /** Built in or of the project's own. Default: `code` where it may write, that is without `tools` or with one that writes; else `explore`. */
  readonly agent_type?: string;
  /** What to do; one of the two. */
  readonly prompt?: string;
  readonly instruction?: string;
  /** The files that it is about. */
  readonly files?: readonly string[];
  /** Only these of the agent's tools. */
  readonly tools?: readonly string[];
}

const WRITING_TOOLS = ['write_file', 'edit_file', 'bash'];

/** @throws UsageError that says what is allowed: the pool and the timers would word it in terms of their own. */
export function checkNumbers({maxConcurrent, timeout}: {readonly maxConcurrent?: number; readonly timeout?: number}) {
  if (maxConcurrent !== undefined && !(Number.isSafeInteger(maxConcurrent) && maxConcurrent >= 1)) {
    throw new UsageError(`maxConcurrent must be a whole number from 1 on, not ${String(maxConcurrent)}`);
  }
  if (timeout !== undefined && !(Number.isFinite(timeout) && timeout >= 0)) {
    throw new UsageError(`timeout must be a number of milliseconds, or 0 for none, not ${String(timeout)}`);
  }
}

/** The prompt with the files below it. @throws UsageError when there is nothing to do. */
export function promptOf({prompt, instruction, files = []}: SubtaskRequest): string {
  const words = prompt ?? instruction ?? '';
  if (words.trim() === '') throw new UsageError('A subtask needs a prompt or an instruction');
  return files.length === 0 ? words : `${words}\n\nFiles:\n${files.map((file) => `- ${file}`).join('\n')}`;
}

/** The agent that is asked for, or the one that its tools call for. Known before the project's own agents are. */
export function agentNameOf({agent_type, tools}: SubtaskRequest): string {
  const writes = tools === undefined || tools.some((tool) => WRITING_TOOLS.includes(toolName(tool)));
  return agent_type ?? (writes ? 'code' : 'explore');
}

/**
 * The agent with the tools that it may use.
 * @param offered tools that an agent with `*` has.
 * @throws UsageError for an unknown agent, in the words of the Task tool, and for tools of which it has none.
 */
export function agentFor(request: SubtaskRequest, agents: AgentCatalog, offered: readonly string[]): AgentDefinition {
  const sent = agentNameOf(request);
  // As the Task tool reads it: white space and case are no mistakes.
  const name = sent.trim();
  const agent = agents.get(name) ?? agents.get(name.toLowerCase());
  if (!agent) {
    const names = agents.list().map((each) => each.name);
    throw new UsageError(unknownAgentWords(sent, name, names));
  }
  const {tools: asked} = request;
  if (!asked) return agent;
  const has = agent.tools === '*' ? offered : agent.tools;
  const missing = asked.filter((tool) => !has.includes(toolName(tool)));
  if (asked.length === 0 || missing.length > 0) {
    const words =
      asked.length === 0 ? 'tools is empty' : `${agent.name} has none of these tools: ${missing.join(', ')}`;
    throw new UsageError(`${words}. It has: ${has.join(', ')}`);
  }
  return withOnly(agent, asked.map(toolName), offered);
}
