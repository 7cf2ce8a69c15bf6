/**
 * Connects settings, models, tools and agents to a session; no other folder does this. `composeParts` creates the parts
 * in order: each names those that it needs, and needs none that is created later.
 */
import {randomUUID} from 'node:crypto';
import type {Session} from '../core/contract/session-requests.ts';
import type {FanOuts} from '../core/fan-out/fan-outs.ts';
import {answerServer} from '../core/session/answer-server.ts';
import type {OuterRequests, SessionParts} from '../core/session/parts.ts';
import {createSession} from '../core/session.ts';
import {createAgents} from './agents.ts';
import {createCommands, createReviewDeps} from './commands.ts';
import {createFanOuts} from './fan-out.ts';
import {createFileChanges} from './file-changes.ts';
import {watchLiveSession} from './live-session.ts';
import {createGetSystem, createMainRun} from './main-run.ts';
import {createModels} from './models.ts';
import {createModelResolver, type SessionOptions} from './options.ts';
import {createFolders, createPermissionParts, createPermissionRequests, createPermissions} from './permissions.ts';
import {MAIN, openProject, openRecords} from './project.ts';
import {type ComposedParts, createRuns} from './runs.ts';
import {createSandboxRequests} from './sandbox-control.ts';
import {createSessionInfo, listExtensions, listForeignWords, listWarnings} from './session-info.ts';
import {openAnother} from './sessions.ts';
import {runStartUpCleanup} from './start-up-cleanup.ts';
import {createStatusLine} from './status-line.ts';
import {createTools} from './tools.ts';

/** @throws UsageError for settings, names or ids that are wrong */
export async function compose(options: SessionOptions): Promise<Session> {
  const parts = await composeParts(options);
  let stopWatching: (() => void) | undefined;
  const onClose = () => {
    stopWatching?.();
    return parts.onClose();
  };
  const session = createSession({...parts, onClose});
  const {home, env} = options;
  stopWatching = watchLiveSession({home, env, session, bus: parts.bus});
  return session;
}

/**
 * Creates the parts of which `compose` makes a session. @throws UsageError for settings, names or ids that are wrong
 */
export async function composeParts(options: SessionOptions): Promise<SessionParts> {
  return (await composeAll(options)).parts;
}

/** Creates the parts, and what they are made of, for a subcommand that works beside the session. */
export async function composeAll(options: SessionOptions): Promise<{parts: SessionParts; composed: ComposedParts}> {
  const project = await openProject(options);
  const records = await openRecords(project);
  const resolver = createModelResolver(project.options, project.settings, project.redactor);
  const tools = await createTools(project, records, resolver);
  const agents = await createAgents(project, records, tools);
  const models = await createModels(project, records, resolver, agents.mainAgent);
  const changes = createFileChanges(project, records, models.state);
  const permissions = createPermissions({project, records, tools, agents, models, changes});
  const runs = createRuns({project, records, tools, agents, models, permissions, changes});
  const composed = {project, records, tools, agents, models, permissions, changes, runs};
  const parts = await createParts(composed, createFanOuts(composed));
  tools.sampling.complete = (prompt, signal) => answerServer(parts, prompt, signal);
  if (options.interactive) agents.catalog.watch();
  return {parts, composed};
}

/** Creates the session's own parts: the main agent's run, the commands, and the work at its start and its end. */
async function createParts(composed: ComposedParts, fanOuts: FanOuts): Promise<SessionParts> {
  const {project, records, tools, agents, models, permissions, changes, runs} = composed;
  const {options, root, redactor, settings} = project;
  const {store} = records;
  const {hooks} = permissions;
  const initialPrompt = agents.mainAgent?.initialPrompt;
  if (initialPrompt !== undefined && options.which.type === 'new') {
    const label = `the initial prompt of ${agents.mainAgent?.name}`;
    runs.inbox.put({id: randomUUID(), kind: 'companion', content: initialPrompt, label, startsTurn: false});
  }
  const pending = options.which.type === 'new' ? [] : runs.manager.restore(records.firstConversation.announced);
  const commands = createCommands(project, records, tools, agents, () => createReviewDeps(composed), composeAll);
  const run = createMainRun(composed, fanOuts);
  const warnings = await listWarnings(composed, fanOuts);
  return {
    agentId: MAIN,
    state: models.state,
    bus: records.bus,
    redactor,
    questions: permissions.questions,
    manager: runs.manager,
    agents: agents.agents,
    inbox: runs.inbox,
    pending,
    commands,
    changes: changes.changes,
    run,
    getSystem: createGetSystem(composed),
    shell: tools.baseTools.find(({name}) => name === 'bash')!,
    fanOuts,
    hooks: hooks.hooks,
    mcp: tools.mcp,
    info: createSessionInfo({
      root,
      run,
      commands,
      agents: agents.agents,
      mcp: tools.mcp,
      ...listExtensions(composed),
      warnings,
      foreignWords: redactor.values(listForeignWords(composed)),
    }),
    interactive: options.interactive,
    onClose: createClose(composed),
    ...createPermissionParts(permissions),
    requests: createRequests(composed),
    limits: {contextTokens: agents.mainAgent?.contextTokens ?? settings.contextTokens, ...options.limits},
    runStatusLine: createStatusLine(settings.statusLine?.command, root, permissions.workspace.env, tools.processes),
    folders: createFolders(project, tools, permissions),
    openConversation: (id, takeOver) => openAnother(store, {redactor, settings}, id, takeOver),
    listSessions: (withText) => store.summaries(withText),
    resolveModel: models.resolveModel,
    pricesAsOf: models.pricesAsOf,
    chooseModel: (agent, asked) => models.chooser.choose(agent, asked),
  };
}

function createRequests({tools, models, permissions}: ComposedParts): OuterRequests {
  return {
    ...createPermissionRequests(permissions),
    ...createSandboxRequests(tools.sandboxControl, permissions),
    find_files: ({query}) => tools.files.find(query),
    models: () => models.resolver.listModels(),
  };
}

/** Starts to clean up after earlier sessions. @returns a function that ends the session */
function createClose({project, records, tools, agents, changes, runs}: ComposedParts): () => Promise<void> {
  const {store, firstConversation, emit} = records;
  const cleanup = runStartUpCleanup(
    project.options.home,
    {
      folder: store.folder,
      cwd: project.root,
      archiveAfterMinutes: runs.archiveAfterMinutes,
      now: Date.now(),
      retentionDays: project.settings.retention?.days ?? 0,
      openSession: firstConversation.id,
    },
    emit,
  );
  return async () => {
    agents.catalog.close();
    const closing = [tools.indexes, tools.mcp, runs.remote].map((part) => part.close());
    await Promise.all([cleanup, changes.worktrees.settled(), ...closing]);
    changes.checkpoints.close();
    tools.processes.close();
    tools.sandbox.folder.close();
    await records.close();
  };
}
