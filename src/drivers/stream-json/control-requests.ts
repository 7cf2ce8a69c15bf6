/** Handles the requests of a driver besides prompts. Each control request becomes a request of the session. */
import {z} from 'zod';
import {PERMISSION_MODES, type PermissionMode} from '../../core/contract/events.ts';
import type {RestoredFiles} from '../../core/contract/session-requests.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import {formatIssues} from '../../core/util/problem.ts';
import {type ControlContext, type Handler, handler} from './control-handler.ts';
import {SERVER_HANDLERS} from './driver-servers.ts';
import type {ControlRequest} from './lines.ts';

const none = z.looseObject({});

const HANDLERS: Readonly<Record<string, Handler>> = {
  ...SERVER_HANDLERS,
  interrupt: handler(none, (_, {interrupt}) => ({still_queued: interrupt()})),
  set_model: handler(z.looseObject({model: z.string().nullish()}), ({model}, {session, firstModel}) => {
    session.request({type: 'set_model', model: !model || model === 'default' ? firstModel : model});
    return {};
  }),
  set_permission_mode: handler(z.looseObject({mode: z.enum(PERMISSION_MODES)}), ({mode}, context) => {
    setMode(mode, context);
    return {mode};
  }),
  set_max_thinking_tokens: handler(
    z.looseObject({max_thinking_tokens: z.int().min(0).nullish()}),
    ({max_thinking_tokens: tokens}, {session}) => {
      session.request({type: 'set_thinking', ...(typeof tokens === 'number' && {thinkingTokens: tokens})});
      return {};
    },
  ),
  apply_flag_settings: handler(z.looseObject({settings: z.record(z.string(), z.unknown())}), applyFlagSettings),
  get_context_usage: handler(none, async (_, {session}) => {
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
  stop_task: handler(z.looseObject({task_id: z.string()}), async ({task_id: run}, {session}) => {
    await session.request({type: 'stop_runs', run});
    return {};
  }),
  rewind_files: handler(
    z.looseObject({user_message_id: z.string(), dry_run: z.boolean().optional()}),
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
function applyFlagSettings({settings}: {settings: Record<string, unknown>}, context: ControlContext): object {
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
  return {};
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
export async function answerControlRequest(request: ControlRequest, context: ControlContext): Promise<object> {
  const {subtype} = request;
  if (!Object.hasOwn(HANDLERS, subtype)) {
    throw new MiniCcError('UNSUPPORTED_REQUEST', `Unsupported control request subtype: ${subtype}`);
  }
  return HANDLERS[subtype]!(request, context);
}
