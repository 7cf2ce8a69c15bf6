/** Runs the hooks of an event in parallel, and joins their outputs. */
import type {Emit} from '../../core/contract/events.ts';
import type {HookAnswer, HookCall, HookEvent, HookListing, Hooks} from '../../core/contract/hook.ts';
import {getErrorMessage} from '../../core/util/errors.ts';
import {type HookOutput, readHookOutput} from './hook-output.ts';

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
  try {
    const pattern = new RegExp(`^(?:${matcher})$`, 'u');
    return subjects.some((each) => pattern.test(each));
  } catch {
    // The settings reported this when they were read.
    return false;
  }
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
export function readHookEnd({exitCode, stdout, stderr}: HookEnd, event: HookEvent): HookOutput {
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
  const [blocked, stops, input] = [find('blocked'), find('stops'), find('input')];
  const asked =
    outputs.find(({permission}) => permission === 'ask') ?? outputs.find(({permission}) => permission === 'allow');
  return {
    ...(blocked !== undefined && {blocked}),
    ...(stops !== undefined && {stops}),
    ...(asked?.permission && {permission: asked.permission}),
    ...(asked?.because !== undefined && {because: asked.because}),
    ...(input && {input}),
    context: outputs.flatMap(({context}) => context ?? []),
  };
}
