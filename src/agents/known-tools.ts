/** Names of tools in definitions: ours, those of other programs, and why some give nothing. */

import {nearest, slipOf} from '../core/util/nearest.ts';
import {NOT_YET_AVAILABLE, notYet} from '../core/util/not-yet.ts';
import {toolName} from '../core/util/tool-names.ts';

/** Base tools of the contract, for completion in editors and for names that a release has not yet. */
export const STANDARD_TOOLS: readonly string[] = [
  'bash',
  'read_file',
  'write_file',
  'edit_file',
  'grep',
  'glob',
  'todo_write',
  'web_fetch',
];

/** Change files. bash does not count: in a read-only agent the operating system holds it. */
export const WRITING_TOOLS: ReadonlySet<string> = new Set(['write_file', 'edit_file']);

/** Reach the network, which no read-only agent does. */
export const NETWORK_TOOLS: ReadonlySet<string> = new Set(['web_fetch']);

/** Dispatching is for the main agent alone. */
const DISPATCHING = new Set(['Task', 'TaskList', 'TaskOutput', 'TaskSend', 'TaskStop']);

/** Tools of Claude Code whose work one of ours does, beside the aliases that hold everywhere. */
const COUNTERPARTS: Readonly<Record<string, string>> = {
  MultiEdit: 'edit_file',
  LS: 'glob',
  TodoRead: 'todo_write',
  BashOutput: 'bash',
  KillBash: 'bash',
  KillShell: 'bash',
};

/** Tools of Claude Code that have no counterpart here. */
const WITHOUT_COUNTERPART: readonly string[] = [
  'NotebookEdit',
  'NotebookRead',
  'WebSearch',
  'ExitPlanMode',
  'EnterPlanMode',
  'AskUserQuestion',
  'SlashCommand',
  'Skill',
  'ListMcpResourcesTool',
  'ReadMcpResourceTool',
  'LSP',
  'ToolSearch',
];

/** Names whose spelling in capitals or small letters differs from ours. */
const SPELLINGS: readonly string[] = [
  ...STANDARD_TOOLS,
  ...Object.keys(COUNTERPARTS),
  ...WITHOUT_COUNTERPART,
  ...['Read', 'Write', 'Edit', 'Bash', 'Grep', 'Glob', 'TodoWrite', 'WebFetch', 'Agent', 'Task'],
];

/** What became of one entry of a tool list. */
export type ToolFate =
  | {readonly kind: 'known'; readonly written: string; readonly name: string; readonly pattern?: string}
  | {readonly kind: 'dispatching'; readonly written: string; readonly reason: string}
  | {readonly kind: 'unavailable'; readonly written: string; readonly reason: string}
  | {
      readonly kind: 'unknown';
      readonly written: string;
      readonly reason: string;
      /** The nearest tool, however far. */
      readonly meant?: string;
      /** It is so near that it must be a slip. */
      readonly slip: boolean;
    };

/** Tools that a subagent can have, of those there are. */
export function subagentTools(toolNames: readonly string[]): readonly string[] {
  return toolNames.filter((name) => !DISPATCHING.has(name));
}

/** `written` as someone put it into a list: `read_file`, `Read`, `Bash(git log:*)`, `mcp__x__y`. */
export function fateOf(written: string, toolNames: readonly string[]): ToolFate {
  const available = subagentTools(toolNames);
  const [, bare = written, pattern] =
    /^([^()]*)(?:\((.*)\))?$/s.exec(written.trim())?.map((part) => part?.trim()) ?? [];
  const name = ourName(bare, available);
  if (available.includes(name)) return {kind: 'known', written, name, ...(pattern === undefined ? {} : {pattern})};
  if (DISPATCHING.has(name)) {
    return {kind: 'dispatching', written, reason: 'subagents never have Task, only the main agent dispatches'};
  }
  if (name.startsWith('mcp__')) {
    return {kind: 'unavailable', written, reason: `tools of MCP servers are ${NOT_YET_AVAILABLE}`};
  }
  if (STANDARD_TOOLS.includes(name)) return {kind: 'unavailable', written, reason: notYet('it')};
  if (WITHOUT_COUNTERPART.includes(name)) {
    return {kind: 'unavailable', written, reason: 'it has no counterpart in mini-cc'};
  }
  const meant = nearest(bare, available);
  return {
    kind: 'unknown',
    written,
    reason: 'there is no such tool',
    slip: slipOf(bare, available) !== undefined,
    ...(meant === undefined ? {} : {meant}),
  };
}

function ourName(bare: string, available: readonly string[]): string {
  if (available.includes(bare)) return bare;
  const same = [...available, ...SPELLINGS].find((name) => name.toLowerCase() === bare.toLowerCase()) ?? bare;
  return Object.hasOwn(COUNTERPARTS, same) ? COUNTERPARTS[same]! : toolName(same);
}
