/** Shows the agents: as a list, one in full, or their problems. */
import path from 'node:path';
import type {AgentSource, LoadedAgent, LoadedCatalog} from '../../agents/catalog.ts';
import {type AgentLint, lintAgents} from '../../agents/lint.ts';
import type {ListableTools} from '../../agents/tool-list.ts';
import type {CommandContext} from '../../core/contract/session-requests.ts';
import {findTypo} from '../../core/util/names.ts';
import {formatMessage, formatProblem, hasError, type Problem} from '../../core/util/problem.ts';
import {formatCount, toShortLine} from '../../core/util/text.ts';

const DESCRIPTION_CHARS = 100;

/** Lists the agents with their origin and access, the hidden agents, and the broken files. */
export function listAgents(deps: AgentsDeps): AgentsResult {
  const {agents, shipped, hidden, problems: all} = deps.snapshot();
  const problems = all.filter(isNoHint);
  const own = agents.filter(({source}) => source !== 'built-in').length;
  const lines = [own === 0 ? 'Agents: 3 built in, none of your own' : `Agents: 3 built in, ${own} of your own`];
  for (const agent of agents) lines.push('', ...formatListed(agent));
  if (shipped.length > 0)
    lines.push('', `Of /review alone: ${shipped.map(({definition}) => definition.name).join(', ')}`);
  if (hidden.length > 0) lines.push('', 'Hidden:');
  for (const {name, source, file, by} of hidden) {
    const hiddenBy = by.file ? deps.shownPath(by.file) : SOURCE_LABELS[by.source];
    lines.push(`  ${name} of ${file ? deps.shownPath(file) : SOURCE_LABELS[source]}, by ${hiddenBy}`);
  }
  if (problems.length > 0) lines.push('', 'Problems:');
  for (const problem of problems) lines.push(`  ${formatProblemShown(problem, deps)}`);
  if (own === 0) lines.push('', '/agents create makes one; /agents help shows how.');
  return {ok: true, text: lines.join('\n')};
}

function formatListed({definition, source, tools, stale}: LoadedAgent): string[] {
  const {name, description, model, permissionMode, readOnly} = definition;
  const marks = [
    SOURCE_LABELS[source],
    ...(readOnly ? ['read-only'] : []),
    ...(model ? [`model ${model}`] : []),
    ...(permissionMode ? [`mode ${permissionMode}`] : []),
  ];
  const broken = stale ? ' · its file is broken, the last valid one is in use' : '';
  const shown = toShortLine(description, DESCRIPTION_CHARS);
  return [`${name} · ${marks.join(' · ')}${broken}`, `  ${shown}`, `  tools: ${tools.join(', ')}`];
}

/** Returns entries for all agents, including hidden ones and broken files. */
export function getAgentEntries({agents, shipped, hidden, problems}: LoadedCatalog) {
  const list = (file: string | undefined, severity: Problem['severity']) =>
    problems.filter((problem) => problem.file === file && problem.severity === severity).map(toFileProblem);
  const toEntry = (name: string, source: string, file: string | undefined, agent?: LoadedAgent, isHidden = false) => ({
    name,
    description: agent?.definition.description ?? '',
    source,
    file: file ?? null,
    tools: agent?.tools ?? [],
    model: agent?.definition.model ?? null,
    readOnly: agent?.definition.readOnly ?? false,
    hidden: isHidden,
    errors: list(file, 'error'),
    warnings: list(file, 'warning'),
  });
  const listed = new Set([...agents, ...hidden].map(({file}) => file));
  const others = new Set(problems.filter(isNoHint).map(({file}) => file));
  return [
    ...[...agents, ...shipped].map((agent) => toEntry(agent.definition.name, agent.source, agent.file, agent)),
    ...hidden.map(({name, source, file}) => toEntry(name, source, file, undefined, true)),
    ...[...others].filter((file) => !listed.has(file)).map((file) => toEntry(path.parse(file).name, 'broken', file)),
  ];
}

/** Returns a problem for scripts. Line and column count from 1. */
function toFileProblem(problem: Problem) {
  const {file, line, column} = problem;
  return {file, line, column, text: formatMessage(problem)};
}

function isNoHint({severity}: Problem): boolean {
  return severity !== 'hint';
}

/** Shows one agent in full: its definition, and the tools that it really has. */
export function showAgent(name: string, deps: AgentsDeps): AgentsResult {
  const agent = findAgent(name, deps);
  return 'ok' in agent ? agent : {ok: true, text: formatAgent(agent, deps)};
}

/** Returns the agent, or the reason why there is none. */
export function findAgent(name: string, deps: AgentsDeps): LoadedAgent | AgentsResult {
  const {agents, shipped} = deps.snapshot();
  const names = agents.map(({definition}) => definition.name);
  if (name === '') return {ok: false, text: `Which agent? There are: ${names.join(', ')}`};
  const agent = [...agents, ...shipped].find(({definition}) => definition.name === name);
  if (agent) return agent;
  const meant = findTypo(name, names);
  return {ok: false, text: `No agent ${name}.${meant ? ` Did you mean ${meant}?` : ''} There are: ${names.join(', ')}`};
}

/** Shows what the stored runs of this project came to: those of one agent, or of all. */
export async function showStats(name: string, deps: AgentsDeps): Promise<AgentsResult> {
  const {agents, text} = await deps.readStats(name);
  const unknown = name !== '' && agents.length === 0 ? findAgent(name, deps) : undefined;
  return unknown && 'ok' in unknown ? unknown : {ok: true, text, data: {agents}};
}

/** Describes how the bash tool of a read-only agent is confined. */
function describeConfinement(tools: readonly string[], before: string): string {
  return tools.includes('bash') ? `${before}its bash is confined by the operating system` : '';
}

