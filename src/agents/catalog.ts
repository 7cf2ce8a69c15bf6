/** All agents that there are: built in, given at the start, of the project, of the user; which hides which. */
import {AGENT_TYPES, type AgentDefinition} from '../core/agent-types.ts';
import type {Claim, Trusts} from '../core/contract/trust.ts';
import {type Problem, ProblemList, START} from '../core/util/problem.ts';
import type {ParsedAgent, Places} from './define.ts';
import {readDefinitionFile} from './definition-file.ts';
import {type AgentPlaces, agentFolders, type FileSource, isClaude, listAgentFiles} from './folders.ts';
import {parseInlineAgents, readJsonAgent, type SourceResult} from './json-source.ts';
import {STANDARD_TOOLS} from './known-tools.ts';
import {readMarkdownAgent} from './markdown-source.ts';
import {type MissingTool, resolveTools} from './tool-list.ts';

export type AgentSource = 'built-in' | 'inline' | FileSource;

/** What settings say of an agent by its name. */
export interface AgentOverride {
  readonly model?: string | undefined;
  readonly maxTurns?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
}

export interface ReadOptions {
  /** The tools that there are. */
  readonly toolNames: readonly string[];
  /** What the user trusts of the project's agents: without it they only narrow. */
  readonly trusts?: Trusts;
}

export interface CatalogOptions extends AgentPlaces, ReadOptions {
  /** The text of `--agents`: `{"name": {"description", "prompt", "tools", "model"}}`. */
  readonly extra?: string | undefined;
  /** `agents` of the settings. They replace what built-in agents have, and fill what others leave open. */
  readonly overrides?: Readonly<Record<string, AgentOverride>> | undefined;
}

export interface LoadedAgent {
  readonly definition: AgentDefinition;
  readonly source: AgentSource;
  /** A path; `--agents` for an inline one; undefined for a built-in one. */
  readonly file?: string;
  /** The tools that it really has. */
  readonly tools: readonly string[];
  readonly missing: readonly MissingTool[];
  readonly readOnly: boolean;
  /** Where the fields stand in the file. */
  readonly places: Places;
  /** Its file is broken by now: this is the last good definition. */
  readonly stale?: true;
}

export interface HiddenAgent {
  readonly name: string;
  readonly source: AgentSource;
  readonly file?: string;
  /** What hides it. */
  readonly by: {readonly source: AgentSource; readonly file?: string};
}

export interface LoadedCatalog {
  /** Built-in ones first, then by source and path. */
  readonly agents: readonly LoadedAgent[];
  readonly hidden: readonly HiddenAgent[];
  readonly problems: readonly Problem[];
}

/** What one file holds, or one entry of `--agents`. */
export interface SourceEntry extends SourceResult {
  readonly source: Exclude<AgentSource, 'built-in'>;
  readonly file: string;
  readonly stale?: true;
}

export const INLINE_LABEL = '--agents';

export function inlineEntries(extra: string | undefined, {toolNames}: ReadOptions): SourceEntry[] {
  if (extra === undefined) return [];
  const results = parseInlineAgents(extra, INLINE_LABEL, {toolNames, dialect: 'json', mayWiden: () => true});
  return results.map((result) => ({...result, source: 'inline', file: INLINE_LABEL}));
}

export function readEntry(
  source: FileSource,
  file: string,
  {toolNames, trusts = () => false}: ReadOptions,
): SourceEntry {
  const isUsers = source === 'user' || source === 'claude-user';
  const mayWiden = (key: string, value: unknown) => isUsers || trusts({file, key, value});
  const result = isClaude(source)
    ? readMarkdownAgent(file, {toolNames, mayWiden})
    : readJsonAgent(file, {toolNames, dialect: 'json', mayWiden});
  return {...result, source, file};
}

/** @param entries in order of precedence */
export function assemble(
  entries: readonly SourceEntry[],
  problems: readonly Problem[],
  {toolNames, overrides = {}}: Pick<CatalogOptions, 'toolNames' | 'overrides'>,
): LoadedCatalog {
  const agents = new Map<string, LoadedAgent>();
  const hidden: HiddenAgent[] = [];
  const found = [...problems];
  for (const definition of Object.values(AGENT_TYPES)) {
    agents.set(definition.name, builtIn({...definition, ...stated(overrides, definition.name)}, toolNames));
  }
  for (const {agent, problems: own, source, file, stale} of entries) {
    found.push(...own);
    if (!agent) continue;
    const {name} = agent.definition;
    const above = agents.get(name);
    if (!above) {
      agents.set(name, {...fromFile(agent, overrides), source, file, ...(stale ? {stale} : {})});
      continue;
    }
    const by = {source: above.source, ...(above.file === undefined ? {} : {file: above.file})};
    hidden.push({name, source, file, by});
    if (above.source === source) found.push(doubleName(name, agent, file, above.file));
  }
  return {agents: [...agents.values()], hidden, problems: found};
}

function builtIn(definition: AgentDefinition, toolNames: readonly string[]): LoadedAgent {
  const fields = {
    tools: definition.tools === '*' ? '*' : [...definition.tools],
    readOnly: definition.readOnly,
  } as const;
  // Its tools are right by construction; where some are switched off, that is no fault of the definition.
  const {tools, missing} = resolveTools(
    fields,
    () => START,
    {toolNames, dialect: 'json'},
    new ProblemList(definition.name),
  );
  return {definition, source: 'built-in', tools, missing, readOnly: definition.readOnly, places: new Map()};
}

function fromFile(agent: ParsedAgent, overrides: CatalogOptions['overrides']) {
  const {definition, tools, missing, places} = agent;
  return {
    definition: {...stated(overrides, definition.name), ...definition},
    tools,
    missing,
    readOnly: definition.readOnly,
    places,
  };
}

/** The overrides of an agent without those that are undefined. */
function stated(overrides: CatalogOptions['overrides'] = {}, name: string): Partial<AgentDefinition> {
  if (!Object.hasOwn(overrides, name)) return {};
  const {model, maxTurns, timeoutSeconds} = overrides[name]!;
  return {
    ...(model === undefined ? {} : {model}),
    ...(maxTurns === undefined ? {} : {maxTurns}),
    ...(timeoutSeconds === undefined ? {} : {timeoutSeconds}),
  };
}

function doubleName(name: string, agent: ParsedAgent, file: string, first: string | undefined): Problem {
  const list = new ProblemList(file);
  list.warn(
    'double-name',
    agent.places.get('name') ?? START,
    `another file has an agent ${name}: ${first} is used, this one is not`,
  );
  return list.all[0]!;
}

const OF_PROJECT: ReadonlySet<FileSource> = new Set(['project', 'claude-project']);
/** Files without these words are not parsed: most have none. */
const ASKS = /permissionMode|apiKeyEnv/;

/** What the agents of a project ask for beyond what the user has allowed. */
export function agentClaims(places: AgentPlaces): Claim[] {
  return agentFolders(places)
    .filter(({source}) => OF_PROJECT.has(source))
    .flatMap((folder) => listAgentFiles(folder).files)
    .filter(({file}) => ASKS.test(readDefinitionFile(file, {lossy: true}).text ?? ''))
    .flatMap(({folder, file}) => {
      const {agent} = readEntry(folder.source, file, {toolNames: STANDARD_TOOLS});
      return agent?.widening.map(({key, value}) => ({file, key, value})) ?? [];
    });
}
