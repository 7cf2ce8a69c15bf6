/** Names of tools in definitions: those of mini-cc, those of other programs, and why some of them give no tool. */
import {findMeant, findTypo, toToolName} from '../core/util/names.ts';

/** All base tools: editors complete their names, and a tool that this release lacks is named as such. */
export const STANDARD_TOOLS: readonly string[] = [
  'bash',
  'read_file',
  'write_file',
  'edit_file',
  'grep',
  'glob',
  'symbols',
  'todo_write',
  'web_fetch',
  'web_search',
];

/** Tools that change files. bash is not among them: the sandbox confines the bash of a read-only agent. */
export const WRITING_TOOLS: ReadonlySet<string> = new Set(['write_file', 'edit_file']);

/** Tools that use the network. No read-only agent has them. */
export const NETWORK_TOOLS: ReadonlySet<string> = new Set(['web_fetch', 'web_search']);

/** Only the main agent may dispatch. */
const DISPATCHING = new Set(['Task', 'TaskList', 'TaskOutput', 'TaskSend', 'TaskStop', 'FanOut']);

/** Tools of Claude Code that one of ours replaces, beside the aliases that are valid everywhere. */
const COUNTERPARTS: Readonly<Record<string, string>> = {
  MultiEdit: 'edit_file',
  LS: 'glob',
  LSP: 'symbols',
  TodoRead: 'todo_write',
  BashOutput: 'bash',
  KillBash: 'bash',
  KillShell: 'bash',
};

/** Tools of Claude Code that have no counterpart here. */
const WITHOUT_COUNTERPART: readonly string[] =
  `NotebookEdit NotebookRead ExitPlanMode EnterPlanMode AskUserQuestion SlashCommand Skill
  ListMcpResourcesTool ReadMcpResourceTool ToolSearch`.split(/\s+/);

/** Known names: a definition may write them in other capital or small letters. */
const SPELLINGS: readonly string[] = [
  ...STANDARD_TOOLS,
  ...Object.keys(COUNTERPARTS),
  ...WITHOUT_COUNTERPART,
  'Read',
  'Write',
  'Edit',
  'Bash',
  'Grep',
  'Glob',
  'TodoWrite',
  'WebFetch',
  'Agent',
  'Task',
];

/** The tool that one entry of a tool list names, or why it names none. */
export type ResolvedToolName =
  | {readonly kind: 'known'; readonly written: string; readonly name: string; readonly pattern?: string}
  /** A tool of an MCP server, or all of them: `mcp__x__y`, `mcp__x`, `mcp__x__*`. */
  | {readonly kind: 'mcp'; readonly written: string; readonly name: string}
  | {readonly kind: 'dispatching' | 'unavailable'; readonly written: string; readonly reason: string}
  | {
      readonly kind: 'unknown';
      readonly written: string;
      readonly reason: string;
      /** The nearest tool, also when it is far. */
      readonly meant?: string;
      /** The nearest tool is so near that the entry must be a misspelling. */
      readonly slip: boolean;
    };

/** The tools that a subagent can have. */
export function withoutDispatchTools(toolNames: readonly string[]): readonly string[] {
  return toolNames.filter((name) => !DISPATCHING.has(name));
}

/**
 * @param written as a tool list has it: `read_file`, `Read`, `Bash(git log:*)`, `mcp__x__y`
 * @param toolNames all tools
 */
export function resolveToolName(written: string, toolNames: readonly string[]): ResolvedToolName {
  const available = withoutDispatchTools(toolNames);
  const [, bare = written, pattern] =
    /^([^()]*)(?:\((.*)\))?$/s.exec(written.trim())?.map((part) => part?.trim()) ?? [];
  const name = ourName(bare, available);
  if (available.includes(name)) return {kind: 'known', written, name, ...(pattern === undefined ? {} : {pattern})};
  if (DISPATCHING.has(name)) {
    return {kind: 'dispatching', written, reason: `subagents never have ${name}, only the main agent dispatches`};
  }
  // Which tools a server has is known once it runs.
  if (/^mcp__\w/.test(name)) return {kind: 'mcp', written, name};
  if (name === 'web_search') {
    return {
      kind: 'unavailable',
      written,
      reason: 'it needs a model server that searches the web (providers.NAME.webSearch)',
    };
  }
  if (STANDARD_TOOLS.includes(name)) return {kind: 'unavailable', written, reason: 'this session does not have it'};
  if (WITHOUT_COUNTERPART.includes(name)) {
    return {kind: 'unavailable', written, reason: 'it has no counterpart in mini-cc'};
  }
  const meant = findMeant(bare, available);
  return {
    kind: 'unknown',
    written,
    reason: 'there is no such tool',
    slip: findTypo(bare, available) !== undefined,
    ...(meant === undefined ? {} : {meant}),
  };
}

function ourName(bare: string, available: readonly string[]): string {
  if (available.includes(bare)) return bare;
  const same = [...available, ...SPELLINGS].find((name) => name.toLowerCase() === bare.toLowerCase()) ?? bare;
  return Object.hasOwn(COUNTERPARTS, same) ? COUNTERPARTS[same]! : toToolName(same);
}
