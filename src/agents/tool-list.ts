/** Decides which tools an agent really has, and why it lacks the others. */
import type {AgentDefinition} from '../core/agent-types.ts';
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import {expandToolNames} from '../core/permissions/rules/rule.ts';
import {findMeant, findTypo} from '../core/util/names.ts';
import {type Position, type ProblemList, quote} from '../core/util/problem.ts';
import {findTool, findToolInAnyCase, listMissingTools} from '../core/util/tool-names.ts';
import type {AgentFile} from './schema.ts';

export interface MissingTool {
  /** Name as the definition has it, or the name of a tool that it does not list. */
  readonly name: string;
  readonly reason: string;
  /** Nearest tool. */
  readonly meant?: string | undefined;
  /** True when the definition lists it. */
  readonly listed: boolean;
}

interface ResolvedTools {
  /** In the order of all tools, followed by those of MCP servers. */
  readonly tools: readonly string[];
  readonly missing: readonly MissingTool[];
  readonly readOnly: boolean;
  /** True for `"*"` without exceptions: tools that are added later are included. */
  readonly all: boolean;
  /** True for `"*"` with exceptions when the agent is not read-only: it has the tools of MCP servers. */
  readonly isOpen: boolean;
  /** Tools of MCP servers that the agent may not have. */
  readonly disallowedMcp: readonly string[];
  /** Tools that the agent has for its notes alone. */
  readonly forNotes: readonly string[];
}

export interface ToolListOptions {
  /** All tools. An agent gets none of those that dispatch. */
  readonly listable: ListableTools;
  /**
   * Rule for files that do not say whether the agent is read-only. With `json` it is read-only unless it lists a
   * writing tool. With `claude` (a file for Claude Code) it is not, because `Bash` may write there.
   */
  readonly dialect: 'json' | 'claude';
}

const WRITES = 'it writes, and the agent is read-only';
const FETCHES = 'it uses the network, and the agent is read-only';

/** Tools that an agent needs to read and write its notes. */
const NOTES_TOOLS: readonly string[] = ['read_file', 'write_file', 'edit_file'];

type Fields = Pick<AgentFile, 'tools' | 'disallowedTools' | 'readOnly' | 'memory'> &
  Pick<AgentDefinition, 'mcpServers'>;
type At = (key: string) => Position;

/** Resolves the tools of an agent. An agent without any tool is an error in `problems`. */
export function resolveTools(fields: Fields, at: At, options: ToolListOptions, problems: ProblemList): ResolvedTools {
  // Some other programs write `["*"]` for `"*"`.
  const wantsAll = fields.tools === '*' || fields.tools.includes('*');
  const {listable} = options;
  const available = withoutDispatchTools(listable);
  const missing: MissingTool[] = [];
  const listed = wantsAll ? new Set(available) : listedTools(fields.tools, at, options, problems, missing);
  const disallowed = disallowedTools(fields, at, options, problems);
  // `"*"` includes writing tools, even when none exists at the moment.
  const used = listable.known.map(({name}) => name).filter((name) => !disallowed.has(name));
  const writing = used.filter((name) => isWriting(name, listable) && (wantsAll || listed.has(name)));
  const readOnly = fields.readOnly ?? (options.dialect === 'json' && writing.length === 0);
  const tools: string[] = [];
  const forNotes: string[] = [];
  const mayNote = (name: string) => fields.memory !== undefined && NOTES_TOOLS.includes(name) && !disallowed.has(name);
  for (const name of available) {
    const reason = whyMissing(name, {listed, disallowed, readOnly, listable});
    if (reason === undefined) tools.push(name);
    else if (mayNote(name)) forNotes.push(name);
    else missing.push({name, reason, listed: listed.has(name)});
  }
  if (readOnly && !wantsAll) {
    for (const name of writing.filter((each) => !mayNote(each)))
      problems.warn('read-only', at('readOnly'), `${name} is left out: ${WRITES}`);
    for (const name of used.filter((each) => isFetching(each, listable) && listed.has(each))) {
      const remedy = fields.readOnly ? '' : ' ("readOnly": false gives it)';
      problems.warn('read-only', at('readOnly'), `${name} is left out: ${FETCHES}${remedy}`);
    }
  }
  const servers = resolveServerTools(fields, readOnly, {listed, disallowed}, missing);
  tools.push(...servers);
  for (const {name, reason} of missing.filter((each) => each.listed && each.reason === NOT_CONFINED)) {
    problems.warn('read-only', at('mcpServers'), `tool ${quote(name)} is left out: ${reason}`);
  }
  if (tools.length === 0 && !fields.mcpServers?.length)
    problems.error('no-tools', at('tools'), `none of its tools can be used: ${formatReasons(missing)}`);
  const disallowedMcp = [...disallowed].filter((name) => name.startsWith('mcp__'));
  const all = wantsAll && missing.length === 0 && forNotes.length === 0;
  return {tools, missing, readOnly, all, isOpen: wantsAll && !all && !readOnly, disallowedMcp, forNotes};
}

/** Entry that stands for the tools of all MCP servers. */
export const ANY_SERVER = 'mcp__*';

const NOT_CONFINED =
  'a read-only agent has the tools of a server only if its mcpServers names it ("readOnly": false gives it, too)';

