/** Handles the requests of a driver besides prompts. Each control request becomes a request of the session. */
import {z} from 'zod';
import {settingsSchema} from '../../config/schema.ts';
import type {McpEntries, McpServerState} from '../../core/contract/mcp.ts';
import type {RuleKind, RuleTexts} from '../../core/contract/permission.ts';
import type {RestoredFiles, Session} from '../../core/contract/session-requests.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {ANY_MODES, type AnyMode, readMode} from '../../core/permissions/foreign-modes.ts';
import {EFFORTS, toThinking} from '../../core/util/effort.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import {formatIssues} from '../../core/util/problem.ts';
import {describeSession} from './initialize.ts';
import type {ControlRequest} from './lines.ts';
import {describeContext, describeUsage, readSessionFile} from './reports.ts';
import {type PermissionUpdate, toRuleText} from './tool-questions.ts';

interface ControlContext {
  readonly session: Session;
  /** True when mini-cc was started with the flag that lets the driver turn all questions off. */
  readonly mayBypass: boolean;
  /** The model that the session began with. */
  readonly firstModel: string;
  /** Writes a line for the person who reads standard error. */
  warn(line: string): void;
  readonly rules: DriverRules;
  /** When the session began, as `performance.now()`. */
  readonly startedAt: number;
  /** Saves one of the user's own settings. */
  saveSetting(key: string, value: string): Promise<unknown>;
  /** Ends the running turn. @returns the ids of prompts that still wait */
  interrupt(): readonly string[];
  /**
   * Takes a message from an MCP server in the driver's process.
   * @throws MiniCcError when that server is not connected
   */
  receive(server: string, message: object): void;
}

/** Its answer may be nothing. */
type Handler = (request: unknown, context: ControlContext) => unknown;

/** Creates a handler that parses its request. A request that does not fit the shape is answered by an error. */
function handler<S extends z.ZodRawShape>(
  shape: S,
  run: (request: z.infer<z.ZodObject<S>>, context: ControlContext) => unknown,
): Handler {
  const schema = z.looseObject(shape);
  return (request, context) => {
    const parsed = schema.safeParse(request);
    if (!parsed.success) throw new MiniCcError('BAD_REQUEST', formatIssues(parsed.error));
    return run(parsed.data as z.infer<z.ZodObject<S>>, context);
  };
}

/** Milliseconds that `mcp_status` waits for servers that start. */
const STATUS_WAIT_MS = 2_000;

