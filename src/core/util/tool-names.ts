/** The names of tools: which tool a name means, and how people read it. */
import type {ToolFacts} from '../contract/tool-facts.ts';

/**
 * Tools that Claude Code has or had. Rules, definitions and settings of its users name them, so that each is a known name
 * here, whether mini-cc has such a tool or not.
 */
const CLAUDE_CODE_TOOLS: readonly string[] = `
  Agent AskUserQuestion Bash BashOutput CronCreate CronDelete CronList Edit EnterPlanMode EnterWorktree ExitPlanMode
  ExitWorktree Glob Grep KillBash KillShell LS LSP ListMcpResourcesTool MultiEdit NotebookEdit NotebookRead PowerShell Read
  ReadMcpResourceTool SendMessage Skill SlashCommand StructuredOutput Task TaskCreate TaskGet TaskList TaskOutput TaskStop
  TaskUpdate TeamCreate TeamDelete TodoRead TodoWrite ToolSearch WebFetch WebSearch Write`
  .trim()
  .split(/\s+/);

/** The tool that has this name, here or elsewhere. @param tools all that are known */
export function findTool<T extends ToolFacts>(name: string, tools: readonly T[]): T | undefined {
  return (
    tools.find((tool) => tool.name === name) ??
    tools.find(({claude, aliases = []}) => claude?.name === name || aliases.includes(name))
  );
}

/** The name of the tool in mini-cc: names from elsewhere are resolved, unknown names are returned unchanged. */
export function toToolName(name: string, tools: readonly ToolFacts[]): string {
  return findTool(name, tools)?.name ?? name;
}

/** Claude Code's tools that none of these is. */
export function listMissingTools(tools: readonly ToolFacts[]): readonly string[] {
  return CLAUDE_CODE_TOOLS.filter((name) => findTool(name, tools) === undefined);
}

/** `Read` for `read_file`; `github: create_issue` for `mcp__github__create_issue`; other names as they are. */
export function formatToolName(name: string, tools: readonly ToolFacts[]): string {
  const tool = findTool(name, tools);
  if (tool) return tool.label ?? tool.name;
  const [, server, rest] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? [];
  return server === undefined ? name : `${server}: ${rest}`;
}

/** A call as people read it: `Read src/a.ts`, `Bash(npm test)`. @param title what the tool says of the call */
export function formatCall(tool: string, title: string, tools: readonly ToolFacts[]): string {
  const name = formatToolName(tool, tools);
  if (title === '') return name;
  return isCommand(tool, tools) ? `${name}(${title})` : `${name} ${title}`;
}

/** The title of its calls is a command. */
export function isCommand(tool: string, tools: readonly ToolFacts[]): boolean {
  return findTool(tool, tools)?.kind === 'execute';
}
