/**
 * Loads all agents: built in, from `--agents`, from the project and from the user. Decides which of them hides which.
 */

import type {Settings} from '../config/settings.ts';
import {AGENT_TYPES, type AgentDefinition} from '../core/agent-types.ts';
import type {Claim, Trusts} from '../core/contract/permission.ts';
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import {withoutUndefined} from '../core/util/objects.ts';
import {type Problem, ProblemList, START} from '../core/util/problem.ts';
import type {ParsedAgent} from './define.ts';
import {
  type AgentLocations,
  type FileSource,
  isClaude,
  isProjects,
  listAgentFiles,
  listAgentFolders,
} from './folders.ts';
import {parseInlineAgents, readJsonAgent, type SourceResult} from './json-source.ts';
import {readMarkdownAgent} from './markdown-source.ts';
import {narrowToShipped, SHIPPED_AGENTS} from './shipped/shipped.ts';
import {type ListableTools, resolveTools} from './tool-list.ts';

export type AgentSource = 'built-in' | 'shipped' | 'inline' | FileSource;

export interface AgentReadOptions {
  readonly listable: ListableTools;
  /**
   * Says whether the user trusts what a project's agent asks for. Without trust the agent can only narrow permissions.
   */
  readonly trusts?: Trusts;
}

export interface CatalogOptions extends AgentLocations, AgentReadOptions {
  /** Text of `--agents`: `{"name": {"description", "prompt", "tools", "model"}}`. */
  readonly extra?: string | undefined;
  /**
   * `agents` of the settings. They replace values of built-in agents. Other agents get them for fields that they do not
   * set.
   */
  readonly overrides?: Settings['agents'];
}

export interface LoadedAgent extends Pick<ParsedAgent, 'definition' | 'tools' | 'missing' | 'positions'> {
  readonly source: AgentSource;
  /** Path of the file; `--agents` for an inline agent; undefined for one of mini-cc's own. */
  readonly file?: string;
  /** True when the file is broken, so that this is its last valid definition. */
  readonly stale?: true | undefined;
}

interface HiddenAgent {
  readonly name: string;
  readonly source: AgentSource;
  readonly file?: string;
  /** The agent that hides this one. */
  readonly by: {readonly source: AgentSource; readonly file: string | undefined};
}

export interface LoadedCatalog {
  /** Built-in agents come first, then the others by source and path. */
  readonly agents: readonly LoadedAgent[];
  /** Agents that only commands of mini-cc run, unless a file replaces them. */
  readonly shipped: readonly LoadedAgent[];
  readonly hidden: readonly HiddenAgent[];
  readonly problems: readonly Problem[];
}

/** One file, or one entry of `--agents`, after reading. */
export interface SourceEntry extends SourceResult {
  readonly source: Exclude<AgentSource, 'built-in' | 'shipped'>;
  readonly file: string;
  readonly stale?: true;
}

export const INLINE_LABEL = '--agents';

export function readInlineEntries(extra: string | undefined, {listable}: AgentReadOptions): SourceEntry[] {
  if (extra === undefined) return [];
  const results = parseInlineAgents(extra, INLINE_LABEL, {listable, dialect: 'claude', mayWiden: () => true});
  return results.map((result) => ({...result, source: 'inline', file: INLINE_LABEL}));
}

export function readEntry(
  {source, plugin}: {readonly source: FileSource; readonly plugin?: string},
  file: string,
  {listable, trusts = () => false}: AgentReadOptions,
): SourceEntry {
  const isUsers = !isProjects(source);
  const mayWiden = (key: string, value: unknown) => isUsers || trusts({file, key, value});
  const result = isClaude(source)
    ? readMarkdownAgent(file, {listable, mayWiden})
    : readJsonAgent(file, {listable, dialect: 'json', mayWiden});
  const agent = result.agent && plugin !== undefined ? nameOfPlugin(result.agent, plugin) : result.agent;
  return {...result, ...(agent && {agent}), source, file};
}

function nameOfPlugin(agent: ParsedAgent, plugin: string): ParsedAgent {
  const {definition} = agent;
  return {...agent, definition: {...definition, name: `${plugin}:${definition.name}`}};
}