/** Resolves the entries of a tool list that are about MCP servers. */
function resolveServerTools(
  {mcpServers = []}: Fields,
  readOnly: boolean,
  {listed, disallowed}: {readonly listed: ReadonlySet<string>; readonly disallowed: ReadonlySet<string>},
  missing: MissingTool[],
): string[] {
  return [...listed].filter((name) => {
    if (!name.startsWith('mcp__') || disallowed.has(name)) return false;
    const isConfined = mcpServers.some(
      (server) => name === `mcp__${server.name}` || name.startsWith(`mcp__${server.name}__`),
    );
    if (readOnly && !isConfined) missing.push({name, reason: NOT_CONFINED, listed: true});
    return !readOnly || isConfined;
  });
}

/** Returns the listed tools that exist. The others are added to `problems` and `missing`. */
function listedTools(
  tools: AgentFile['tools'],
  at: At,
  options: ToolListOptions,
  problems: ProblemList,
  missing: MissingTool[],
): Set<string> {
  const listed = new Set<string>();
  for (const [index, written] of [...tools].entries()) {
    const position = at(`tools.${index}`);
    const tool = resolveToolName(written, options.listable);
    if (tool.kind === 'mcp') {
      listed.add(tool.name);
      continue;
    }
    if (tool.kind !== 'known') {
      const meant = getSuggestion(tool, options);
      missing.push({name: written, reason: tool.reason, listed: true, meant});
      problems.warn(RULES[tool.kind], position, `tool ${quote(written)} is left out: ${tool.reason}`, meant);
      continue;
    }
    listed.add(tool.name);
    if (tool.pattern === undefined) continue;
    const instead = `the agent gets the whole tool ${tool.name}, under the permission rules`;
    problems.warn('tool-pattern', position, `${quote(written)}: patterns are ignored here, ${instead}`);
  }
  return listed;
}

const RULES = {unknown: 'unknown-tool', unavailable: 'unavailable-tool', dispatching: 'no-dispatch'} as const;

/**
 * Returns the tools that are not allowed. A misspelling is an error, because it would leave the agent a forbidden tool.
 */
function disallowedTools(fields: Fields, at: At, options: ToolListOptions, problems: ProblemList): Set<string> {
  const names = new Set<string>();
  for (const [index, written] of (fields.disallowedTools ?? []).entries()) {
    const position = at(`disallowedTools.${index}`);
    const matching = expandToolNames([written], options.listable.known);
    if (matching.length > 1) {
      for (const name of matching) names.add(name);
      continue;
    }
    const tool = resolveToolName(written, options.listable);
    if (tool.kind === 'mcp') {
      names.add(tool.name);
    } else if (tool.kind === 'known') {
      names.add(tool.name);
      // A tool that only mini-cc has does the same by another name, which a definition from elsewhere cannot list.
      for (const {name, ruledBy, claude} of options.listable.known)
        if (ruledBy === tool.name && !claude) names.add(name);
      if (tool.pattern === undefined) continue;
      const instead = `the agent gets no ${tool.name} at all`;
      problems.warn('tool-pattern', position, `${quote(written)}: patterns are ignored here, ${instead}`);
    } else if (tool.kind === 'unknown') {
      const message = `disallowedTools: there is no tool ${quote(written)}`;
      if (tool.slip) problems.error('unknown-tool', position, message, tool.meant);
      else problems.warn('unknown-tool', position, message, getSuggestion(tool, options));
    }
    // The agent does not get unavailable and dispatching tools anyway.
  }
  return names;
}

interface ToolChoice {
  readonly listed: ReadonlySet<string>;
  readonly disallowed: ReadonlySet<string>;
  readonly readOnly: boolean;
  readonly listable: ListableTools;
}

function whyMissing(name: string, {listed, disallowed, readOnly, listable}: ToolChoice): string | undefined {
  if (!listed.has(name)) return 'it is not in its tools';
  if (disallowed.has(name)) return 'it is in its disallowedTools';
  if (readOnly && isWriting(name, listable)) return WRITES;
  if (readOnly && isFetching(name, listable)) return FETCHES;
  return undefined;
}

/**
 * Suggests a name. In a file for Claude Code, an unknown name is probably a tool of another program, not a misspelling.
 */
function getSuggestion(tool: ResolvedToolName, {dialect}: ToolListOptions): string | undefined {
  return tool.kind === 'unknown' && (tool.slip || dialect === 'json') ? tool.meant : undefined;
}

function formatReasons(missing: readonly MissingTool[]): string {
  const listed = missing.filter((each) => each.listed);
  if (listed.length === 0) return 'there are none';
  return listed
    .map(({name, reason, meant}) => `${quote(name)}: ${reason}${meant === undefined ? '' : `, nearest is ${meant}`}`)
    .join('; ');
}

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
function isFetching(name: string, {known}: ListableTools): boolean {
  return findTool(name, known)?.kind === 'fetch';
}

/** The tool that one entry of a tool list names, or the reason why it names none. */
type ResolvedToolName =
  | {readonly kind: 'known'; readonly written: string; readonly name: string; readonly pattern: string | undefined}
  /** A tool of an MCP server, or all of them: `mcp__x__y`, `mcp__x`, `mcp__x__*`. */
  | {readonly kind: 'mcp'; readonly written: string; readonly name: string}
  | {readonly kind: 'dispatching' | 'unavailable'; readonly written: string; readonly reason: string}
  | {
      readonly kind: 'unknown';
      readonly written: string;
      readonly reason: string;
      /** The nearest tool, even when its name is very different. */
      readonly meant: string | undefined;
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
  const tool = findToolInAnyCase(bare, tools.known);
  const name = tool?.name ?? bare;
  if (available.includes(name)) return {kind: 'known', written, name, pattern};
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
  return {
    kind: 'unknown',
    written,
    reason: 'there is no such tool',
    slip: findTypo(bare, available) !== undefined,
    meant: findMeant(bare, available),
  };
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
