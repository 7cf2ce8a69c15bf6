/** The only wiring: settings + models + tools + agents → a session. */
import {randomUUID} from 'node:crypto';
import {realpathSync} from 'node:fs';
import {homedir} from 'node:os';
import {createCommandTable} from '../commands/table.ts';
import {toolNotes} from '../config/memory-files.ts';
import type {Settings} from '../config/settings.ts';
import {readSurroundings} from '../config/surroundings.ts';
import {allowedAgents, withOnly} from '../core/agent-types.ts';
import type {Workspace} from '../core/contract/access.ts';
import type {Model} from '../core/contract/model.ts';
import type {Denial} from '../core/contract/permission.ts';
import type {Session} from '../core/contract/session.ts';
import {createPermit} from '../core/permissions/decision.ts';
import {PermissionPolicy} from '../core/permissions/policy.ts';
import {Questions} from '../core/permissions/questions.ts';
import mainPrompt from '../core/prompts/main.md';
import {secretPlaces} from '../core/secrets/secret-places.ts';
import {EventBus} from '../core/session/event-bus.ts';
import type {SessionParts, SessionState} from '../core/session/parts.ts';
import {createSession} from '../core/session.ts';
import {SubagentManager} from '../core/subagent-manager.ts';
import {systemClock} from '../core/turn/deadline.ts';
import {createFileLedger, WriteLog} from '../core/turn/file-ledger.ts';
import {Inbox} from '../core/turn/inbox.ts';
import {systemPrompt} from '../core/turn/system-prompt.ts';
import {MiniCcError, UsageError} from '../core/util/errors.ts';
import {measureLocalCapacity} from '../models/local-capacity.ts';
import {DebugLog} from '../storage/debug-log.ts';
import {SessionStore} from '../storage/sessions/session-store.ts';
import {WorkspaceFingerprint} from '../storage/workspace-fingerprint.ts';
import {createBaseTools, createTaskTools, TASK_TOOL_NAMES} from '../tools/index.ts';
import {agentNamed, agentsRoom, brokenAgents, mainTools, openCatalog} from './agents.ts';
import {emptyNotice, openConversation, openFirst} from './conversation.ts';
import {changedFilesOf, checkpointsOf} from './file-changes.ts';
import {modelNameOf, resolverOf, type SessionOptions} from './options.ts';
import {rulesOf, toolRules} from './permissions.ts';
import {confinementOf, sandboxOf} from './sandbox.ts';
import {secretsOf} from './secrets.ts';
import {upkeep} from './start-up-cleanup.ts';
import {settingsTrusted} from './trust.ts';
import {worktreesOf} from './worktrees.ts';

export type {SessionOptions} from './options.ts';

const MAIN = 'main';

/** @throws UsageError for settings, names or ids that are wrong. */
export async function compose(options: SessionOptions): Promise<Session> {
  return createSession(await composeParts(options));
}

