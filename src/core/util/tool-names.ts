/**
 * Finds the tool that a name means, and formats names of tools for people. Translates names and inputs of tools to those
 * of Claude Code and back, for programs that drive mini-cc and for hooks that people wrote for Claude Code. Each tool
 * lists its differences; all else is the same on both sides.
 */
import type {ClaudeInput, ToolFacts} from '../contract/tool-facts.ts';
import {isObject} from './objects.ts';
import {listWords} from './text.ts';

/**
 * Tools that Claude Code has or had. Rules, definitions and settings of its users name them, so each of these names is
 * known here, whether mini-cc has such a tool or not.
 */
const CLAUDE_CODE_TOOLS: readonly string[] = listWords(`
  Agent AskUserQuestion Bash BashOutput CronCreate CronDelete CronList Edit EnterPlanMode EnterWorktree ExitPlanMode
  ExitWorktree Glob Grep KillBash KillShell LS LSP ListMcpResourcesTool MultiEdit NotebookEdit NotebookRead PowerShell Read
  ReadMcpResourceTool SendMessage Skill SlashCommand StructuredOutput Task TaskCreate TaskGet TaskList TaskOutput TaskStop
  TaskUpdate TeamCreate TeamDelete TodoRead TodoWrite ToolSearch WebFetch WebSearch Write
`);

/** Finds a tool by its name in mini-cc or elsewhere. @param tools all known tools */
export function findTool<T extends ToolFacts>(name: string, tools: readonly T[]): T | undefined {
  return (
    tools.find((tool) => tool.name === name) ??
    tools.find(({claude, aliases = []}) => claude?.name === name || aliases.includes(name))
  );
}

/** Finds a tool by any of its names, in any case, or by the name of a tool that it replaces. */
export function findToolInAnyCase<T extends ToolFacts>(written: string, tools: readonly T[]): T | undefined {
  const isSame = (name: string | undefined) => name?.toLowerCase() === written.toLowerCase();
  return (
    findTool(written, tools) ??
    tools.find(({name, claude, aliases = [], replaces = []}) =>
      [name, claude?.name, ...aliases, ...replaces].some(isSame),
    )
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

/** Returns Claude Code's name of a tool, such as `Bash` for `bash`. A tool that lists no other name keeps its own. */
export function toClaudeToolName(name: string, tools: readonly ToolFacts[]): string {
  return findTool(name, tools)?.claude?.name ?? name;
}

/** Returns the input of a call in the form of Claude Code's tool. A value that is no object is returned unchanged. */
export function toClaudeInput(name: string, input: unknown, tools: readonly ToolFacts[]): unknown {
  const inputs = findTool(name, tools)?.claude?.inputs ?? {};
  return mapEntries(input, (key, value) => {
    if (!Object.hasOwn(inputs, key)) return [key, value];
    const {as, factor, values = {}} = toClaudeInputFacts(inputs[key]!);
    if (factor !== undefined) return typeof value === 'number' ? [as, value * factor] : [key, value];
    return [as, Object.hasOwn(values, String(value)) ? values[String(value)] : value];
  });
}

/**
 * Reverses `toClaudeInput`. Inputs that already have mini-cc's names stay as they are. @param name in either spelling
 */
export function fromClaudeInput(name: string, input: unknown, tools: readonly ToolFacts[]): unknown {
  const inputs = Object.entries(findTool(name, tools)?.claude?.inputs ?? {});
  return mapEntries(input, (key, value) => {
    const [mine, claude] = inputs.find(([, each]) => toClaudeInputFacts(each).as === key) ?? [];
    if (mine === undefined || claude === undefined) return [key, value];
    const {factor, values = {}} = toClaudeInputFacts(claude);
    if (factor !== undefined) return typeof value === 'number' ? [mine, value / factor] : [key, value];
    return [mine, Object.entries(values).find(([, theirs]) => theirs === value)?.[0] ?? value];
  });
}

/** Returns a rule in the form of Claude Code: `bash(npm test)` is the tool `Bash` with the content `npm test`. */
export function toClaudeRule(
  rule: string,
  tools: readonly ToolFacts[],
): {readonly toolName: string; readonly ruleContent?: string} {
  const [, name = rule, content] = /^([^(]+)\((.*)\)$/s.exec(rule) ?? [];
  return {toolName: toClaudeToolName(name, tools), ...(content !== undefined && {ruleContent: content})};
}

/** Reverses `toClaudeRule`. */
export function fromClaudeRule(
  {toolName, ruleContent}: {toolName: string; ruleContent?: string | undefined},
  tools: readonly ToolFacts[],
): string {
  const name = toToolName(toolName, tools);
  return ruleContent === undefined || ruleContent === '' ? name : `${name}(${ruleContent})`;
}

function toClaudeInputFacts(input: string | ClaudeInput): ClaudeInput {
  return typeof input === 'string' ? {as: input} : input;
}

function mapEntries(input: unknown, map: (key: string, value: unknown) => [string, unknown]): unknown {
  if (!isObject(input)) return input;
  return Object.fromEntries(Object.entries(input).map(([key, value]) => map(key, value)));
}
