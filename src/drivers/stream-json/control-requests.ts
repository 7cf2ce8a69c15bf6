/** Handles the requests of a driver besides prompts. Each control request becomes a request of the session. */
import {z} from 'zod';
import {PERMISSION_MODES, type PermissionMode} from '../../core/contract/events.ts';
import type {McpEntries, McpServerState} from '../../core/contract/mcp.ts';
import type {RestoredFiles, Session} from '../../core/contract/session-requests.ts';
import {ANY_MODES, readMode} from '../../core/permissions/foreign-modes.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import {formatIssues} from '../../core/util/problem.ts';
import type {ControlRequest} from './lines.ts';

interface ControlContext {
  readonly session: Session;
  /** True when mini-cc was started with the flag that lets the driver turn all questions off. */
  readonly mayBypass: boolean;
  /** The model that the session began with. */
  readonly firstModel: string;
  /** Ends the running turn. @returns the ids of prompts that still wait */
  interrupt(): readonly string[];
  /**
   * Takes a message from an MCP server in the driver's process.
   * @throws MiniCcError when that server is not connected
   */
  receive(server: string, message: object): void;
  /** Returns the rewind point of a prompt that the driver sent. @param messageId the id that the driver gave */
  findPoint(messageId: string): string | undefined;
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
  set_permission_mode: handler({mode: z.enum(ANY_MODES)}, async ({mode: name}, context) => {
    const {mode, sandboxMode} = readMode(name);
    setMode(mode!, context);
    if (sandboxMode) await context.session.request({type: 'set_sandbox', mode: sandboxMode});
    return {mode: name};
  }),
  set_max_thinking_tokens: handler(
    {max_thinking_tokens: z.int().min(0).nullish()},
    ({max_thinking_tokens: tokens}, {session}) => {
      session.request({type: 'set_thinking', ...(typeof tokens === 'number' && {thinkingTokens: tokens})});
    },
  ),
  apply_flag_settings: handler({settings: z.record(z.string(), z.unknown())}, applyFlagSettings),
  get_context_usage: handler({}, async (_, {session}) => {
    const {model, limit, parts} = await session.request({type: 'context'});
    const totalTokens = parts.reduce((sum, {tokens}) => sum + tokens, 0);
    const percentage = Math.round((100 * totalTokens) / limit);
    return {
      model,
      totalTokens,
      maxTokens: limit,
      percentage,
      categories: parts.map(({name, tokens}) => ({name, tokens})),
    };
  }),
  stop_task: handler({task_id: z.string()}, async ({task_id: run}, {session}) => {
    await session.request({type: 'stop_runs', run});
  }),
  rewind_files: handler(
    {user_message_id: z.string(), dry_run: z.boolean().optional()},
    async ({user_message_id: id, dry_run: isDryRun = false}, {session, findPoint}) => {
      const to = findPoint(id);
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

function setMode(mode: PermissionMode, {session, mayBypass}: ControlContext): void {
  if (mode === 'bypassPermissions' && !mayBypass) {
    throw new MiniCcError('NOT_ALLOWED', 'bypassPermissions needs --allow-dangerously-skip-permissions at the start');
  }
  session.request({type: 'set_permission_mode', mode});
}

/** Settings that can change while a session runs. Null restores the value from the start. */
const flagSettings = z.strictObject({
  model: z.string().nullish(),
  thinking: z.enum(['off', 'low', 'medium', 'high']).nullish(),
  permissions: z
    .strictObject({
      allow: z.array(z.string()).optional(),
      ask: z.array(z.string()).optional(),
      deny: z.array(z.string()).optional(),
      defaultMode: z.enum(PERMISSION_MODES).optional(),
    })
    .nullish(),
});

/** Applies the settings in the order of `flagSettings`. When one fails, the settings before it stay applied. */
function applyFlagSettings({settings}: {settings: Record<string, unknown>}, context: ControlContext): void {
  const parsed = flagSettings.safeParse(settings);
  if (!parsed.success) {
    const names = Object.keys(flagSettings.shape).join(', ');
    const problem = formatIssues(parsed.error);
    throw new MiniCcError(
      'BAD_REQUEST',
      `${problem}. While a session lasts ${names} can change; others need --settings`,
    );
  }
  const {session, firstModel} = context;
  const {model, thinking, permissions} = parsed.data;
  if (model !== undefined) session.request({type: 'set_model', model: model ?? firstModel});
  if (thinking !== undefined) session.request({type: 'set_thinking', ...(thinking && {thinking})});
  if (permissions !== undefined) {
    const {defaultMode, ...rules} = permissions ?? {};
    session.request({type: 'set_rules', ...rules});
    if (defaultMode) setMode(defaultMode, context);
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