/** What `compose` makes a session of. @throws UsageError for settings, names or ids that are wrong. */
export async function composeParts(options: SessionOptions): Promise<SessionParts> {
  const root = realpathSync(options.cwd);
  const loaded = await settingsTrusted(options, root);
  const {settings, warnings, keyNames, trust} = loaded;
  const {redactor, env} = secretsOf(options, keyNames, root);
  const resolver = resolverOf(options, settings, redactor);
  const store = new SessionStore(options.home, root, redactor);
  const firstConversation = openFirst(store, options, redactor);
  const debugLog = options.debug ? new DebugLog(options.home, redactor) : undefined;
  const bus = new EventBus((message) => debugLog?.write(`a listener failed: ${message}`), redactor);
  if (debugLog) bus.subscribe((event) => debugLog.event(event));

  const sandbox = sandboxOf(settings, options.home);
  const {confinement, warning: noSandbox} = await confinementOf(settings, sandbox);
  const {rules, warnings: ruleWarnings} = rulesOf(options, loaded, {folder: store.folder, root, redactor});
  const baseTools = createBaseTools(sandbox, {mayReachPrivate: (host) => rules.namesHost(host)});
  const toolNames = [...baseTools.map((tool) => tool.name), ...TASK_TOOL_NAMES];
  const emit = bus.emitFor(MAIN);
  const catalog = openCatalog(options, {root, settings, trusts: trust.trusts}, toolNames, (text) =>
    emit({type: 'notice', level: 'info', text}),
  );
  const runAs = options.agent === undefined ? undefined : agentNamed(options.agent, catalog);
  const model = resolver.resolve(options.model ?? runAs?.model ?? modelNameOf(options, settings));
  const workspace: Workspace = {
    root,
    extraRoots: (options.addDirs ?? []).map((folder) => existingFolder(folder, root)),
    cwd: root,
    get confinement() {
      return policy.confinementOf(runAs?.readOnly ? 'read-only' : confinement);
    },
    env,
  };
  const surroundings = readSurroundings(
    {cwd: root, home: options.home, trusts: trust.trusts},
    options.appendSystemPrompt,
  );
  const memory = [...surroundings.memory, ...toolNotes(root, options.home, trust.trusts)];
  const state: SessionState = {conversation: firstConversation, model};
  const sessionFolder = () => store.sessionFolder(state.conversation.id);
  const questions = new Questions();
  const denials: Denial[] = [];
  const policy = new PermissionPolicy(options.permissionMode ?? runAs?.permissionMode ?? 'default', rules, {
    ownFolders: () => [sessionFolder()],
    secretPlaces: secretPlaces(homedir(), options.home),
  });
  const permits = {
    policy,
    questions: options.interactive ? questions : undefined,
    sandboxAvailable: async () => (await sandbox.status()).available,
    // Only a script reads them, at its end.
    onDenied: (denial: Denial) => void (options.interactive || denials.push(redactor.values(denial))),
  };
  const writeLog = new WriteLog();
  const checkpoints = checkpointsOf({sessionFolder, root, home: options.home}, redactor, emit);
  const rawStream = options.rawStream ?? false;
  const inbox = new Inbox();
  const runs = store.runStore(() => state.conversation.id);
  const fingerprint = new WorkspaceFingerprint(root);
  const archiveAfterMinutes = options.archiveAfterMinutes ?? settings.subagents?.archiveAfterMinutes ?? 60;
  const agents = allowedAgents(catalog, settings.subagents?.allowAgents ?? ['*']);
  const modelFor = (agent: string, asked: string | undefined) => {
    // The settings' model of an agent is in its definition already.
    const name = asked ?? catalog.get(agent)?.model ?? settings.subagentModel ?? 'inherit';
    return {model: name === 'inherit' ? state.model : resolver.resolve(name)};
  };
  const worktrees = worktreesOf({root, home: options.home, settings, sessionFolder, checkpoints, emit});
  const manager = new SubagentManager({
    maxConcurrent: options.maxConcurrent ?? poolSize(settings, model, env),
    mainAgentId: MAIN,
    inbox,
    bus,
    store: runs,
    fingerprint: () => fingerprint.take(),
    archiveAfterMinutes,
    revive: (record) => {
      const agent = agents.get(record.agent);
      if (!agent) throw new MiniCcError('AGENT_GONE', `The agent ${record.agent} is gone: its run cannot go on`);
      const narrowed = record.onlyTools
        ? withOnly(
            agent,
            record.onlyTools,
            baseTools.map(({name}) => name),
          )
        : agent;
      return {agent: narrowed, model: resolver.resolve(record.model || undefined)};
    },
    house: {
      ...{
        baseTools,
        workspace,
        confinement,
        surroundings: {...surroundings, memory},
        writeLog,
        checkpoints,
        worktrees,
        permits,
        clock: systemClock,
        rawStream,
      },
      limits: {profile: settings.limits?.profile ?? 'standard', agents: settings.agents ?? {}},
      toolRules: toolRules(loaded, rules),
      resultTokens: settings.subagents?.resultTokens ?? 500,
    },
  });
  const pending = options.which.type === 'new' ? [] : manager.restore(firstConversation.announced);
  const taskTools = createTaskTools({agents, manager: () => manager, modelFor});
  // What is refused anyway is not offered: a model would spend turns on it.
  const tools = mainTools(runAs, baseTools, taskTools).filter(({name}) => !rules.forbids(name));
  const commands = createCommandTable(agentsRoom(catalog, root, options.home, toolNames), async () =>
    (await import('./doctor.ts')).examine(options),
  );
  const retentionDays = settings.retention?.days ?? 0;
  const openSession = firstConversation.id;
  const kept = upkeep(
    {folder: store.folder, cwd: root, archiveAfterMinutes, retentionDays, openSession, now: Date.now()},
    emit,
  );
  const parts: SessionParts = {
    agentId: MAIN,
    state,
    info: {
      cwd: root,
      tools: tools.map((tool) => tool.name),
      // Live: an agent that was written just now is there.
      get agents() {
        return agents.list().map((agent) => agent.name);
      },
      commands: commands.map(({name, description}) => ({name, description})),
      warnings: redactor.values([
        ...warnings,
        ...ruleWarnings,
        ...brokenAgents(catalog),
        ...emptyNotice(store, options, firstConversation),
        ...(noSandbox === undefined ? [] : [noSandbox]),
        ...(model.offline && !options.offline ? [OFFLINE_BY_DEFAULT] : []),
      ]),
    },
    bus,
    redactor,
    questions,
    manager,
    agents,
    inbox,
    pending,
    interactive: options.interactive,
    onClose: async () => {
      catalog.close();
      await Promise.all([kept, worktrees.settled()]);
      checkpoints.close();
    },
    commands,
    denials,
    changes: changedFilesOf(checkpoints, root, writeLog),
    permissions: () => ({mode: policy.mode, rules: rules.list(), granted: policy.granted}),
    setPermissionMode: (mode) => {
      policy.mode = mode;
      void questions.recheck();
    },
    limits: options.limits ?? {},
    openConversation: () => openConversation(store, randomUUID(), redactor, () => undefined),
    resolveModel: (name) => resolver.resolve(name),
    run: {
      agentId: MAIN,
      label: MAIN,
      tools,
      workspace,
      files: createFileLedger(writeLog, MAIN),
      checkpoints,
      permit: createPermit(permits, MAIN, workspace, emit, runAs && {readOnly: runAs.readOnly}),
      emit,
      system: systemPrompt(runAs?.prompt ?? mainPrompt, surroundings),
      clock: systemClock,
      rawStream,
    },
  };
  if (options.interactive) catalog.watch();
  return parts;
}

const OFFLINE_BY_DEFAULT =
  'no API key or server is set: the offline model answers. ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL sets one.';

/** 8 at a hosted model, up to 3 at one on this machine, or what the settings say. */
function poolSize(settings: Settings, model: Model, env: SessionOptions['env']): number | (() => Promise<number>) {
  const size = settings.subagents?.maxConcurrent ?? 'auto';
  if (size !== 'auto') return size;
  return model.local ? () => measureLocalCapacity({baseURL: env.ANTHROPIC_BASE_URL ?? '', env}) : 8;
}

function existingFolder(folder: string, root: string): string {
  try {
    return realpathSync(folder.startsWith('/') ? folder : `${root}/${folder}`);
  } catch (error) {
    throw new UsageError(`--add-dir: no such folder: ${folder}`, {cause: error});
  }
}