const HANDLERS: Readonly<Record<string, Handler>> = {
  interrupt: handler({}, (_, {interrupt}) => ({still_queued: interrupt()})),
  set_model: handler({model: z.string().nullish()}, ({model}, {session, firstModel}) => {
    session.request({type: 'set_model', model: !model || model === 'default' ? firstModel : model});
  }),
  set_permission_mode: handler({mode: z.enum(ANY_MODES)}, async ({mode}, context) => {
    await setMode(mode, context);
    return {mode};
  }),
  set_max_thinking_tokens: handler(
    {max_thinking_tokens: z.int().min(0).nullish()},
    ({max_thinking_tokens: tokens}, {session}) => {
      session.request({type: 'set_thinking', ...(typeof tokens === 'number' && {thinkingTokens: tokens})});
    },
  ),
  apply_flag_settings: handler({settings: z.record(z.string(), z.unknown())}, applyFlagSettings),
  get_context_usage: handler({}, (_, {session}) => describeContext(session)),
  get_usage: handler({}, (_, {session, startedAt}) => describeUsage(session, startedAt)),
  read_file: handler(
    {
      path: z.string(),
      max_bytes: z.int().positive().nullish(),
      encoding: z.enum(['utf-8', 'base64']).nullish(),
    },
    (request, {session}) => readSessionFile(session, request),
  ),
  reload_plugins: handler({}, (_, {session}) => ({
    commands: describeSession(session.info).commands,
    agents: session.request({type: 'agents'}),
    plugins: session.info.plugins ?? [],
    mcpServers: session.request({type: 'mcp_servers'}).map(toStatus),
    error_count: 0,
  })),
  update_settings: handler(
    {source: z.string(), settings: z.strictObject({effortLevel: z.enum(EFFORTS)})},
    async ({settings: {effortLevel}}, {saveSetting}) => {
      await saveSetting('thinking', toThinking(effortLevel));
    },
  ),
  background_tasks: handler({tool_use_id: z.string().nullish()}, ({tool_use_id: callId}, {session}) => {
    const run = callId ? session.request({type: 'runs'}).find((each) => each.callId === callId)?.runId : undefined;
    if (callId && run === undefined) return {backgrounded: false};
    return {backgrounded: session.request({type: 'detach_runs', ...(run !== undefined && {run})}).length > 0};
  }),
  stop_task: handler({task_id: z.string()}, async ({task_id: run}, {session}) => {
    await session.request({type: 'stop_runs', run});
  }),
  rewind_files: handler(
    {user_message_id: z.string(), dry_run: z.boolean().optional()},
    async ({user_message_id: id, dry_run: isDryRun = false}, {session}) => {
      const to = session.request({type: 'rewind_points'}).find(({messageId}) => messageId === id)?.uuid;
      if (to === undefined) throw new MiniCcError('NO_SUCH_MESSAGE', `no message of this session has the id ${id}`);
      if (isDryRun) {
        const planned = await session.request({type: 'rewind_files', to});
        return {canRewind: true, filesChanged: Object.values(planned).flat()};
      }
      const {files} = await session.request({type: 'rewind', to, what: 'files'});
      return describeRestored(files);
    },
  ),
  mcp_status: handler({}, async (_, {session}) => {
    // A driver that asks for the state needs the servers, so they are started.
    const started = session.request({type: 'start_mcp_servers'});
    await Promise.race([started, new Promise((resolve) => setTimeout(resolve, STATUS_WAIT_MS))]);
    return {mcpServers: session.request({type: 'mcp_servers'}).map(toStatus)};
  }),
  mcp_set_servers: handler({servers: z.record(z.string(), z.unknown())}, ({servers}, {session}) =>
    session.request({type: 'set_mcp_servers', servers: servers as McpEntries}),
  ),
  mcp_read_resource: handler({serverName: z.string(), uri: z.string()}, ({serverName: server, uri}, {session}) =>
    session.request({type: 'read_mcp_resource', server, uri}),
  ),
  mcp_reconnect: handler({serverName: z.string()}, async ({serverName: server}, {session}) => {
    await session.request({type: 'reconnect_mcp_server', server});
  }),
  mcp_toggle: handler(
    {serverName: z.string(), enabled: z.boolean()},
    async ({serverName: server, enabled}, {session}) => {
      await session.request({type: 'enable_mcp_server', server, enabled});
    },
  ),
  mcp_message: handler(
    {server_name: z.string(), message: z.looseObject({})},
    ({server_name: server, message}, {receive}) => {
      receive(server, message);
    },
  ),
};

async function setMode(
  name: AnyMode,
  {session, mayBypass}: Pick<ControlContext, 'session' | 'mayBypass'>,
): Promise<void> {
  const {mode, sandboxMode} = readMode(name);
  if (mode === 'bypassPermissions' && !mayBypass) {
    throw new MiniCcError('NOT_ALLOWED', 'bypassPermissions needs --allow-dangerously-skip-permissions at the start');
  }
  session.request({type: 'set_permission_mode', mode: mode!});
  if (sandboxMode) await session.request({type: 'set_sandbox', mode: sandboxMode});
}

/** The rules that a driver has set for this session. */
export class DriverRules {
  #fromSettings: RuleTexts = {};
  #fromAnswers: RuleTexts = {};

  constructor(
    private readonly session: Session,
    private readonly tools: readonly ToolFacts[],
  ) {}

  /** Replaces the rules of the settings. @throws MiniCcError `RULE` */
  set(rules: RuleTexts): void {
    this.#apply(rules, this.#fromAnswers);
  }

  /** Makes the changes that an answer brings. @throws MiniCcError, UsageError for a wrong rule, folder or mode */
  async update(update: PermissionUpdate, context: Pick<ControlContext, 'session' | 'mayBypass'>): Promise<void> {
    if (update.type === 'setMode') return setMode(update.mode, context);
    if (update.type === 'addDirectories') {
      for (const folder of update.directories) this.session.request({type: 'add_folder', folder});
      return;
    }
    const {behavior, type} = update;
    const texts = update.rules.map((rule) => toRuleText(rule, this.tools));
    const before = this.#fromAnswers[behavior] ?? [];
    const kept = type === 'replaceRules' ? [] : before.filter((text) => !texts.includes(text));
    this.#apply(this.#fromSettings, {
      ...this.#fromAnswers,
      [behavior]: type === 'removeRules' ? kept : [...kept, ...texts],
    });
  }

  #apply(fromSettings: RuleTexts, fromAnswers: RuleTexts): void {
    const join = (kind: RuleKind) => [...(fromSettings[kind] ?? []), ...(fromAnswers[kind] ?? [])];
    this.session.request({type: 'set_rules', deny: join('deny'), ask: join('ask'), allow: join('allow')});
    this.#fromSettings = fromSettings;
    this.#fromAnswers = fromAnswers;
  }
}

