/** Runs the hooks of an event in parallel, parses their outputs, and joins them. */
import {randomUUID} from 'node:crypto';
import {setTimeout as delay} from 'node:timers/promises';
import {z} from 'zod';
import type {Emit} from '../core/contract/events.ts';
import type {
  HookAnswer,
  HookCall,
  HookEvent,
  HookListing,
  HookSetting,
  Hooks,
  LateHooks,
} from '../core/contract/hook.ts';
import {PLUGIN_ROOT} from '../core/contract/plugin.ts';
import {inBackground, neverRejects} from '../core/util/background.ts';
import {getErrorMessage, tryOr} from '../core/util/errors.ts';
import {formatIssues} from '../core/util/problem.ts';
import type {ProcessGroups} from '../sandbox/launch/process-groups.ts';
import {runCollected} from '../sandbox/launch/run-shell.ts';

/** One hook: a command or an address of the settings, or a callback of a driver. */
export interface Hook extends HookListing, Pick<HookSetting, 'if' | 'isAsync'> {
  /** Runs the hook. @param input all facts of the event @throws Error when the hook fails, which stops nothing */
  run(
    input: Readonly<Record<string, unknown>>,
    callId: string | undefined,
    signals: HookSignals,
  ): Promise<HookOutput | LateOutput>;
}

/** The signals that end a hook: that of the turn while the turn waits for it, and later that of the session. */
interface HookSignals {
  readonly turn: AbortSignal | undefined;
  readonly session: AbortSignal;
}

/** The hook said that the turn need not wait for it. */
interface LateOutput {
  readonly late: Promise<HookOutput>;
}

/** The end of a hook of the settings. */
interface HookEnd {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Hooks at work for which no turn waits. One for a session. */
export class HooksAtWork implements LateHooks {
  readonly #ended = new AbortController();
  readonly #outputs = new Set<Promise<unknown>>();
  #listener: Parameters<LateHooks['onContext']>[0] = () => undefined;

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  onContext(listener: Parameters<LateHooks['onContext']>[0]): void {
    this.#listener = listener;
  }

  add(event: HookEvent, output: Promise<HookOutput>, show: (output: HookOutput) => void): void {
    const taken = output
      .then((given) => {
        if (this.#ended.signal.aborted) return;
        show(given);
        if (given.context !== undefined) this.#listener(event, given.context);
      })
      .finally(() => this.#outputs.delete(taken));
    this.#outputs.add(taken);
    inBackground(taken, neverRejects);
  }

  async close(maxMs: number): Promise<void> {
    if (this.#outputs.size > 0) await Promise.race([Promise.all(this.#outputs), delay(maxMs, undefined, {ref: false})]);
    this.#ended.abort();
    await Promise.all(this.#outputs);
  }
}

/**
 * @param getCommon returns the fields that all events share
 * @param emit emits messages of hooks for the person
 * @param beforeRun is waited for before hooks run: they may change files
 */
export function createHooks(
  hooks: readonly Hook[],
  getCommon: () => Readonly<Record<string, unknown>>,
  emit: Emit,
  late: HooksAtWork = new HooksAtWork(),
  beforeRun: () => Promise<void> = async () => undefined,
): Hooks {
  const show = ({message}: HookOutput) => {
    if (message !== undefined) emit({type: 'notice', level: 'warning', text: message});
  };
  return {
    late,
    listens: (event) => hooks.some((hook) => hook.event === event),
    async run(call, signal) {
      const meant = hooks.filter((hook) => hook.event === call.event && isMatching(hook.matcher, call));
      const fits = await Promise.all(meant.map((hook) => hook.if === undefined || call.isAbout?.(hook.if)));
      const called = meant.filter((_, index) => fits[index]);
      if (called.length === 0) return NOTHING;
      await beforeRun();
      const input = {...getCommon(), hook_event_name: call.event, ...call.input};
      const signals = {turn: signal, session: late.signal};
      const ended = await Promise.all(
        called.map((hook): LateOutput | Promise<HookOutput | LateOutput> => {
          const output = runHook(hook, input, call.callId, signals, emit);
          return hook.isAsync ? {late: output.then((given) => given.late ?? given)} : output;
        }),
      );
      const outputs = ended.flatMap((each) => {
        if (!each.late) return [each];
        late.add(call.event, each.late, show);
        return [];
      });
      const inVain = VAIN.includes(call.event) ? outputs.flatMap(({blocked}) => blocked ?? []) : [];
      outputs.forEach(show);
      for (const why of inVain) {
        show({message: `the ${call.event} hook cannot prevent this: ${why}`});
      }
      return join(outputs);
    },
  };
}

const NOTHING: HookAnswer = {context: []};

/** Events at which a hook cannot prevent anything. Its refusal is shown to the person. */
const VAIN: readonly HookEvent[] = [
  'SessionStart',
  'SessionEnd',
  'SubagentStart',
  'PreCompact',
  'PostCompact',
  'Notification',
];

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
  signals: HookSignals,
  emit: Emit,
): Promise<HookOutput | LateOutput> {
  // The turn does not end a hook that runs in the background.
  const used = hook.isAsync ? {turn: undefined, session: signals.session} : signals;
  const told = {hook_id: randomUUID(), hook_name: formatHookName(hook), hook_event: hook.event};
  const failed = (error: unknown): HookOutput => {
    if (!(used.turn ?? used.session).aborted) {
      const text = `the ${hook.event} hook ${hook.command} (${hook.from}) failed: ${getErrorMessage(error)}`;
      emit({type: 'notice', level: 'warning', text});
    }
    emit({type: 'hook', ...told, outcome: 'error', output: getErrorMessage(error)});
    return {};
  };
  emit({type: 'hook', ...told});
  try {
    const output = await hook.run(input, callId, used);
    if (output.late) return {late: output.late.catch(failed)};
    emit({type: 'hook', ...told, outcome: 'success', output: output.message ?? ''});
    return output;
  } catch (error) {
    return failed(error);
  }
}

function formatHookName({event, matcher}: HookListing): string {
  return matcher === '' ? event : `${event}:${matcher}`;
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
    toolOutput: find('toolOutput'),
    mcpToolOutput: find('mcpToolOutput'),
    context: outputs.flatMap(({context}) => context ?? []),
  };
}

export interface HookWorkplace {
  /** Working directory of the session, in which the hook starts. */
  readonly root: string;
  /** Environment variables without keys. */
  readonly env: Readonly<Record<string, string>>;
  readonly processes: ProcessGroups;
  /** Sends an event to an address. @throws Error when it may not be reached, or fails */
  readonly post: (request: HookPost) => Promise<string>;
}

interface HookPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export function createSettingsHook(setting: HookSetting, workplace: HookWorkplace): Hook {
  return {...setting, run: setting.isHttp ? createHttpRun(setting, workplace) : createCommandRun(setting, workplace)};
}

function createHttpRun(setting: HookSetting, {env, post}: HookWorkplace): Hook['run'] {
  const {event, command: url, timeoutSeconds, headers = {}, headerVariables = []} = setting;
  const fill = (value: string) =>
    value.replace(/\$\{(\w+)\}|\$(\w+)/g, (_, a?: string, b?: string) => {
      const name = a ?? b ?? '';
      return headerVariables.includes(name) ? (env[name] ?? '') : '';
    });
  return async (input, _callId, {turn, session}) => {
    const stdout = await post({
      url,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)])),
      body: JSON.stringify(input),
      timeoutMs: timeoutSeconds * 1000,
      signal: turn ?? session,
    });
    return readHookEnd({exitCode: 0, stdout, stderr: ''}, event);
  };
}

