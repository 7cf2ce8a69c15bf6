/** The only wiring: settings + models + tools + agents → a session. */
import {randomUUID} from 'node:crypto';
import {realpathSync} from 'node:fs';
import {homedir} from 'node:os';
import leven from 'leven';
import {commandTable} from './commands/table.ts';
import {isModelConfigured} from './config/environment.ts';
import {type LoadedSettings, loadSettings, type Settings} from './config/settings.ts';
import {readSurroundings} from './config/surroundings.ts';
import {allowedAgents, builtInAgents} from './core/agent-types.ts';
import {announcedRuns} from './core/announcement.ts';
import {MiniCcError, messageOf, UsageError} from './core/errors.ts';
import {EventBus} from './core/event-bus.ts';
import type {PermissionMode} from './core/events.ts';
import {FileLedger, WriteLog} from './core/file-ledger.ts';
import {History} from './core/history.ts';
import {Inbox} from './core/inbox.ts';
import {type Limits, systemClock} from './core/limits.ts';
import type {Message} from './core/messages.ts';
import type {Model} from './core/model.ts';
import {PermissionPolicy} from './core/permissions.ts';
import {createPermit, type Denial} from './core/permit.ts';
import mainPrompt from './core/prompts/main.md';
import {Questions} from './core/questions.ts';
import {Session} from './core/session.ts';
import type {Conversation} from './core/session-parts.ts';
import {SubagentManager} from './core/subagent-manager.ts';
import {systemPrompt} from './core/system-prompt.ts';
import type {Tool, Workspace} from './core/tool.ts';
import {toolName} from './core/tool-names.ts';
import {localCapacity} from './models/local-capacity.ts';
import {ModelResolver} from './models/resolve.ts';
import {createSandbox} from './sandbox/index.ts';
import {DebugLog} from './storage/debug-log.ts';
import {keepHouse} from './storage/housekeeping.ts';
import {SessionStore} from './storage/session-store.ts';
import {messagesOf, readTranscript} from './storage/transcript.ts';
import {WorkspaceFingerprint} from './storage/workspace-fingerprint.ts';
import {createBaseTools, createTaskTools} from './tools/index.ts';

export interface SessionOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `~/.mini-cc`, or what `MINI_CC_HOME` names. */
  readonly home: string;
  /** A person can be asked. Without one, what would be asked is refused. */
  readonly interactive: boolean;
  readonly which:
    | {readonly type: 'new'; readonly id?: string}
    | {readonly type: 'continue'}
    | {readonly type: 'resume'; readonly id: string};
  readonly model?: string;
  readonly offline?: boolean;
  readonly permissionMode?: PermissionMode;
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly limits?: Partial<Limits>;
  readonly appendSystemPrompt?: string;
  readonly addDirs?: readonly string[];
  readonly settingsFile?: string;
  readonly rawStream?: boolean;
  readonly debug?: boolean;
  /** Instead of what the settings say: runs at work at a time. */
  readonly maxConcurrent?: number;
  /** Instead of what the settings say. 0 = never, so that no timer keeps a program alive that forgets to close. */
  readonly archiveAfterMinutes?: number;
}

const MAIN = 'main';
/** Read by mini-cc itself and hidden from the processes that its agents start. */
const KEYS = new Set(['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN']);

