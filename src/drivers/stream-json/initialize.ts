/** Parses the first request of a driver, whose options complete those of the command line. */
import {z} from 'zod';
import type {ForeignWord, SessionInfo} from '../../core/contract/events.ts';
import {HOOK_EVENTS, type HookEvent} from '../../core/contract/hook.ts';
import {isObject} from '../../core/util/objects.ts';
import {type Hook, readHookOutput} from '../../extensions/hooks.ts';
import type {DriverServers} from '../../extensions/mcp/driver-transport.ts';

/** Leaves out what is null, and hooks of events that mini-cc does not have, whatever their shape. */
function takeKnown(request: unknown): unknown {
  if (!isObject(request)) return request;
  const given = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== null));
  if (!isObject(given.hooks)) return given;
  const hooks = Object.entries(given.hooks).map(([event, groups]) => [event, isHookEvent(event) ? groups : []]);
  return {...given, hooks: Object.fromEntries(hooks)};
}

const fields = z.looseObject({
  /** A list is joined to one prompt. An empty prompt is none. */
  systemPrompt: z.union([z.string(), z.array(z.string())]).optional(),
  appendSystemPrompt: z.string().optional(),
  /** How to work in plan mode. */
  planModeInstructions: z.string().optional(),
  agents: z.record(z.string(), z.looseObject({})).optional(),
  jsonSchema: z.looseObject({}).optional(),
  /** Names of the only skills for the main agent. */
  skills: z.union([z.array(z.string()), z.literal('all')]).optional(),
  /** Folders of plugins for this session. */
  plugins: z.array(z.looseObject({path: z.string().optional()})).optional(),
  hooks: z
    .record(
      z.string(),
      z.array(
        z.looseObject({
          matcher: z.string().nullish(),
          hookCallbackIds: z.array(z.string()),
          timeout: z.number().positive().nullish(),
        }),
      ),
    )
    .nullish(),
  /** Names of MCP servers in the driver's process. */
  sdkMcpServers: z.array(z.string()).optional(),
  sdkMcpServerManifests: z.record(z.string(), z.unknown()).optional(),
  mcpServers: z.record(z.string(), z.looseObject({})).optional(),
});

export const initializeSchema = z.preprocess(takeKnown, fields);

export type Initialize = Readonly<Partial<z.infer<typeof fields>>>;

/** Asks the driver to call one of its hooks. @returns the output of the hook as JSON */
export type CallHook = (
  callbackId: string,
  input: Readonly<Record<string, unknown>>,
  callId: string | undefined,
  signal: AbortSignal,
) => Promise<unknown>;

/** Converts the request to options of a session. A hook whose event mini-cc does not have is a warning. */
export function toSessionOptions(
  {systemPrompt, appendSystemPrompt, planModeInstructions, agents, hooks, jsonSchema, ...given}: Initialize,
  callHook: CallHook,
  driverServers: DriverServers,
) {
  const {mcpServers, skills, plugins} = given;
  const forPlans = planModeInstructions && `In plan mode, work like this:\n${planModeInstructions}`;
  const appended = [appendSystemPrompt, forPlans].filter((text) => text).join('\n\n');
  const prompt = Array.isArray(systemPrompt) ? systemPrompt.join('\n\n') : systemPrompt;
  return {
    ...(prompt?.trim() && {systemPrompt: prompt}),
    ...(appended && {appendSystemPrompt: appended}),
    ...(jsonSchema && {jsonSchema: JSON.stringify(jsonSchema)}),
    ...(skills && skills !== 'all' && {skills}),
    ...(plugins && {pluginDirs: plugins.flatMap(({path}) => path ?? [])}),
    driverServers,
    ...(mcpServers && {mcpServers}),
    ...(agents && {agentsJson: JSON.stringify(agents)}),
    ...(hooks && {
      driverHooks: Object.entries(hooks).flatMap(([event, groups]) => createHooks(event, groups, callHook)),
    }),
    foreignWords: [
      ...Object.keys(hooks ?? {}).flatMap((name) => (isHookEvent(name) ? [] : [missingEvent(name)])),
      ...(plugins ?? []).flatMap((plugin) => (plugin.path === undefined ? [missingKind(plugin)] : [])),
    ],
  };
}

function isHookEvent(name: string): name is HookEvent {
  return HOOK_EVENTS.some((each) => each === name);
}

function missingEvent(name: string): ForeignWord {
  return {
    kind: 'event',
    name,
    text: `initialize.hooks: mini-cc has no event ${name}, so that its hooks are not called`,
  };
}

function missingKind(plugin: object): ForeignWord {
  const text = `initialize.plugins: ${JSON.stringify(plugin)} names no folder, so that it is not used`;
  return {kind: 'key', name: 'plugins', text};
}

const DEFAULT_TIMEOUT_S = 60;

function createHooks(name: string, groups: NonNullable<Initialize['hooks']>[string], callHook: CallHook): Hook[] {
  if (!isHookEvent(name)) return [];
  const event = name;
  return groups.flatMap(({matcher, hookCallbackIds, timeout}) =>
    hookCallbackIds.map((id) => ({
      event,
      matcher: matcher ?? '',
      command: id,
      from: 'driver',
      async run(input, callId, {turn, session}) {
        const limit = AbortSignal.timeout(1000 * (timeout ?? DEFAULT_TIMEOUT_S));
        return readHookOutput(await callHook(id, input, callId, AbortSignal.any([turn ?? session, limit])), event);
      },
    })),
  );
}

/** Returns the part of the answer to `initialize` that does not depend on the request. */
export function describeSession({commands, model}: SessionInfo) {
  return {
    commands: commands.map(({name, description, argumentHint = ''}) => ({name, description, argumentHint})),
    output_style: 'default',
    available_output_styles: ['default'],
    models: [{value: model, displayName: model, description: ''}],
    account: {},
  };
}
