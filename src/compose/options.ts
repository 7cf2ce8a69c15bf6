/** Defines the options of a session, and creates the parts that depend only on them and the settings. */

import {homedir} from 'node:os';
import {isModelConfigured} from '../config/environment.ts';
import type {SettingSource} from '../config/layers.ts';
import {type LoadedSettings, loadSettings, type Settings, type SettingsOptions} from '../config/settings.ts';
import type {AgentDefinition} from '../core/agent-types.ts';
import type {Answer, ForeignWord, PermissionMode, Question} from '../core/contract/events.ts';
import type {FanOutMode} from '../core/contract/fan-out.ts';
import type {McpEntries} from '../core/contract/mcp.ts';
import type {Thinking} from '../core/contract/model.ts';
import type {Trusts} from '../core/contract/permission.ts';
import type {Clock, Limits} from '../core/contract/results.ts';
import type {EditorFiles, ReserveAbove} from '../core/contract/tool.ts';
import type {PoolSizes} from '../core/runs/pool.ts';
import {getKnownSecrets, withoutModelKeys} from '../core/secrets/known-secrets.ts';
import {Redactor} from '../core/secrets/redaction.ts';
import {EventBus} from '../core/session/event-bus.ts';
import {systemClock} from '../core/turn/run-limits.ts';
import {UsageError} from '../core/util/errors.ts';
import {withoutUndefined} from '../core/util/objects.ts';
import {getCommandSearchPath} from '../core/util/programs.ts';
import type {TrialHost} from '../evals/trials.ts';
import type {Hook} from '../extensions/hooks.ts';
import type {DriverServers} from '../extensions/mcp/driver-transport.ts';
import {type ChosenModel, ModelChooser} from '../models/choose.ts';
import {type LocalServer, measureLocalCapacity, offerLocalServer} from '../models/local-servers.ts';
import {PriceList} from '../models/prices.ts';
import {DEFAULT_PROVIDER, Providers} from '../models/providers.ts';
import {ModelResolver, OFFLINE_NAME} from '../models/resolve.ts';
import {OfflineModel} from '../offline-model/model.ts';
import {DebugLog} from '../storage/debug-log.ts';
import type {CachedTree} from '../storage/worktrees/tree-cache.ts';
import {ALL_TOOLS} from './known-tools.ts';

