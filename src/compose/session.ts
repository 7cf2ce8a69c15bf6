/**
 * The only wiring: settings, models, tools and agents become a session. `composeParts` lists the steps; each adds its
 * parts to those of the steps before it, and none needs a part that is made later.
 */
import {realpathSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import {listAgentKeyNames} from '../agents/catalog.ts';
import {CodeIndexes} from '../code-index/code-indexes.ts';
import {toolNotes} from '../config/memory/memory-files.ts';
import {readSystemPromptContext} from '../config/system-prompt-context.ts';
import {restrictCatalog, restrictTools} from '../core/agent-types.ts';
import type {Denial, Workspace} from '../core/contract/permission.ts';
import type {Session} from '../core/contract/session.ts';
import type {Tool} from '../core/contract/tool.ts';
import {createPermit} from '../core/permissions/decision.ts';
import {PermissionPolicy} from '../core/permissions/policy.ts';
import {Questions} from '../core/permissions/questions.ts';
import mainPrompt from '../core/prompts/main.md';
import type {ManagerDeps} from '../core/runs/dispatch.ts';
import type {SessionParts, SessionState} from '../core/session/parts.ts';
import {createSession} from '../core/session.ts';
import {SubagentManager} from '../core/subagent-manager.ts';
import {ANSWER_PROMPT} from '../core/turn/answer/structured-answer.ts';
import {createFileLedger} from '../core/turn/file-ledger.ts';
import {Inbox} from '../core/turn/inbox.ts';
import {checkPrice} from '../core/turn/limits/budget.ts';
import {systemClock} from '../core/turn/run-limits.ts';
import {createAgentPrompt, createSystemPrompt} from '../core/turn/system-prompt.ts';
import {MiniCcError} from '../core/util/errors.ts';
import {Verifier} from '../core/verification/verifier.ts';
import {findPrompts} from '../extensions/prompts/find-prompts.ts';
import {createGetSkill, createSkillTool, letSkillsFork} from '../extensions/prompts/skill-tool.ts';
import {ModelChooser} from '../models/choose.ts';
import {findLocalServers} from '../models/local-servers.ts';
import {PRICES_AS_OF} from '../models/prices.ts';
import {ProcessGroups} from '../sandbox/launch/process-groups.ts';
import {getProjectFolder, SessionStore} from '../storage/sessions/session-store.ts';
import {createTemporaryHome, removeTemporaryHome} from '../storage/sessions/temporary-home.ts';
import {WorkspaceFingerprint} from '../storage/workspace-fingerprint.ts';
import {createBaseTools, createTaskTools, TASK_TOOL_NAMES} from '../tools/index.ts';
import {FileIndex} from '../tools/search/file-index.ts';
import type {FanOutToolDeps} from '../tools/task/fan-out.ts';
import {getAgent, getMainTools, openCatalog} from './agents.ts';
import {createCommands} from './commands.ts';
import {createFanOuts, getFanOutSettings, getVerifySettings} from './fan-out.ts';
import {createFileChanges} from './file-changes.ts';
import {createSessionHooks} from './hooks.ts';
import {createMcpServers} from './mcp.ts';
import {
  createBus,
  createModelResolver,
  createSecrets,
  getMainModel,
  getModelName,
  getPoolSizes,
  isOfflineByDefault,
  type SessionOptions,
} from './options.ts';
import {createSessionInfo} from './parts/session-info.ts';
import {createSessionLimits} from './parts/session-limits.ts';
import {listWarnings} from './parts/session-warnings.ts';
import {openTelemetry} from './parts/telemetry.ts';
import {
  createFolders,
  createPermissionParts,
  createPermissionSandbox,
  createRules,
  createSessionSandbox,
  getExistingFolder,
  getToolRules,
  getZoneFolders,
} from './permissions.ts';
import {createSandboxParts, SandboxControl} from './sandbox-control.ts';
import {openAnother, openFirstConversation} from './sessions.ts';
import {runStartUpCleanup} from './start-up-cleanup.ts';
import {loadTrustedSettings} from './trust.ts';
import {createRemoteRuns} from './workers/remote-runs.ts';

const MAIN = 'main';

/** @throws UsageError for settings, names or ids that are wrong. */
export async function compose(options: SessionOptions): Promise<Session> {
  return createSession(await composeParts(options));
}

/** What `compose` makes a session of. @throws UsageError for settings, names or ids that are wrong. */
export async function composeParts(options: SessionOptions): Promise<SessionParts> {
  const project = await openProject(options);
  const tools = await addTools(project);
  const agents = addAgents(tools);
  const permissions = addPermissions(await addLimits(agents));
  const manager = addManager(addChanges(permissions));
  const fanOuts = addFanOuts(manager);
  const parts = createParts(fanOuts);
  if (options.interactive) manager.catalog.watch();
  return parts;
}

/** What the session and its runs may use, and what its answers must match. */
async function addLimits(before: ReturnType<typeof addAgents>) {
  const {options, root, loaded, mainAgent, emit, state, summaryModel} = before;
  const models = summaryModel ? [state.model, summaryModel] : [state.model];
  const {settings} = loaded;
  const limits = await createSessionLimits({options, root, settings, mainAgent, models, emit});
  const resolveModel: SessionParts['resolveModel'] = (name, thinking) => {
    const model = before.resolver.resolve(name, thinking);
    checkPrice(model, limits.budget.limitUsd);
    return model;
  };
  return {...before, ...limits, resolveModel};
}

/** Settings, keys, the transcript and the event bus. */
async function openProject(options: SessionOptions) {
  const root = realpathSync(options.cwd);
  const loaded = await loadTrustedSettings(options, root);
  const folders = {
    cwd: root,
    home: homedir(),
    miniCcHome: options.home,
    ...(options.settingSources && {sources: options.settingSources}),
  };
  const agentKeys = listAgentKeyNames(folders, loaded.trust.trusts, options.agentsJson);
  const {redactor, env} = createSecrets(options, [...loaded.keyNames, ...agentKeys], root, loaded.settings);
  const temporaryHome = options.isTemporary ? createTemporaryHome(options.home) : undefined;
  const store = new SessionStore(temporaryHome ?? options.home, root, redactor);
  const firstConversation = await openFirstConversation(store, options, redactor);
  const bus = createBus(options, redactor);
  const telemetry = await openTelemetry(options, bus, firstConversation.id);
  return {
    options,
    root,
    folders,
    loaded,
    redactor,
    env,
    store,
    temporaryHome,
    firstConversation,
    bus,
    telemetry,
    emit: bus.emitFor(MAIN),
    resolver: createModelResolver(options, loaded.settings, redactor),
    localServers: isOfflineByDefault(options, loaded.settings) ? await findLocalServers() : [],
  };
}

/** The tools of all agents, with the sandbox and the rules that they need. */
async function addTools(before: Awaited<ReturnType<typeof openProject>>) {
  const {options, root, loaded, redactor, env, store} = before;
  const sandbox = createSessionSandbox(
    loaded.settings,
    options.home,
    loaded.trust.trusts,
    path.join(options.home, 'cache'),
  );
  const sandboxControl = await SandboxControl.open(loaded.settings, sandbox);
  const {warning} = await sandboxControl.state();
  const {rules, warnings} = createRules(options, loaded, {
    folder: getProjectFolder(options.home, root),
    root,
    redactor,
  });
  const indexes = new CodeIndexes({root, env, cacheFolder: path.join(store.folder, 'code-index')});
  const searches = before.resolver.resolve(options.model ?? getModelName(options, loaded.settings)).source?.searchesWeb;
  const web = {mayReachPrivate: (host: string) => rules.namesHost(host), searches: searches ?? false};
  const found = findPrompts(before.folders, loaded.trust.trusts);
  const skillTool = createSkillTool(found.prompts);
  const {servers: mcp, warnings: mcpWarnings} = createMcpServers({...before, sandbox, rules});
  const baseTools = [
    ...createBaseTools(sandbox, web, (folder) => indexes.for(folder)),
    ...(skillTool ? [skillTool as Tool] : []),
  ];
  return {
    ...before,
    sandbox,
    sandboxControl,
    rules,
    baseTools,
    indexes,
    found,
    mcp,
    getSkill: createGetSkill(found.prompts),
    toolNames: [...baseTools.map(({name}) => name), ...TASK_TOOL_NAMES],
    warnings: [...loaded.warnings, ...warnings, ...mcpWarnings, ...(warning === undefined ? [] : [warning])],
  };
}

/** The agents, the one that the session runs as (`--agent`), and its model. */
function addAgents(before: Awaited<ReturnType<typeof addTools>>) {
  const {options, root, loaded, emit, resolver, toolNames, firstConversation} = before;
  const {settings, trust} = loaded;
  const catalog = openCatalog(options, {root, settings, trusts: trust.trusts}, toolNames, (text, level) =>
    emit({type: 'notice', level, text}),
  );
  const mainAgent = options.agent === undefined ? undefined : getAgent(options.agent, catalog);
  const missing: string[] = [];
  const agentPrompt = mainAgent && createAgentPrompt(mainAgent, before.getSkill, (text) => void missing.push(text));
  const {model, warnings} = getMainModel(resolver, options, settings, mainAgent);
  const {theme, notify} = settings;
  const state: SessionState = {conversation: firstConversation, model, ...(theme && {theme}), ...(notify && {notify})};
  const summaryName = settings.compaction?.model;
  const summaryModel = summaryName === undefined ? undefined : resolver.resolve(summaryName);
  return {
    ...before,
    catalog,
    mainAgent,
    agentPrompt,
    state,
    summaryModel,
    warnings: [...before.warnings, ...warnings, ...missing],
    chooser: new ModelChooser(resolver, settings, () => state.model, options.env),
    agents: restrictCatalog(catalog, settings.subagents?.allowAgents ?? ['*']),
    sessionFolder: () => before.store.sessionFolder(state.conversation.id),
  };
}

/** Who may do what, and the workspace that this holds for. */
function addPermissions(before: Awaited<ReturnType<typeof addLimits>>) {
  const {options, root, env, redactor, rules, loaded, sandboxControl, sandbox, mainAgent, sessionFolder, store, state} =
    before;
  const skillFolders = before.found.prompts.filter(({kind}) => kind === 'skill').map(({folder}) => folder);
  const questions = new Questions();
  const denials: Denial[] = [];
  const policy = new PermissionPolicy(
    options.permissionMode ?? (loaded.isPlan ? 'plan' : mainAgent?.permissionMode) ?? 'default',
    rules,
    {
      ownFolders: () => [sessionFolder(), ...skillFolders],
      ...getZoneFolders(options.home),
    },
  );
  const extraRoots = [
    ...(options.addDirs ?? []).map((folder) => getExistingFolder(folder, root)),
    ...loaded.directories,
  ];
  const workspace: Workspace = {
    root,
    extraRoots,
    cwd: root,
    get confinement() {
      return policy.getConfinement(mainAgent?.readOnly ? 'read-only' : sandboxControl.confinement);
    },
    get seen() {
      return [...store.getReadablePlaces(state.conversation.id), ...skillFolders];
    },
    env,
  };
  const workplace = {root, env, processes: new ProcessGroups()};
  const getCommon = () => ({
    session_id: state.conversation.id,
    transcript_path: state.conversation.transcript,
    cwd: workspace.cwd,
    permission_mode: policy.mode,
  });
  const ownHooks = {driverHooks: options.driverHooks ?? [], mainAgent};
  const hooks = createSessionHooks(loaded, ownHooks, workplace, getCommon, before.emit);
  const permits = {
    beforeCall: hooks.beforeCall,
    answerCall: hooks.answerCall,
    policy,
    questions: options.interactive || options.driverAnswers ? questions : undefined,
    sandbox: createPermissionSandbox(sandbox, loaded.settings.sandbox),
    // Only front ends without a screen read them.
    onDenied: (denial: Denial) => void (options.interactive || denials.push(redactor.values(denial))),
  };
  return {
    ...before,
    questions,
    denials,
    policy,
    workspace,
    extraRoots,
    permits,
    hooks,
    warnings: [...before.warnings, ...hooks.warnings],
  };
}

/** What the session keeps of changed files, and the workers of its runs. */
function addChanges(before: ReturnType<typeof addPermissions>) {
  const changes = {...before, ...createFileChanges(before)};
  return {...changes, remote: createRemoteRuns(changes, changes.checkpoints)};
}

/** The manager of subagents. */
function addManager(before: ReturnType<typeof addChanges>) {
  const {options, root, loaded, rules, env, store, bus, baseTools, state} = before;
  const {settings, trust} = loaded;
  const inbox = new Inbox();
  const toolRules = getToolRules(loaded, rules, options.tools);
  const fingerprint = new WorkspaceFingerprint(root);
  const archiveAfterMinutes = options.archiveAfterMinutes ?? settings.subagents?.archiveAfterMinutes ?? 60;
  const rawStream = options.rawStream ?? false;
  const promptContext = readSystemPromptContext(
    {cwd: root, home: options.home, trusts: trust.trusts, sources: options.settingSources},
    options.appendSystemPrompt,
  );
  const verifier = new Verifier({settings: getVerifySettings(settings), fingerprint: () => fingerprint.take()});
  const memory = [...promptContext.memory, ...toolNotes(root, options.home, trust.trusts, options.settingSources)];
  const {workspace, sandboxControl, writeLog, checkpoints, worktrees, permits, summaryModel, budget} = before;
  const manager = new SubagentManager({
    mainAgentId: MAIN,
    inbox,
    bus,
    budget,
    archiveAfterMinutes,
    maxConcurrent: options.maxConcurrent ?? getPoolSizes(settings, env),
    store: store.runStore(() => state.conversation.id),
    fingerprint: () => fingerprint.take(),
    revive: createRevive(before),
    runs: {
      get confinement() {
        return sandboxControl.confinement;
      },
      baseTools,
      workspace,
      writeLog,
      checkpoints,
      worktrees,
      permits,
      rawStream,
      hooks: before.hooks.hooks,
      afterCall: before.hooks.afterCall,
      remote: before.remote,
      createAgentHooks: before.hooks.createAgentHooks,
      getSkill: before.getSkill,
      createToolSource: (agent) => before.mcp.forAgent(agent, toolRules),
      promptContext: {...promptContext, memory},
      clock: options.clock ?? systemClock,
      summaryModel,
      limits: {
        profile: settings.limits?.profile ?? 'standard',
        agents: settings.agents ?? {},
        contextTokens: settings.contextTokens,
      },
      toolRules,
      resultTokens: settings.subagents?.resultTokens ?? 500,
      verifier,
    },
  });
  return {...before, inbox, archiveAfterMinutes, rawStream, promptContext, verifier, manager};
}

/** Finds the agent and the model with which a run of an earlier time goes on. */
function createRevive({agents, baseTools, chooser}: ReturnType<typeof addChanges>): ManagerDeps['revive'] {
  return (record, isLeft) => {
    const found = agents.get(record.agent);
    const gone = `The agent ${record.agent} was deleted`;
    if (!found && !isLeft) throw new MiniCcError('AGENT_GONE', `${gone}: its run cannot go on`);
    const agent = found ?? {name: record.agent, description: '', tools: [], prompt: '', readOnly: false};
    const names = baseTools.map(({name}) => name);
    const narrowed = record.onlyTools ? restrictTools(agent, record.onlyTools, names) : agent;
    const chosen = chooser.choose(narrowed, {model: record.model || undefined, thinking: record.thinking});
    // The model of a run that was left at a worker was chosen when it was sent there.
    const warnings = isLeft ? (found ? [] : [`${gone} meanwhile: this run had it as it was`]) : chosen.warnings;
    return {agent: narrowed, model: chosen.model, warnings};
  };
}

/** The fan-outs, which run through the manager. */
function addFanOuts(before: ReturnType<typeof addManager>) {
  const {options, loaded, baseTools} = before;
  const names = baseTools.map(({name}) => name);
  const fanOutSettings = getFanOutSettings(options, loaded.settings, names);
  return {...before, fanOuts: createFanOuts({...before, fanOutSettings})};
}

function startCleanup({
  store,
  root,
  archiveAfterMinutes,
  loaded,
  firstConversation,
  emit,
}: ReturnType<typeof addFanOuts>) {
  const now = Date.now();
  const retentionDays = loaded.settings.retention?.days ?? 0;
  const what = {folder: store.folder, cwd: root, archiveAfterMinutes, now, retentionDays};
  return runStartUpCleanup({...what, openSession: firstConversation.id}, emit);
}

/** The session's own parts: the main agent's run, the commands, and what it does at its start and its end. */
function createParts(before: ReturnType<typeof addFanOuts>): SessionParts {
  const {options, root, redactor, bus, store, firstConversation, catalog, agents} = before;
  const {questions, denials, worktrees, checkpoints, changes, inbox, manager, state, sandbox} = before;
  const pending = options.which.type === 'new' ? [] : manager.restore(firstConversation.announced);
  const commands = createCommands(before);
  const files = new FileIndex(root, before.env);
  const shell = before.baseTools.find(({name}) => name === 'bash')!;
  const cleanup = startCleanup(before);
  const run = createMainRun(before);
  return {
    agentId: MAIN,
    state,
    bus,
    redactor,
    questions,
    manager,
    agents,
    inbox,
    pending,
    commands,
    denials,
    changes,
    run,
    shell,
    fanOuts: before.fanOuts,
    hooks: before.hooks.hooks,
    listHooks: () => before.hooks.listing,
    mcp: before.mcp,
    info: createSessionInfo({root, run, commands, agents, mcp: before.mcp, warnings: listWarnings(before)}),
    interactive: options.interactive,
    onClose: async () => {
      catalog.close();
      const closing = [before.indexes, before.mcp, before.remote].map((part) => part?.close());
      await Promise.all([cleanup, worktrees.settled(), ...closing]);
      checkpoints.close();
      sandbox.folder.close();
      if (before.temporaryHome !== undefined) removeTemporaryHome(before.temporaryHome);
      await before.telemetry?.close();
    },
    ...createPermissionParts(before),
    sandbox: createSandboxParts(before),
    limits: {contextTokens: before.mainAgent?.contextTokens ?? before.loaded.settings.contextTokens, ...options.limits},
    findFiles: (query) => files.find(query),
    folders: createFolders(before),
    openConversation: (id, takeOver) => openAnother(store, redactor, id, takeOver),
    listSessions: () => store.summaries(),
    resolveModel: before.resolveModel,
    pricesAsOf: PRICES_AS_OF,
    listModels: () => before.resolver.listModels(),
    chooseModel: (agent, asked) => before.chooser.choose(agent, asked),
  };
}

function createMainRun(before: ReturnType<typeof addFanOuts>): SessionParts['run'] {
  const {rules, baseTools, emit, chooser, agents, mainAgent, manager, rawStream, fanOuts} = before;
  const {workspace, permits, checkpoints, writeLog, promptContext, summaryModel, budget, answerSchema} = before;
  const {clock = systemClock, tools: only, systemPrompt} = before.options;
  const onDenied: FanOutToolDeps['onDenied'] = (denial) => permits.onDenied({...denial, agent: MAIN, tool: 'FanOut'});
  const taskTools = createTaskTools({
    agents,
    manager: () => manager,
    fanOuts: () => fanOuts,
    onDenied,
    modelFor: (agent, asked) => chooser.choose(agent, asked),
  });
  // What a rule refuses in any case is not offered: a model would spend turns on it.
  const tools = getMainTools(mainAgent, baseTools, taskTools).filter(
    ({name}) => !rules.forbids(name) && (!only || only.includes(name)),
  );
  const readOnly = mainAgent && {readOnly: mainAgent.readOnly};
  return {
    agentId: MAIN,
    label: MAIN,
    workspace,
    checkpoints,
    emit,
    rawStream,
    clock,
    summaryModel,
    budget,
    tools: letSkillsFork(tools, before.found.prompts),
    background: manager.background,
    afterCall: before.hooks.afterCall,
    moreTools: mainAgent ? before.mcp.forAgent(mainAgent) : before.mcp.forMain(),
    files: createFileLedger(writeLog, MAIN),
    permit: createPermit(permits, MAIN, workspace, emit, readOnly),
    system: `${createSystemPrompt(systemPrompt ?? before.agentPrompt ?? mainPrompt, promptContext)}${answerSchema ? `\n\n${ANSWER_PROMPT}` : ''}`,
    answerSchema,
  };
}
