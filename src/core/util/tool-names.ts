/** Finds the tool that a name means, and formats names of tools for people. */
import type {ToolFacts} from '../contract/tool-facts.ts';

/**
 * Tools that Claude Code has or had. Rules, definitions and settings of its users name them, so each of these names is
 * known here, whether mini-cc has such a tool or not.
 */
const CLAUDE_CODE_TOOLS: readonly string[] = `
  Agent AskUserQuestion Bash BashOutput CronCreate CronDelete CronList Edit EnterPlanMode EnterWorktree ExitPlanMode
  ExitWorktree Glob Grep KillBash KillShell LS LSP ListMcpResourcesTool MultiEdit NotebookEdit NotebookRead PowerShell Read
  ReadMcpResourceTool SendMessage Skill SlashCommand StructuredOutput Task TaskCreate TaskGet TaskList TaskOutput TaskStop
  TaskUpdate TeamCreate TeamDelete TodoRead TodoWrite ToolSearch WebFetch WebSearch Write`
  .trim()
  .split(/\s+/);

/** Finds a tool by its name in mini-cc or elsewhere. @param tools all known tools */
export function findTool<T extends ToolFacts>(name: string, tools: readonly T[]): T | undefined {
  return (
    tools.find((tool) => tool.name === name) ??
    tools.find(({claude, aliases = []}) => claude?.name === name || aliases.includes(name))
  );
}

/** Returns mini-cc's name of a tool for a name from elsewhere. Unknown names are returned unchanged. */
export function toToolName(name: string, tools: readonly ToolFacts[]): string {
  return findTool(name, tools)?.name ?? name;
}

/** Lists the tools of Claude Code for which there is none among `tools`. */
export function listMissingTools(tools: readonly ToolFacts[]): readonly string[] {
  return CLAUDE_CODE_TOOLS.filter((name) => findTool(name, tools) === undefined);
}

/**
 * Formats `read_file` as `Read` and `mcp__github__create_issue` as `github: create_issue`. Other names stay as they
 * are.
 */
export function formatToolName(name: string, tools: readonly ToolFacts[]): string {
  const tool = findTool(name, tools);
  if (tool) return tool.label ?? tool.name;
  const [, server, rest] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? [];
  return server === undefined ? name : `${server}: ${rest}`;
}

/** Formats a call for people: `Read src/a.ts`, `Bash(npm test)`. @param title what the tool says about the call */
export function formatCall(tool: string, title: string, tools: readonly ToolFacts[]): string {
  const name = formatToolName(tool, tools);
  if (title === '') return name;
  return isCommand(tool, tools) ? `${name}(${title})` : `${name} ${title}`;
}

/** Whether the title of the tool's calls is a command. */
export function isCommand(tool: string, tools: readonly ToolFacts[]): boolean {
  return findTool(tool, tools)?.kind === 'execute';
}