/** @param entries in order of precedence: the first one with a name is used and hides the others */
export function buildCatalog(
  entries: readonly SourceEntry[],
  problems: readonly Problem[],
  {listable, overrides = {}}: Pick<CatalogOptions, 'listable' | 'overrides'>,
): LoadedCatalog {
  const agents = new Map<string, LoadedAgent>();
  const hidden: HiddenAgent[] = [];
  const found = [...problems];
  for (const definition of Object.values(AGENT_TYPES)) {
    const changed = {...definition, ...getOverride(overrides, definition.name)};
    agents.set(definition.name, ofMiniCc('built-in', changed, listable));
  }
  for (const {agent, problems: own, source, file, stale} of entries) {
    found.push(...own);
    if (!agent) continue;
    const {name} = agent.definition;
    const above = agents.get(name);
    if (!above) {
      const {tools, missing, positions} = agent;
      const definition = {...getOverride(overrides, name), ...narrowToShipped(agent.definition)};
      agents.set(name, {definition, tools, missing, positions, source, file, stale});
      continue;
    }
    hidden.push({name, source, file, by: {source: above.source, file: above.file}});
    if (above.source !== source) continue;
    const list = new ProblemList(file);
    const message = `another file has an agent ${name}: ${above.file} is used, this one is not`;
    list.warn('double-name', agent.positions.get('name') ?? START, message);
    found.push(...list.all);
  }
  const shipped: LoadedAgent[] = [];
  for (const definition of SHIPPED_AGENTS) {
    const {name} = definition;
    const above = agents.get(name);
    if (above) hidden.push({name, source: 'shipped', by: {source: above.source, file: above.file}});
    else shipped.push(ofMiniCc('shipped', {...definition, ...getOverride(overrides, name)}, listable));
  }
  return {agents: [...agents.values()], shipped, hidden, problems: found};
}

function ofMiniCc(source: 'built-in' | 'shipped', definition: AgentDefinition, listable: ListableTools): LoadedAgent {
  const {name, readOnly} = definition;
  const fields = {tools: definition.tools === '*' ? '*' : [...definition.tools], readOnly} as const;
  // The built-in definition is valid, so tools that are switched off are not a problem to report.
  const problems = new ProblemList(name);
  const {tools, missing} = resolveTools(fields, () => START, {listable, dialect: 'json'}, problems);
  return {definition, source, tools, missing, positions: new Map()};
}

/** Returns the overrides of an agent, without undefined values. */
function getOverride(overrides: CatalogOptions['overrides'] = {}, name: string): Partial<AgentDefinition> {
  if (!Object.hasOwn(overrides, name)) return {};
  return withoutUndefined(overrides[name]!);
}

/** Lists the variables that have the agents' own keys, according to their files and `--agents`. */
export function listAgentKeyNames(
  locations: AgentLocations,
  {
    known,
    trusts,
    extra,
  }: {readonly known: readonly ToolFacts[]; readonly trusts: Trusts; readonly extra?: string | undefined},
): string[] {
  const options = {listable: allOf(known), trusts};
  const entries = listAgentFolders(locations).flatMap((folder) =>
    listAgentFiles(folder).files.map(({file}) => readEntry(folder, file, options)),
  );
  return [...entries, ...readInlineEntries(extra, options)].flatMap(({agent}) => agent?.definition.apiKeyEnv ?? []);
}

/**
 * Lists what the project's agents ask for beyond what the user has allowed. It compares parsed values, not their
 * spelling.
 */
export function listAgentClaims(locations: AgentLocations, known: readonly ToolFacts[]): Claim[] {
  return listAgentFolders(locations)
    .filter(({source}) => isProjects(source))
    .flatMap((folder) => listAgentFiles(folder).files)
    .flatMap(({folder, file}) => {
      const {agent} = readEntry(folder, file, {listable: allOf(known)});
      return agent?.widening.map(({key, value}) => ({file, key, value})) ?? [];
    });
}

/** Lets agents list all tools, because keys and claims are read independently of the tools of a session. */
function allOf(known: readonly ToolFacts[]): ListableTools {
  return {known, names: known.map(({name}) => name)};
}