export interface SessionOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `~/.mini-cc`, or the value of `MINI_CC_HOME`. */
  readonly home: string;
  /** Whether a person can be asked. Otherwise every call that needs a question is refused. */
  readonly interactive: boolean;
  readonly driverHooks?: readonly Hook[];
  /** `--mcp-config`: files, or JSON. */
  readonly mcpConfig?: readonly string[];
  /** `--plugin-dir`: folders of plugins for this session. */
  readonly pluginDirs?: readonly string[];
  /** `--strict-mcp-config`: use only the MCP servers of `mcpConfig` and of the driver. */
  readonly strictMcpConfig?: boolean;
  /** MCP servers that the driver names, as entries of `.mcp.json`. */
  readonly mcpServers?: McpEntries;
  /** MCP servers in the driver's own process. */
  readonly driverServers?: DriverServers;
  /** Whether a program drives the session and answers questions about calls. No person types then. */
  readonly driverAnswers?: boolean;
  /**
   * How that program answers what agents and MCP servers ask besides: each call of the asking tools as a whole, or each
   * question to its person. Default: not at all.
   */
  readonly driverIsAsked?: 'calls' | 'questions';
  /** True when a program imported mini-cc, so that it has no flags and gives keys itself. */
  readonly isLibrary?: true;
  /** The editor that drives the session, when it reads files for agents. */
  readonly editor?: EditorFiles | undefined;
  readonly which:
    | {readonly type: 'new'; readonly id?: string}
    | {readonly type: 'continue'}
    | {readonly type: 'resume'; readonly id: string}
    /** The person chooses a session. */
    | {readonly type: 'choose'};
  /** `--fork-session`: continue with a copy, in a new session with this id. Default: a new id. */
  readonly fork?: {readonly id?: string};
  readonly model?: string;
  /** `--fallback-model`: replaces the models in the settings. */
  readonly fallback?: readonly string[];
  /** `--effort`. */
  readonly thinking?: Thinking;
  /** `--max-thinking-tokens`. */
  readonly thinkingTokens?: number;
  readonly offline?: boolean;
  readonly permissionMode?: PermissionMode;
  /** Replaces a weaker `sandbox.mode` of the settings. */
  readonly sandboxMode?: 'auto';
  /** Names of other programs on the command line or from the driver that mini-cc does not have. */
  readonly foreignWords?: readonly ForeignWord[];
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly limits?: Partial<Limits>;
  /** `--json-schema`: a file, or JSON. */
  readonly jsonSchema?: string;
  /** US dollars for the session with all of its runs. */
  readonly maxBudgetUsd?: number;
  readonly appendSystemPrompt?: string;
  readonly addDirs?: readonly string[];
  /** `--system-prompt`: replaces the main agent's own prompt. */
  readonly systemPrompt?: string;
  /** `--tools`: agents of the session have no other tools. Default: all. */
  readonly tools?: readonly string[];
  /** `--settings`: a file, or its text. */
  readonly settingsFile?: string;
  /** `--managed-settings`: a file, or its text. */
  readonly managedSettings?: string;
  /** `--permission-prompt-tool mcp__SERVER__TOOL`: the tool of an MCP server that answers questions about calls. */
  readonly answeringTool?: string;
  /** Names of the only skills for the main agent. Default: all. */
  readonly skills?: readonly string[];
  /** `--debug-file`. Default: a file in the home. */
  readonly debugFile?: string;
  /** `--setting-sources`. Default: all. */
  readonly settingSources?: readonly SettingSource[];
  /** `--no-session-persistence`: erase the session's files at its end. */
  readonly isTemporary?: boolean;
  /** `--take-over`: continue a session even if another machine or container locks it. */
  readonly takeOver?: boolean;
  /** `--trust`: trust what the project's files ask for at present, and remember it. */
  readonly trust?: boolean;
  /** Asks the person before there is a session. `withdrawn`: the person left instead. */
  readonly ask?: (question: Question) => Promise<Answer | 'withdrawn'>;
  /** `--agents`: definitions as JSON. */
  readonly agentsJson?: string;
  /** `--agent`: name of the agent that the session runs as. */
  readonly agent?: string;
  readonly rawStream?: boolean;
  /** `--fan-out` */
  readonly fanOut?: FanOutMode;
  readonly debug?: boolean;
  /** Number of subagents that run at a time. Replaces the number in the settings. */
  readonly maxConcurrent?: number;
  /**
   * Replaces the number in the settings. With 0, runs are never archived, so that no timer keeps a program alive that
   * does not close its session.
   */
  readonly archiveAfterMinutes?: number;
  /**
   * Checkout that serves as the workspace and stays unchanged: the changes of each run become a patch in the run's
   * folder.
   */
  readonly cachedTree?: CachedTree;
  /** For a session that works for another one: reserves what calls can cost in that one's budgets. */
  readonly reserveAbove?: ReserveAbove;
  /** Parent of the session's spans, as a W3C `traceparent`. */
  readonly traceparent?: string;
  /** Present when the session's runs are trials of evaluations: they work in workspaces of their own. */
  readonly trials?: TrialHost;
  /** Measures all waits and limits. Default: the system's clock. */
  readonly clock?: Clock;
}

/** Returns where the settings of a directory are. @param root the directory @param trusts what its user trusts */
export function getSettingsOptions(
  {
    home,
    settingsFile: explicit,
    managedSettings: managed,
    settingSources: sources,
    driverServers,
  }: Pick<SessionOptions, 'home' | 'settingsFile' | 'managedSettings' | 'settingSources' | 'driverServers'>,
  root: string,
  trusts: Trusts,
): SettingsOptions {
  return {
    home,
    tools: ALL_TOOLS,
    cwd: root,
    userHome: homedir(),
    trusts,
    isDriven: driverServers !== undefined,
    ...withoutUndefined({explicit, managed, sources}),
  };
}

export function readSettings(options: SessionOptions, root: string, trusts: Trusts): LoadedSettings {
  return loadSettings(getSettingsOptions(options, root, trusts));
}

/**
 * Returns the model of the session: from the command line, the agent that it runs as, the environment, or the settings,
 * in this order.
 * @throws UsageError when the name cannot be used. A name that only the agent has is skipped instead, with a warning
 */
export function getMainModel(
  resolver: ModelResolver,
  options: SessionOptions,
  settings: Settings,
  agent: Pick<AgentDefinition, 'name' | 'model' | 'thinking' | 'apiKeyEnv'> | undefined,
): ChosenModel {
  const thinking = options.thinking ?? agent?.thinking;
  checkKey(options, settings);
  const session = resolver.resolve(options.model ?? getModelName(options, settings), {thinking});
  if (!agent || options.model !== undefined) return {model: session, warnings: []};
  const {name, model, apiKeyEnv} = agent;
  return new ModelChooser(resolver, {agents: settings.agents}, () => session, options.env).choose({
    name,
    model,
    thinking,
    apiKeyEnv,
  });
}

/** @throws UsageError when the command line or the environment names a model of the default provider, and no key is set */
function checkKey(options: SessionOptions, settings: Settings): void {
  const name = (options.model ?? options.env.ANTHROPIC_MODEL)?.replace(`${DEFAULT_PROVIDER}/`, '');
  if (!name || name.trim() === OFFLINE_NAME || name.includes('/') || !isOfflineByDefault(options, settings)) return;
  throw new UsageError(
    options.isLibrary
      ? `the model ${name} needs a key: pass it as apiKey, since the library does not read ANTHROPIC_API_KEY from the environment`
      : `the model ${name} needs ANTHROPIC_API_KEY, which is not set: export ANTHROPIC_API_KEY=…, or --offline for the built-in model`,
  );
}