type ShownAgent = Pick<LoadedAgent, 'definition' | 'source' | 'file' | 'tools' | 'missing'>;

export function formatAgent(agent: ShownAgent, deps: Pick<AgentsDeps, 'shownPath'>): string {
  const {definition, source, file, tools, missing} = agent;
  const {name, description, readOnly, model, permissionMode, maxTurns, timeoutSeconds, prompt} = definition;
  const lines = [
    `${name} · ${file ? deps.shownPath(file) : SOURCE_LABELS[source]}`,
    description,
    '',
    `tools: ${tools.join(', ')}`,
    ...[...Map.groupBy(missing, ({reason}) => reason)].map(
      ([reason, without]) => `  without ${without.map((tool) => tool.name).join(', ')}: ${reason}`,
    ),
    `read-only: ${readOnly ? `yes${describeConfinement(tools, ', ')}` : 'no'}`,
    `model: ${model ?? 'inherit'}`,
    ...(permissionMode === undefined ? [] : [`mode: ${permissionMode}`]),
    ...(maxTurns === undefined ? [] : [`turns: ${maxTurns}`]),
    ...(timeoutSeconds === undefined ? [] : [`seconds: ${timeoutSeconds}`]),
    '',
    prompt.trim(),
  ];
  return lines.join('\n');
}

export interface LintReport extends AgentsResult {
  readonly agents: readonly AgentLint[];
}

/** Reports each agent with its real tools, the reasons why others are missing, and its problems. */
export async function lint(name: string, deps: AgentsDeps): Promise<LintReport> {
  const result = await lintAgents(deps.snapshot(), deps.listable, deps.serverNames());
  const agents = name === '' ? result.agents : result.agents.filter((agent) => agent.name === name);
  const cases = await deps.lintCases();
  const others = name === '' ? [...result.others, ...cases] : cases.filter(({file}) => path.parse(file).name === name);
  if (name !== '' && agents.length === 0) return {ok: false, text: `No agent ${name}`, agents: []};
  const findings = [...agents.flatMap((agent) => agent.findings), ...others];
  const count = (severity: Problem['severity'], what: string) =>
    formatCount(findings.filter((each) => each.severity === severity).length, what);
  const totals = [
    formatCount(agents.length, 'agent'),
    count('error', 'error'),
    count('warning', 'warning'),
    ...(findings.some((each) => !isNoHint(each)) ? [count('hint', 'hint')] : []),
  ];
  const lines = [
    ...agents.flatMap((agent) => [...formatLint(agent, deps), '']),
    ...others.map((problem) => formatFinding(problem, deps)),
    totals.join(', '),
  ];
  return {ok: !hasError(findings), text: lines.join('\n'), agents};
}

function formatLint({name, usable, tools, missing, readOnly, findings}: AgentLint, deps: AgentsDeps): string[] {
  const head = usable ? `${name}${readOnly ? ' (read-only)' : ''}: ${tools.join(', ')}` : `${name}: not in use`;
  const without = missing.filter((tool) => tool.listed).map((tool) => `  without ${tool.name}: ${tool.reason}`);
  return [head, ...without, ...findings.map((problem) => `  ${formatFinding(problem, deps)}`)];
}

function formatFinding(problem: Problem, deps: AgentsDeps): string {
  return `${problem.severity} ${formatProblemShown(problem, deps)}`;
}

function formatProblemShown(problem: Problem, deps: AgentsDeps): string {
  return formatProblem({...problem, file: deps.shownPath(problem.file)});
}

export interface AgentsDeps extends Pick<CommandContext, 'ask' | 'say' | 'complete'> {
  /** Reads the agents from their files. @param own agent that the command has changed, which needs no further notice */
  snapshot(own?: string): LoadedCatalog;
  /** Lists the problems of the project's files of cases. */
  lintCases(): Promise<readonly Problem[]>;
  /** Checks the text of a file of cases. @returns its first problem */
  checkCases(name: string, text: string): Promise<string | undefined>;
  /** Tests agents by their cases, in a session of its own. `ask` answers its question. @throws UsageError */
  runTests(
    names: readonly string[],
    flags: Readonly<Record<string, string | true>>,
    front: Pick<CommandContext, 'say' | 'signal'> & {ask(question: string): Promise<boolean>},
  ): Promise<AgentsResult>;
  /** Counts what the stored runs of this project came to. @param name agent; empty for all */
  readStats(name: string): Promise<{readonly agents: readonly object[]; readonly text: string}>;
  readonly listable: ListableTools;
  /** Names of the session's MCP servers, also in the form that they have in the names of tools. */
  serverNames(): readonly string[];
  /** The project's folder `.mini-cc/agents`, where new agents are saved. */
  readonly projectFolder: string;
  /** Folders whose agents may be deleted: those of the project and of the user. */
  readonly writableFolders: readonly string[];
  /** Opens `$EDITOR` and waits until it is left. @returns true, or the reason why it could not be opened */
  openEditor(file: string): Promise<true | string>;
  /** Returns the path relative to the workspace, if the file is inside. */
  shownPath(file: string): string;
}

/** The result of a command, with the text for the person. */
export interface AgentsResult {
  readonly ok: boolean;
  readonly text: string;
  /** Facts for scripts: what was created or removed. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The origin of an agent, in words for people. */
const SOURCE_LABELS: Readonly<Record<AgentSource, string>> = {
  'built-in': 'built in',
  shipped: 'of /review',
  inline: '--agents',
  project: 'project',
  user: 'user',
  'claude-project': '.claude of the project',
  'claude-user': '.claude of the user',
  plugin: 'a plugin',
};

/** Dependencies that are not in the context of the command. */
export type AgentsCommandDeps = Omit<AgentsDeps, 'ask' | 'say' | 'complete' | 'openEditor'>;
