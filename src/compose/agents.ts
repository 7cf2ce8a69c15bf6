/** Creates the agents of a session, and serves `mini-cc agents …`. */

import {realpathSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {homedir} from 'node:os';
import path from 'node:path';
import {INLINE_LABEL, type LoadedAgent, type LoadedCatalog} from '../agents/catalog.ts';
import {SKIPPED} from '../agents/folders.ts';
import {LiveCatalog} from '../agents/live-catalog.ts';
import {ANY_SERVER, type ListableTools} from '../agents/tool-list.ts';
import type {AgentsCommandDeps} from '../commands/agents/show.ts';
import type {CommandLineOutcome, SubcommandArguments} from '../commands/shared/command-line.ts';
import {withoutOverruled} from '../config/environment.ts';
import type {LoadedSettings, Settings} from '../config/settings.ts';
import {type AgentDefinition, restrictCatalog} from '../core/agent-types.ts';
import type {ForeignWord} from '../core/contract/events.ts';
import type {Trusts} from '../core/contract/permission.ts';
import type {Plugin} from '../core/contract/plugin.ts';
import type {Tool} from '../core/contract/tool.ts';
import type {RuleBook} from '../core/permissions/rules/rule-book.ts';
import {getTools} from '../core/subagent.ts';
import {createBudget} from '../core/turn/budget.ts';
import {askModelForJson} from '../core/turn/model-request.ts';
import {createAgentPrompt} from '../core/turn/system-prompt.ts';
import {UsageError} from '../core/util/errors.ts';
import {createTemporaryFolder, removeTemporaryFolder} from '../core/util/files/temporary-folder.ts';
import {relativeIfInside} from '../core/util/paths.ts';
import {formatProblem, toForeignWord} from '../core/util/problem.ts';
import {toServerId} from '../extensions/mcp/server-entry.ts';
import {isNamed} from '../extensions/mcp/toolset.ts';
import {ProcessGroups} from '../sandbox/launch/process-groups.ts';
import {SessionStore} from '../storage/sessions/session-store.ts';
import {createBaseTools} from '../tools/index.ts';
import {ALL_TOOLS, getListable} from './known-tools.ts';
import {readEntries} from './mcp.ts';
import {createModelResolver, createSecrets, getModelName, type SessionOptions} from './options.ts';
import {createRules, createSessionSandbox, getToolRules} from './permission-settings.ts';
import type {Project, Records} from './project.ts';
import type {SessionTools} from './tools.ts';
import {loadTrustedSettings} from './trust.ts';

/**
 * Runs `mini-cc agents …`: the commands of the REPL without a person who can be asked. @throws UsageError for bad usage
 */
export async function agentsCommandLine(
  given: SessionOptions,
  args: SubcommandArguments,
  say: (line: string) => void,
): Promise<CommandLineOutcome> {
  const {runAgentsCommandLine} = await import('../commands/agents/command-line.ts');
  const root = realpathSync(given.cwd);
  const loaded = await loadTrustedSettings(given, root);
  const options = {...given, env: withoutOverruled(given.env, loaded.origins)};
  const {settings, keyNames, trust, trustWarnings, plugins} = loaded;
  for (const line of trustWarnings) say(`mini-cc: ${line}`);
  const {redactor} = createSecrets(options, keyNames, root);
  const resolver = createModelResolver(options, settings, redactor);
  const baseTools = createBaseTools({
    sandbox: createSessionSandbox(settings, {miniCcHome: options.home, root}),
    processes: new ProcessGroups(),
    web: {mayReachPrivate: () => false, searches: searchesWeb(resolver, getModelName(options, settings))},
    getIndex() {
      throw new Error('only the names of the tools are asked for');
    },
  });
  const {rules} = createRules(options, loaded, root, redactor);
  const listable = getListable(baseTools);
  const catalog = openCatalog(options, {root, settings, trusts: trust.trusts, plugins}, listable, () => undefined);
  return runAgentsCommandLine(args, {
    ...createAgentsCommandDeps(
      catalog,
      {options, root, loaded, rules},
      listable,
      () => readEntries(options, root, loaded).entries.map(({name}) => name),
      async () => ({ok: false, text: 'mini-cc agents test NAME runs tests'}),
    ),
    say,
    ask: async () => undefined,
    openEditor: async () => 'No editor is opened on the command line.',
    complete: async (prompt, schema) => {
      const model = resolver.resolve(getModelName(options, settings));
      // There is no session that could count the tokens.
      const account = {budget: createBudget(), onUsage: () => undefined};
      return redactor.text(await askModelForJson(model, prompt, schema, new AbortController().signal, account));
    },
  });
}

export type SessionAgents = Awaited<ReturnType<typeof createAgents>>;

/**
 * Creates the agents of a session, and finds the one that it runs as (`--agent`). @throws UsageError when there is no
 * such agent
 */
export async function createAgents(
  {options, root, settings, trusts, loaded: {plugins}, openNotes}: Project,
  {emit}: Records,
  tools: SessionTools,
) {
  const catalog = openCatalog(options, {root, settings, trusts, plugins}, tools.listable, (text, level) =>
    emit({type: 'notice', level, text}),
  );
  const mainAgent = options.agent === undefined ? undefined : getAgent(options.agent, catalog);
  const warnings: string[] = [];
  const agentPrompt = mainAgent && createAgentPrompt(mainAgent, tools.getSkill, (text) => warnings.push(text));
  const notes = mainAgent && (await openNotes(mainAgent, (text) => warnings.push(text)));
  const agents = restrictCatalog(catalog, settings.subagents?.allowAgents ?? ['*']);
  return {catalog, agents, mainAgent, agentPrompt, notes, warnings};
}

/** Whether the server of this model searches the web, as in a session. A model that cannot be used has no server. */
function searchesWeb(resolver: ReturnType<typeof createModelResolver>, model: string | undefined): boolean {
  try {
    return resolver.resolve(model).source?.searchesWeb ?? false;
  } catch (error) {
    if (error instanceof UsageError) return false;
    throw error;
  }
}

function openCatalog(
  options: SessionOptions,
  {
    root,
    settings,
    trusts,
    plugins,
  }: {readonly root: string; readonly settings: Settings; readonly trusts: Trusts; readonly plugins: readonly Plugin[]},
  listable: ListableTools,
  onNotice: (text: string, level: 'info' | 'warning') => void,
): LiveCatalog {
  const catalog = new LiveCatalog({
    cwd: root,
    home: homedir(),
    miniCcHome: options.home,
    plugins,
    listable: () => listable,
    overrides: () => settings.agents,
    trusts,
    ...(options.settingSources && {sources: options.settingSources}),
    onNotice,
    ...(options.agentsJson === undefined ? {} : {extra: options.agentsJson}),
  });
  // Wrong JSON of `--agents` that a person typed stops the session. Wrong files, and wrong JSON of a driver, do not.
  const [error] = catalog
    .snapshot()
    .problems.filter(({file, severity}) => file === INLINE_LABEL && severity === 'error');
  if (error && !options.driverServers) throw new UsageError(formatProblem(error));
  return catalog;
}

/** Takes from each agent the tools that the session refuses to subagents, and those of MCP servers that do not exist. */
function withToolRules(
  catalog: LoadedCatalog,
  loaded: LoadedSettings,
  rules: RuleBook,
  servers: readonly string[],
): LoadedCatalog {
  const {allow, deny} = getToolRules(loaded, rules);
  const why = (tool: string, {mcpServers = []}: AgentDefinition) => {
    if (rules.forbids(tool)) return 'a deny rule forbids it';
    if (isNamed(tool, deny)) return 'it is in subagents.tools.deny';
    if (allow && !isNamed(tool, allow)) return 'it is not in subagents.tools.allow';
    if (!tool.startsWith('mcp__') || tool === ANY_SERVER) return undefined;
    const known = [...servers, ...mcpServers.map(({name}) => name)].flatMap((name) => [name, toServerId(name)]);
    return known.some((name) => isNamed(tool, [`mcp__${name}`])) ? undefined : 'there is no such MCP server';
  };
  const restrict = (agent: LoadedAgent): LoadedAgent => {
    const refused = agent.tools.flatMap((name) => {
      const reason = why(name, agent.definition);
      return reason === undefined ? [] : [{name, reason, listed: true}];
    });
    const tools = agent.tools.filter((tool) => !refused.some(({name}) => name === tool));
    return refused.length === 0 ? agent : {...agent, tools, missing: [...agent.missing, ...refused]};
  };
  return {...catalog, agents: catalog.agents.map(restrict), shipped: catalog.shipped.map(restrict)};
}

interface AgentsCommandSettings extends Pick<Project, 'options' | 'root'> {
  readonly loaded: LoadedSettings & {readonly plugins: readonly Plugin[]};
  readonly rules: RuleBook;
}

export function createAgentsCommandDeps(
  catalog: LiveCatalog,
  {options: {home, settingSources}, root, loaded, rules}: AgentsCommandSettings,
  listable: ListableTools,
  getServers: () => readonly string[],
  runTests: AgentsCommandDeps['runTests'],
): AgentsCommandDeps {
  const projectFolder = path.join(root, '.mini-cc', 'agents');
  return {
    snapshot: (own) => withToolRules(catalog.snapshot(own), loaded, rules, getServers()),
    runTests,
    async checkCases(name, text) {
      const {readAgentCases} = await import('../evals/case-file.ts');
      const folder = createTemporaryFolder();
      try {
        await writeFile(path.join(folder, `${name}.json`), text);
        const found = await readAgentCases(name, folder, folder, ALL_TOOLS);
        const wrong = found?.problems.find(({severity}) => severity === 'error');
        return wrong && formatProblem({...wrong, file: `${name}.json`});
      } finally {
        removeTemporaryFolder(folder);
      }
    },
    async lintCases() {
      const [{findAgentCases, findSkillCases, listAgentsWithCases}, {findPrompts}] = await Promise.all([
        import('../evals/case-file.ts'),
        import('../extensions/prompts/find-prompts.ts'),
      ]);
      const places = {
        cwd: root,
        home: homedir(),
        miniCcHome: home,
        tools: ALL_TOOLS,
        sources: settingSources,
        plugins: loaded.plugins,
      };
      const skills = findPrompts(places, () => false).prompts.filter(({kind}) => kind === 'skill');
      const all = await Promise.all([
        ...listAgentsWithCases(root).map((agent) => findAgentCases(agent, root, ALL_TOOLS)),
        ...skills.map(({name, folder}) => findSkillCases(name, folder, ALL_TOOLS)),
      ]);
      return all.flatMap((found) => found?.problems ?? []);
    },
    async readStats(name) {
      const {formatAgentStats, readAgentStats} = await import('../evals/agent-stats.ts');
      const agents = readAgentStats(new SessionStore(home, root), name);
      return {agents, text: formatAgentStats(agents)};
    },
    listable,
    serverNames: () => getServers().flatMap((name) => [name, toServerId(name)]),
    projectFolder,
    writableFolders: [projectFolder, path.join(home, 'agents')],
    shownPath: (file) => relativeIfInside(file, root),
  };
}

function getAgent(name: string, catalog: LiveCatalog): AgentDefinition {
  const agent = catalog.get(name);
  if (agent) return agent;
  throw new UsageError(
    `--agent: no agent ${JSON.stringify(name)}. There are: ${catalog
      .list()
      .map((each) => each.name)
      .join(', ')}`,
  );
}

/** Returns all tools and the Task tools, or the tools of the agent that the session runs as. */
export function getMainTools(
  {mainAgent, notes}: Pick<SessionAgents, 'mainAgent' | 'notes'>,
  baseTools: readonly Tool[],
  taskTools: readonly Tool[],
): readonly Tool[] {
  const own = mainAgent?.readOnly
    ? baseTools
    : baseTools.map((tool) => ({...tool, input: tool.mainInput ?? tool.input}));
  const tools = mainAgent ? getTools(mainAgent, own, {deny: []}, notes) : own;
  return mainAgent && mainAgent.tools !== '*' ? tools : [...tools, ...taskTools];
}

/** A project may have a thousand broken files. */
const MAX_BROKEN = 10;

/** Lists what of the agents of the command line or the driver mini-cc does not use. */
export function listForeignAgentWords(catalog: LiveCatalog): ForeignWord[] {
  const {problems} = catalog.snapshot();
  return problems.filter(({file}) => file === INLINE_LABEL).map(toForeignWord);
}

/**
 * Returns one line for each error in files of agents, each file that is skipped, and all problems of the command line and
 * the driver. /agents lint shows all.
 */
export function describeBrokenAgents(catalog: LiveCatalog): string[] {
  const {problems} = catalog.snapshot();
  const given = problems.filter(({file}) => file === INLINE_LABEL);
  const shown = problems.filter(
    (each) => !given.includes(each) && (each.severity === 'error' || each.rule === SKIPPED),
  );
  const more = shown.length - MAX_BROKEN;
  const lines = [...given, ...shown.slice(0, MAX_BROKEN)].map(formatProblem);
  return more > 0 ? [...lines, `and ${more} more problems of agents: mini-cc agents lint`] : lines;
}
