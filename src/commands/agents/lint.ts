import {type AgentLint, lintAgents} from '../../agents/lint.ts';
import {formatProblem, hasError, type Problem} from '../../core/util/problem.ts';
import type {AgentsDesk, DeskResult} from './deps.ts';

export interface LintReport extends DeskResult {
  readonly agents: readonly AgentLint[];
}

/** Each agent with the tools that it will really have, why each other one is missing, and what is wrong. */
export function lint(name: string, desk: AgentsDesk): LintReport {
  const result = lintAgents(desk.snapshot(), desk.toolNames);
  const agents = name === '' ? result.agents : result.agents.filter((agent) => agent.name === name);
  const others = name === '' ? result.others : [];
  if (name !== '' && agents.length === 0) return {ok: false, text: `No agent ${name}`, agents: []};
  const findings = [...agents.flatMap((agent) => agent.findings), ...others];
  const lines = agents.flatMap((agent) => [...agentLines(agent, desk), '']);
  for (const problem of others) lines.push(line(problem, desk));
  const errors = findings.filter(({severity}) => severity === 'error').length;
  const warnings = findings.length - errors;
  lines.push(
    `${agents.length} agent${agents.length === 1 ? '' : 's'}, ${errors} error${errors === 1 ? '' : 's'}, ${warnings} warning${warnings === 1 ? '' : 's'}`,
  );
  return {ok: !hasError(findings), text: lines.join('\n'), agents};
}

function agentLines({name, usable, tools, missing, readOnly, findings}: AgentLint, desk: AgentsDesk): string[] {
  const head = usable ? `${name}${readOnly ? ' (read-only)' : ''}: ${tools.join(', ')}` : `${name}: not in use`;
  const without = missing.filter((tool) => tool.listed).map((tool) => `  without ${tool.name}: ${tool.reason}`);
  return [head, ...without, ...findings.map((problem) => `  ${line(problem, desk)}`)];
}

function line(problem: Problem, desk: AgentsDesk): string {
  return `${problem.severity} ${formatProblem({...problem, file: desk.shownPath(problem.file)})}`;
}
