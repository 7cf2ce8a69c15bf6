/** Names of tools in definitions: those of mini-cc, those of other programs, and why some of them give no tool. */
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import {findMeant, findTypo} from '../core/util/names.ts';
import {findTool, listMissingTools} from '../core/util/tool-names.ts';

/** The tools that agents may list. */
export interface ListableTools {
  /** All that are known: editors complete their names, and one that this session lacks is named as such. */
  readonly known: readonly ToolFacts[];
  /** The names of those that this session has. */
  readonly names: readonly string[];
}

/** A tool that changes files. bash is none: the sandbox confines the bash of a read-only agent. */
export function isWriting(name: string, {known}: ListableTools): boolean {
  return findTool(name, known)?.kind === 'edit';
}

/** A tool that uses the network. No read-only agent has it. */
export function isFetching(name: string, {known}: ListableTools): boolean {
  return findTool(name, known)?.kind === 'fetch';
}

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
export function withoutDispatchTools({known, names}: ListableTools): readonly string[] {
  return names.filter((name) => !findTool(name, known)?.dispatches);
}

/** @param written as a tool list has it: `read_file`, `Read`, `Bash(git log:*)`, `mcp__x__y` */
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
  // Which tools a server has is known once it runs.
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

/** By any of its names, in capital or small letters, or by the name of a tool that it replaces. */
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