/** @throws UsageError for settings, names or ids that are wrong. */
export async function compose(options: SessionOptions): Promise<Session> {
  const root = realpathSync(options.cwd);
  const {settings, warnings} = settingsOf(options, root);
  const resolver = new ModelResolver({
    env: options.env,
    offline: options.offline || !isModelConfigured(options.env),
    retry: {
      maxAttempts: settings.retry?.maxAttempts ?? 5,
      maxWaitSeconds: settings.retry?.maxWaitSeconds ?? (options.interactive ? 300 : 60),
    },
    idleSeconds: settings.limits?.idleSeconds ?? 120,
    maxOutputTokens: settings.maxOutputTokens ?? 16_384,
  });
  const model = resolver.resolve(options.model ?? settings.model);
  const store = new SessionStore(options.home, root);
  const firstConversation = openFirst(store, options);
  const debugLog = options.debug ? new DebugLog(options.home) : undefined;
  const bus = new EventBus((message) => debugLog?.write(`a listener failed: ${message}`));
  if (debugLog) bus.subscribe((event) => debugLog.event(event));

  const workspace: Workspace = {
    root,
    extraRoots: (options.addDirs ?? []).map((folder) => existingFolder(folder, root)),
    cwd: root,
    confinement: 'none',
    env: withoutKeys(options.env),
  };
  const surroundings = readSurroundings(root, options.home, options.appendSystemPrompt);
  const baseTools = createBaseTools(createSandbox({home: homedir(), miniCcHome: options.home}));
  const questions = new Questions();
  const denials: Denial[] = [];
  const policy = new PermissionPolicy(options.permissionMode ?? 'default', rulesOf(options, settings, baseTools), [
    store.folder,
  ]);
  const permits = {
    policy,
    questions: options.interactive ? questions : undefined,
    onDenied: (denial: Denial) => void denials.push(denial),
  };
  const writeLog = new WriteLog();
  const rawStream = options.rawStream ?? false;
  let session: Session | undefined;
  const inbox = new Inbox();
  const runs = store.runStore(() => session?.info.sessionId ?? firstConversation.id);
  const fingerprint = new WorkspaceFingerprint(root);
  const archiveAfterMinutes = options.archiveAfterMinutes ?? settings.subagents?.archiveAfterMinutes ?? 60;
  const agents = allowedAgents(builtInAgents, settings.subagents?.allowAgents ?? ['*']);
  const modelFor = (agent: string, asked: string | undefined) => {
    const name = asked ?? settings.agents?.[agent]?.model ?? settings.subagentModel ?? 'inherit';
    return {model: name === 'inherit' ? (session?.model ?? model) : resolver.resolve(name)};
  };
  const manager = new SubagentManager({
    maxConcurrent: options.maxConcurrent ?? poolSize(settings, model, options.env),
    mainAgentId: MAIN,
    inbox,
    bus,
    store: runs,
    fingerprint: () => fingerprint.take(),
    archiveAfterMinutes,
    revive: (record) => {
      const agent = agents.get(record.agent);
      if (!agent) throw new MiniCcError('AGENT_GONE', `The agent ${record.agent} is gone: its run cannot go on`);
      return {agent, model: resolver.resolve(record.model || undefined)};
    },
    house: {
      ...{baseTools, workspace, surroundings, writeLog, permits, clock: systemClock, rawStream},
      limits: {profile: settings.limits?.profile ?? 'standard', agents: settings.agents ?? {}},
      toolRules: toolRules(settings),
      resultTokens: settings.subagents?.resultTokens ?? 500,
    },
  });
  const announced = announcedRuns(firstConversation.restored);
  const pending = firstConversation.restored.length > 0 ? manager.restore(announced) : [];
  const tools = [...baseTools, ...createTaskTools({agents, manager: () => manager, modelFor})];
  const emit = bus.emitFor(MAIN);
  const commands = commandTable();
  session = new Session({
    agentId: MAIN,
    info: {
      cwd: root,
      tools: tools.map((tool) => tool.name),
      agents: builtInAgents.list().map((agent) => agent.name),
      commands: commands.map(({name, description}) => ({name, description})),
      warnings: model.offline && !options.offline ? [...warnings, OFFLINE_BY_DEFAULT] : warnings,
    },
    bus,
    questions,
    manager,
    inbox,
    pending,
    interactive: options.interactive,
    commands,
    denials,
    permissionMode: () => policy.mode,
    limits: options.limits ?? {},
    firstConversation,
    openConversation: () => openConversation(store, randomUUID(), []),
    resolveModel: (name) => resolver.resolve(name),
    model,
    run: {
      agentId: MAIN,
      tools,
      workspace,
      files: new FileLedger(writeLog, MAIN),
      permit: createPermit(permits, MAIN, workspace, emit),
      emit,
      system: systemPrompt(mainPrompt, surroundings),
      clock: systemClock,
      rawStream,
    },
  });
  // Behind the first prompt: nobody waits for it.
  setImmediate(() => {
    const retentionDays = settings.retention?.days ?? 0;
    const openSession = firstConversation.id;
    try {
      keepHouse({folder: store.folder, archiveAfterMinutes, retentionDays, openSession, now: Date.now()});
    } catch (error) {
      emit({type: 'notice', level: 'warning', text: `old transcripts were not archived: ${messageOf(error)}`});
    }
  }).unref();
  return session;
}