/** The first line of a hook that is at work but need not be waited for. */
const SAYS_ASYNC = /^\s*\{[^{}]*"async"\s*:\s*true[^{}]*\}/;

function createCommandRun(setting: HookSetting, {root, env, processes}: HookWorkplace): Hook['run'] {
  const {event, command, timeoutSeconds, pluginRoot} = setting;
  const ofPlugin = pluginRoot === undefined ? {} : {[PLUGIN_ROOT]: pluginRoot};
  return async (input, _callId, {turn, session}) => {
    const said = Promise.withResolvers<'late'>();
    // The turn no longer ends the hook once it has said that the turn need not wait.
    const ending = new AbortController();
    const onTurnEnd = () => ending.abort(turn?.reason);
    turn?.addEventListener('abort', onTurnEnd, {once: true});
    if (turn?.aborted) onTurnEnd();
    const output = runCollected({
      command,
      cwd: root,
      processes,
      signal: AbortSignal.any([ending.signal, session]),
      timeoutMs: timeoutSeconds * 1000,
      env: {...env, CLAUDE_PROJECT_DIR: root, MINI_CC_PROJECT_DIR: root, ...ofPlugin},
      input: `${JSON.stringify(input)}\n`,
      onStdout: (text) => {
        if (SAYS_ASYNC.test(text)) said.resolve('late');
      },
    }).then((end) => {
      if (end.ended === 'start') throw new Error(end.stderr);
      if (end.ended === 'timeout') throw new Error(`it took longer than ${timeoutSeconds} s`);
      if (end.ended === 'abort') return {};
      return readHookEnd({...end, stdout: end.stdout.replace(SAYS_ASYNC, ''), exitCode: end.exitCode ?? 1}, event);
    });
    const first = await Promise.race([output, said.promise]).finally(() =>
      turn?.removeEventListener('abort', onTurnEnd),
    );
    return first === 'late' ? {late: output} : first;
  };
}

/** The parsed output of one hook. */
interface HookOutput extends Partial<Omit<HookAnswer, 'context'>> {
  readonly late?: undefined;
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
      updatedToolOutput: z.unknown().optional(),
      updatedMCPToolOutput: z.unknown().optional(),
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
    toolOutput: more.updatedToolOutput,
    mcpToolOutput: more.updatedMCPToolOutput,
    message: systemMessage,
  };
}
