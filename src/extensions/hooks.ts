/** Runs the hooks of an event in parallel, parses their outputs, and joins them. */
import {z} from 'zod';
import type {Emit} from '../core/contract/events.ts';
import type {HookAnswer, HookCall, HookEvent, HookListing, HookSetting, Hooks} from '../core/contract/hook.ts';
import {getErrorMessage, tryOr} from '../core/util/errors.ts';
import {formatIssues} from '../core/util/problem.ts';
import type {ProcessGroups} from '../sandbox/launch/process-groups.ts';
import {runCollected} from '../sandbox/launch/run-shell.ts';

/** One hook: a command of the settings or a callback of a driver. */
export interface Hook extends HookListing {
  /** Runs the hook. @param input all facts of the event @throws Error when the hook fails, which stops nothing */
  run(
    input: Readonly<Record<string, unknown>>,
    callId: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<HookOutput>;
}

/** The end of a hook of the settings. */
interface HookEnd {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** @param getCommon returns the fields that all events share @param emit emits messages of hooks for the person */
export function createHooks(
  hooks: readonly Hook[],
  getCommon: () => Readonly<Record<string, unknown>>,
  emit: Emit,
): Hooks {
  return {
    listens: (event) => hooks.some((hook) => hook.event === event),
    async run(call, signal) {
      const called = hooks.filter((hook) => hook.event === call.event && isMatching(hook.matcher, call));
      if (called.length === 0) return NOTHING;
      const input = {...getCommon(), hook_event_name: call.event, ...call.input};
      const outputs = await Promise.all(called.map((hook) => runHook(hook, input, call.callId, signal, emit)));
      const inVain = VAIN.includes(call.event) ? outputs.flatMap(({blocked}) => blocked ?? []) : [];
      for (const text of [
        ...outputs.flatMap(({message}) => message ?? []),
        ...inVain.map((why) => `the ${call.event} hook cannot prevent this: ${why}`),
      ]) {
        emit({type: 'notice', level: 'warning', text});
      }
      return join(outputs);
    },
  };
}

const NOTHING: HookAnswer = {context: []};

/** Events at which a hook cannot prevent anything. Its refusal is shown to the person. */
const VAIN: readonly HookEvent[] = ['SessionStart', 'SessionEnd', 'SubagentStart', 'PreCompact', 'Notification'];

/**
 * Tells whether a hook's matcher fits the call. An empty matcher and `*` fit everything. Names separated by `|`, commas
 * or blanks fit each of these names. Anything else is a regular expression.
 */
export function isMatching(matcher: string, {subject, otherNames = []}: HookCall): boolean {
  if (matcher === '' || matcher === '*' || subject === undefined) return true;
  const subjects = [subject, ...otherNames];
  if (/^[\w|,\s-]+$/.test(matcher)) return matcher.split(/[|,\s]+/).some((name) => subjects.includes(name));
  // The settings reported a wrong expression when they were read.
  const pattern = tryOr(() => new RegExp(`^(?:${matcher})$`, 'u'), undefined);
  return subjects.some((each) => pattern?.test(each));
}

async function runHook(
  hook: Hook,
  input: Readonly<Record<string, unknown>>,
  callId: string | undefined,
  signal: AbortSignal | undefined,
  emit: Emit,
): Promise<HookOutput> {
  try {
    return await hook.run(input, callId, signal);
  } catch (error) {
    if (!signal?.aborted) {
      const text = `the ${hook.event} hook ${hook.command} (${hook.from}) failed: ${getErrorMessage(error)}`;
      emit({type: 'notice', level: 'warning', text});
    }
    return {};
  }
}

/** Interprets the end of a hook of the settings. @throws Error when it failed without blocking anything */
function readHookEnd({exitCode, stdout, stderr}: HookEnd, event: HookEvent): HookOutput {
  if (exitCode === 2) return {blocked: stderr.trim() || 'a hook refused it without a reason'};
  if (exitCode !== 0)
    throw new Error(`exit code ${exitCode}${stderr.trim() ? `: ${stderr.trim().split('\n')[0]}` : ''}`);
  const text = stdout.trim();
  if (text.startsWith('{')) return readHookOutput(JSON.parse(text), event);
  // Other output goes to the model at these two events, and is dropped at all others.
  return text !== '' && (event === 'UserPromptSubmit' || event === 'SessionStart') ? {context: text} : {};
}

function join(outputs: readonly HookOutput[]): HookAnswer {
  const find = <K extends keyof HookOutput>(key: K) => outputs.find((output) => output[key] !== undefined)?.[key];
  const asked =
    outputs.find(({permission}) => permission === 'ask') ?? outputs.find(({permission}) => permission === 'allow');
  return {
    blocked: find('blocked'),
    stops: find('stops'),
    permission: asked?.permission,
    because: asked?.because,
    input: find('input'),
    context: outputs.flatMap(({context}) => context ?? []),
  };
}

export interface HookWorkplace {
  /** Working directory of the session, in which the hook starts. */
  readonly root: string;
  /** Environment variables without keys. */
  readonly env: Readonly<Record<string, string>>;
  readonly processes: ProcessGroups;
}

export function createCommandHook(setting: HookSetting, {root, env, processes}: HookWorkplace): Hook {
  const {event, command, timeoutSeconds} = setting;
  return {
    ...setting,
    async run(input, _callId, signal) {
      const end = await runCollected({
        command,
        cwd: root,
        processes,
        signal,
        timeoutMs: timeoutSeconds * 1000,
        env: {...env, CLAUDE_PROJECT_DIR: root, MINI_CC_PROJECT_DIR: root},
        input: `${JSON.stringify(input)}\n`,
      });
      if (end.ended === 'start') throw new Error(end.stderr);
      if (end.ended === 'timeout') throw new Error(`it took longer than ${timeoutSeconds} s`);
      if (end.ended === 'abort') return {};
      return readHookEnd({...end, exitCode: end.exitCode ?? 1}, event);
    },
  };
}

/** The parsed output of one hook. */
interface HookOutput extends Partial<Omit<HookAnswer, 'context'>> {
  readonly context?: string | undefined;
  /** Text for the person. */
  readonly message?: string | undefined;
}

const inputSchema = z.record(z.string(), z.unknown());

const outputSchema = z.looseObject({
  continue: z.boolean().optional(),
  stopReason: z.string().optional(),
  systemMessage: z.string().optional(),
  decision: z.enum(['approve', 'allow', 'block', 'deny', 'ask']).optional(),
  reason: z.string().optional(),
  hookSpecificOutput: z
    .looseObject({
      permissionDecision: z.enum(['allow', 'deny', 'ask', 'defer']).optional(),
      permissionDecisionReason: z.string().optional(),
      updatedInput: inputSchema.optional(),
      additionalContext: z.string().optional(),
      /** Decision of a PermissionRequest hook. */
      decision: z
        .looseObject({
          behavior: z.enum(['allow', 'deny']),
          message: z.string().optional(),
          updatedInput: inputSchema.optional(),
        })
        .optional(),
    })
    .optional(),
});

/** @throws Error when the output has another shape */
export function readHookOutput(value: unknown, event: HookEvent): HookOutput {
  const parsed = outputSchema.safeParse(value);
  if (!parsed.success) {
    throw new Error(`its output cannot be read: ${formatIssues(parsed.error)}`);
  }
  const {continue: goesOn, stopReason, systemMessage, decision, reason, hookSpecificOutput: more = {}} = parsed.data;
  const {behavior, message} = more.decision ?? {};
  const said = more.permissionDecision ?? behavior ?? decision;
  const because = more.permissionDecisionReason ?? message ?? reason;
  const input = more.updatedInput ?? more.decision?.updatedInput;
  const permission = said === 'approve' || said === 'allow' ? 'allow' : said === 'ask' ? 'ask' : undefined;
  return {
    blocked: said === 'deny' || said === 'block' ? (because ?? `a ${event} hook refused it`) : undefined,
    permission,
    because: permission && because,
    stops: goesOn === false ? (stopReason ?? `a ${event} hook stopped it`) : undefined,
    input,
    context: more.additionalContext,
    message: systemMessage,
  };
}