const OFFLINE_BY_DEFAULT =
  'no API key or server is set: the offline model answers. ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL sets one.';

function settingsOf(options: SessionOptions, root: string): LoadedSettings {
  return loadSettings({
    home: options.home,
    cwd: root,
    ...(options.settingsFile === undefined ? {} : {explicit: options.settingsFile}),
  });
}

function openFirst(store: SessionStore, options: SessionOptions): Conversation {
  const {which} = options;
  if (which.type === 'new') {
    if (which.id !== undefined && store.exists(which.id)) {
      throw new UsageError(`Session ${which.id} exists already: go on with it by --resume ${which.id}`);
    }
    return openConversation(store, which.id ?? randomUUID(), []);
  }
  const found = which.type === 'resume' ? store.find(which.id) : store.latest();
  if (!found) throw new UsageError(`There is no session to continue in ${options.cwd}`);
  return openConversation(store, found.id, messagesOf(readTranscript(found.transcript)));
}

function openConversation(store: SessionStore, id: string, restored: readonly Message[]): Conversation {
  const {journal, transcript, output, close} = store.openSession(id);
  const history = new History(journal, restored);
  history.settleOpenCalls('Cut off: mini-cc ended before this call did.');
  return {id, history, output, transcript, restored, close};
}

/** 8 at a hosted model, up to 3 at one on this machine, or what the settings say. */
function poolSize(settings: Settings, model: Model, env: SessionOptions['env']): number | (() => Promise<number>) {
  const size = settings.subagents?.maxConcurrent ?? 'auto';
  if (size !== 'auto') return size;
  return model.local ? () => localCapacity({baseURL: env.ANTHROPIC_BASE_URL ?? '', env}) : 8;
}

function toolRules({subagents}: Settings) {
  const {allow, deny = []} = subagents?.tools ?? {};
  return {deny: deny.map(toolName), ...(allow === undefined ? {} : {allow: allow.map(toolName)})};
}

function rulesOf(options: SessionOptions, settings: Settings, tools: readonly Tool[]) {
  const known = [...tools.map((tool) => tool.name), 'Task'];
  const read = (names: readonly string[], where: string) => new Set(names.map((name) => ruleName(name, known, where)));
  return {
    allowed: read([...(options.allowedTools ?? []), ...(settings.permissions?.allow ?? [])], 'allowed tools'),
    disallowed: read([...(options.disallowedTools ?? []), ...(settings.permissions?.deny ?? [])], 'disallowed tools'),
  };
}

function ruleName(rule: string, known: readonly string[], where: string): string {
  if (rule.includes('('))
    throw new UsageError(`${where}: ${rule}: rules with a pattern are not yet available; name the tool alone`);
  const name = toolName(rule);
  if (known.includes(name)) return name;
  const nearest = known.toSorted((a, b) => leven(name, a) - leven(name, b))[0];
  throw new UsageError(`${where}: there is no tool ${JSON.stringify(rule)} (did you mean ${nearest}?)`);
}

function existingFolder(folder: string, root: string): string {
  try {
    return realpathSync(folder.startsWith('/') ? folder : `${root}/${folder}`);
  } catch (error) {
    throw new UsageError(`--add-dir: no such folder: ${folder}`, {cause: error});
  }
}

function withoutKeys(env: SessionOptions['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && !KEYS.has(entry[0])),
  );
}