/** The command line wins over the environment, and the environment over the settings. Undefined means the default. */
export function getModelName(options: SessionOptions, settings: Settings): string | undefined {
  return options.model ?? (options.env.ANTHROPIC_MODEL || settings.model);
}

/** Whether no model is configured, and the built-in model was not asked for. */
export function isOfflineByDefault({env, offline = false}: SessionOptions, settings: Settings): boolean {
  return !offline && !isModelConfigured(env, settings);
}

export function createPriceList(
  {env}: Pick<SessionOptions, 'env'>,
  {pricing = {}, providers = {}}: Settings,
): PriceList {
  return new PriceList(pricing, new Providers(providers, env).defaultName);
}

export function createModelResolver(options: SessionOptions, settings: Settings, redactor: Redactor): ModelResolver {
  const maxOutputTokens = settings.maxOutputTokens ?? 16_384;
  return new ModelResolver({
    redactor,
    env: options.env,
    providers: settings.providers,
    fallback: options.fallback ?? settings.fallback,
    thinking: options.thinking ?? settings.thinking,
    thinkingTokens: options.thinkingTokens,
    offline: options.offline ?? false,
    offlineByDefault: isOfflineByDefault(options, settings),
    offlineModel: new OfflineModel({maxOutputTokens, contextWindow: settings.contextWindow?.offline}),
    clock: options.clock ?? systemClock,
    pauseSeconds: options.interactive ? Number.POSITIVE_INFINITY : (settings.retry?.pauseSeconds ?? 0),
    maxWaitSeconds: settings.retry?.maxWaitSeconds ?? (options.interactive ? 300 : 120),
    replyLimits: {
      idleSeconds: settings.limits?.idleSeconds ?? 120,
      thinkingSeconds: settings.limits?.thinkingSeconds ?? 600,
    },
    maxOutputTokens,
    contextWindows: settings.contextWindow ?? {},
    prices: createPriceList(options, settings),
  });
}

/** @param keyNames variables that contain keys of mini-cc according to the settings @param root working directory */
export function createSecrets(
  {env, home}: Pick<SessionOptions, 'env' | 'home'>,
  keyNames: readonly string[],
  root: string,
  {settings: {subagents, providers = {}} = {}, hooks = []}: Partial<Pick<LoadedSettings, 'settings' | 'hooks'>> = {},
) {
  // The passwords in addresses of the settings are secrets too, and what headers of hooks contain.
  const servers = Object.entries(providers).map(([name, {baseURL}]) => [`providers.${name}.baseURL`, baseURL]);
  const all = {...env, ...Object.fromEntries(servers), 'subagents.queue.url': subagents?.queue?.url};
  const ofHooks = hooks.map(({event, command, headers}) => ({...headers, [`hooks.${event}`]: command}));
  const shown = [root, home, homedir()];
  return {
    redactor: new Redactor([
      ...getKnownSecrets(all, keyNames, shown),
      ...ofHooks.flatMap((each) => getKnownSecrets(each, [], shown)),
    ]),
    /** Environment of tools, without keys of mini-cc. */
    env: withoutModelKeys({...env, ...(env.PATH !== undefined && {PATH: getCommandSearchPath(env)})}, keyNames),
  };
}

export function createBus(options: SessionOptions, redactor: Redactor): EventBus {
  const debugLog = options.debug ? new DebugLog(options.home, redactor, options.debugFile) : undefined;
  const bus = new EventBus((message) => debugLog?.write(`a listener failed: ${message}`), redactor);
  if (debugLog) bus.subscribe((event) => debugLog.event(event));
  return bus;
}

/**
 * Returns the number in the settings. By default it is 8 for hosted models, and the measured capacity, up to 3, for
 * models of a server on this machine.
 */
export function getPoolSizes(settings: Settings, env: SessionOptions['env']): PoolSizes {
  const size = settings.subagents?.maxConcurrent ?? 'auto';
  if (size !== 'auto') return size;
  return ({local, source}) =>
    local && source
      ? {server: source.baseURL, size: () => measureLocalCapacity({baseURL: source.baseURL, env})}
      : {server: source?.baseURL ?? '', size: 8};
}

const OFFLINE_BY_DEFAULT =
  'no API key or server is set: the offline model answers. For a real one: export ANTHROPIC_API_KEY=… (or ANTHROPIC_BASE_URL=… for a server of yours), then start again.';

/** Describes offline use for the user, one line each. @param servers model servers that run on this machine */
export function describeOffline(servers: readonly LocalServer[]): readonly string[] {
  return [OFFLINE_BY_DEFAULT, ...servers.map(offerLocalServer)];
}
