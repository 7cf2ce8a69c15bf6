/** Names of tools in definitions: those of mini-cc, those of other programs, and the reasons why some give no tool. */
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import {findMeant, findTypo} from '../core/util/names.ts';
import {findTool, listMissingTools} from '../core/util/tool-names.ts';

export interface ListableTools {
  /** All known tools. Editors complete their names, and messages say which of them this session lacks. */
  readonly known: readonly ToolFacts[];
  /** Names of the tools that this session has. */
  readonly names: readonly string[];
}

/** Says whether a tool changes files. bash does not count: the sandbox confines the bash of a read-only agent. */
export function isWriting(name: string, {known}: ListableTools): boolean {
  return findTool(name, known)?.kind === 'edit';
}

/** Says whether a tool uses the network. No read-only agent has such a tool. */
export function isFetching(name: string, {known}: ListableTools): boolean {
  return findTool(name, known)?.kind === 'fetch';
}

/** The tool that one entry of a tool list names, or the reason why it names none. */
export type ResolvedToolName =
  | {readonly kind: 'known'; readonly written: string; readonly name: string; readonly pattern?: string}
  /** A tool of an MCP server, or all of them: `mcp__x__y`, `mcp__x`, `mcp__x__*`. */
  | {readonly kind: 'mcp'; readonly written: string; readonly name: string}
  | {readonly kind: 'dispatching' | 'unavailable'; readonly written: string; readonly reason: string}
  | {
      readonly kind: 'unknown';
      readonly written: string;
      readonly reason: string;
      /** The nearest tool, even when its name is very different. */
      readonly meant?: string;
      /** True when the nearest tool is so near that the entry must be a misspelling. */
      readonly slip: boolean;
    };

/** Lists the tools that a subagent can have. */
export function withoutDispatchTools({known, names}: ListableTools): readonly string[] {
  return names.filter((name) => !findTool(name, known)?.dispatches);
}

/** @param written entry as a tool list has it: `read_file`, `Read`, `Bash(git log:*)`, `mcp__x__y` */
export function resolveToolName(written: string, tools: ListableTools): ResolvedToolName {
  const available = withoutDispatchTools(tools);
  const [, bare = written, pattern] =
    /^([^()]*)(?:\((.*)\))?$/s.exec(written.trim())?.map((part) => part?.trim()) ?? [];
  const tool = findListed(bare, tools.known);
  const name = tool?.name ?? bare;
  if (available.includes(name)) return {kind: 'known', written, name, ...(pattern === undefined ? {} : {pattern})};
  if (tool?.dispatches) {
    return {kind: 'dispatching', written, reason: `subagents never have ${name}, only the main agent dispatches`};
  }
  // The tools of a server are known only when it runs.
  if (/^mcp__\w/.test(name)) return {kind: 'mcp', written, name};
  if (tool) {
    const reason = tool.needs === undefined ? 'this session does not have it' : `it needs ${tool.needs}`;
    return {kind: 'unavailable', written, reason};
  }
  if (listMissingTools(tools.known).some((each) => isSame(each, bare))) {
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

/** Finds a tool by any of its names, in any case, or by the name of a tool that it replaces. */
function findListed(written: string, known: readonly ToolFacts[]): ToolFacts | undefined {
  return (
    findTool(written, known) ??
    known.find((tool) =>
      [tool.name, tool.claude?.name, ...(tool.aliases ?? []), ...(tool.replaces ?? [])].some(
        (name) => name !== undefined && isSame(name, written),
      ),
    )
  );
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