/** Settings that can change while a session runs. Null restores the value from the start. */
const flagSettings = z.object({
  model: z.string().nullish(),
  thinking: z.enum(['off', 'low', 'medium', 'high']).nullish(),
  effortLevel: z.enum(EFFORTS).nullish(),
  permissions: z
    .strictObject({
      allow: z.array(z.string()).optional(),
      ask: z.array(z.string()).optional(),
      deny: z.array(z.string()).optional(),
      defaultMode: z.enum(ANY_MODES).optional(),
    })
    .nullish(),
});

/** A key that narrows what a session may do is never left out. */
const RESTRICTS = /permission|sandbox|deny|disallow|managed|disable|restrict/i;

/** Applies the settings in the order of `flagSettings`. When one fails, the settings before it stay applied. */
async function applyFlagSettings(
  {settings}: {settings: Record<string, unknown>},
  context: ControlContext,
): Promise<void> {
  const parsed = flagSettings.safeParse(settings);
  const names = Object.keys(flagSettings.shape);
  const unknown = Object.keys(settings).filter((key) => !names.includes(key));
  // What mini-cc has under this name must not seem to count.
  const held = unknown.find((key) => RESTRICTS.test(key) || Object.hasOwn(settingsSchema.shape, key));
  if (!parsed.success || held !== undefined) {
    const problem = parsed.success ? `Unrecognized key: "${held}"` : formatIssues(parsed.error);
    throw new MiniCcError(
      'BAD_REQUEST',
      `${problem}. While a session lasts ${names.join(', ')} can change; others need --settings`,
    );
  }
  for (const key of unknown) context.warn(`apply_flag_settings: ${key} has no effect while a session lasts`);
  const {session, firstModel, rules: driverRules} = context;
  const {model, thinking, effortLevel, permissions} = parsed.data;
  if (model !== undefined) session.request({type: 'set_model', model: model ?? firstModel});
  const level = effortLevel && toThinking(effortLevel);
  const asked = thinking === undefined ? level : thinking;
  if (asked !== undefined) session.request({type: 'set_thinking', ...(asked && {thinking: asked})});
  if (permissions !== undefined) {
    const {defaultMode, ...rules} = permissions ?? {};
    driverRules.set(rules);
    if (defaultMode) await setMode(defaultMode, context);
  }
}

/** Converts the state of a server. The protocol has no status for a server that is not approved. */
function toStatus({name, status, problem, version, tools, from}: McpServerState) {
  return {
    name,
    status: status === 'not-approved' ? 'disabled' : status,
    scope: from,
    ...(problem !== undefined && {error: problem}),
    ...(version !== undefined && {serverInfo: toServerInfo(version)}),
    tools: tools.map((tool) => ({name: tool.name, description: tool.description})),
  };
}

function toServerInfo(version: string) {
  const at = version.lastIndexOf(' ');
  return at < 0 ? {name: version, version: ''} : {name: version.slice(0, at), version: version.slice(at + 1)};
}

function describeRestored(files: RestoredFiles | undefined) {
  const left = files?.left.map(({path, why}) => `${path}: ${why}`) ?? [];
  return {
    canRewind: true,
    filesChanged: files?.restored.map(({path}) => path) ?? [],
    ...(left.length > 0 && {error: `left as they are: ${left.join('; ')}`}),
  };
}

/** @throws MiniCcError `UNSUPPORTED_REQUEST` when the subtype is unknown */
export async function answerControlRequest(request: ControlRequest, context: ControlContext): Promise<unknown> {
  const {subtype} = request;
  if (!Object.hasOwn(HANDLERS, subtype)) {
    throw new MiniCcError('UNSUPPORTED_REQUEST', `Unsupported control request subtype: ${subtype}`);
  }
  return HANDLERS[subtype]!(request, context);
}
