/** Defines the tool `bash`, which runs a command in the directory in which the agent's last command ended. */
import {statSync} from 'node:fs';
import {z} from 'zod';
import type {Workspace} from '../../core/contract/permission.ts';
import type {ToolResult} from '../../core/contract/results.ts';
import type {Tool, ToolContext, TrialContext} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {getRoots} from '../../core/permissions/files/file-zone.ts';
import {RunAborted} from '../../core/turn/run-ending.ts';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {getErrorMessage, tryOr} from '../../core/util/errors.ts';
import {isInside} from '../../core/util/paths.ts';
import {cutEnd} from '../../core/util/text.ts';
import {errorResult} from '../../core/util/tool-output.ts';
import type {Sandbox} from '../../sandbox/index.ts';
import {explainBounds, explainConfinement, type LaunchEnd, Launcher} from '../../sandbox/launch/launch.ts';
import type {ProcessGroups} from '../../sandbox/launch/process-groups.ts';
import type {ShellEnd} from '../../sandbox/launch/run-shell.ts';
import description from './bash.md';
import {LastLines} from './last-lines.ts';
import {OutputCapture} from './output-capture.ts';

const MAX_OUTPUT_CHARS = 30_000;
/** Leaves space for lines about the cut, the exit and the cwd, so that the result is not cut a second time. */
const MAX_RESULT_CHARS = 36_000;
const DEFAULT_TIMEOUT_S = 120;
const MAX_TITLE_CHARS = 80;

// The object is loose, so that a subagent's `background` is refused instead of dropped.
const input = z.looseObject({
  command: z.string().min(1),
  description: z.string().optional(),
  timeout_seconds: z.number().positive().max(3600).optional(),
  unconfined: z.boolean().optional().describe('Outside the sandbox; the user is always asked.'),
});

const mainInput = input.extend({
  background: z
    .boolean()
    .optional()
    .describe(
      "Returns an id (for TaskOutput, TaskStop) and the output's file at once; its end is announced. For servers, watchers, long builds.",
    ),
});

export type BashInput = z.infer<typeof input> & {readonly background?: boolean | undefined};

/**
 * A read-only agent never runs outside of the sandbox, so it is not offered `unconfined`, which has no effect for it.
 */
const readOnlyInput = input.omit({unconfined: true});

export const BASH: ToolFacts = {
  name: 'bash',
  kind: 'execute',
  label: 'Bash',
  claude: {
    name: 'Bash',
    inputs: {
      background: 'run_in_background',
      unconfined: 'dangerouslyDisableSandbox',
      timeout_seconds: {as: 'timeout', factor: 1000},
    },
  },
  replaces: ['BashOutput', 'KillBash', 'KillShell'],
  rulePattern: 'command',
};

/** @param processes shared by all agents, so that everything they started ends with mini-cc */
export function createBash(sandbox: Sandbox, processes: ProcessGroups): Tool<BashInput> {
  const launcher = new Launcher(sandbox, processes);
  let judging: Promise<void> | undefined;
  return {
    ...BASH,
    description,
    input,
    readOnlyInput,
    mainInput,
    isBackground: ({background}) => background === true,
    maxChars: MAX_RESULT_CHARS,
    title: ({command}) => formatTitle(command),
    purpose: ({description}) => description,
    access: ({command, unconfined}) => [{kind: 'run', command, ...(unconfined && {unconfined})}],
    preparesAhead: true,
    prepare(workspace, launch) {
      inBackground(launcher.prepare(workspace, launch), neverRejects);
      // The rules about commands are a module that the first command loads.
      judging ??= import('../../core/permissions/shell/command-judge.ts').then(({prepareToJudge}) => prepareToJudge());
      inBackground(judging, () => undefined);
    },
    readAhead: readCommandAhead,
    expect: (workspace, attempt) => inBackground(launcher.expect(workspace, attempt), neverRejects),
    expectNothing: (workspace) => launcher.expectNothing(workspace),
    findProblem: async (given, context) => findBashProblem(given, context),
    run: (given, context) => runBash(given, context, launcher),
  };
}

/** Matches an input whose first part, the command, is complete. */
const COMMAND_FIRST = /^\s*\{\s*"command"\s*:\s*("(?:[^"\\]|\\.)*")\s*[,}]/s;

function readCommandAhead(json: string): BashInput | undefined {
  const [, text] = COMMAND_FIRST.exec(json) ?? [];
  const command: unknown = text === undefined ? undefined : tryOr(() => JSON.parse(text), undefined);
  return typeof command === 'string' ? {command} : undefined;
}

/** Models also send `background` as text. */
const isInBackground = ({background}: BashInput) => /^true$/i.test(String(background));

function findBashProblem(given: BashInput, {outlivesTurn}: TrialContext): string | undefined {
  if (given.command.includes('\0')) return 'The command has a NUL in it. Nothing was run.';
  return isInBackground(given) && !outlivesTurn
    ? 'Only the main agent can run a command in the background. Nothing was run.'
    : undefined;
}

async function runBash(given: BashInput, context: ToolContext, launcher: Launcher): Promise<ToolResult> {
  const isBackground = isInBackground(given);
  const {workspace, signal} = context;
  const problem = findBashProblem(given, context);
  if (problem !== undefined) return errorResult(problem);
  if (signal.aborted) return errorResult(`${describeInterruption(signal)} before it began. Nothing was run.`);
  const notes: string[] = [];
  if (!isDirectory(workspace.cwd)) notes.push(returnToRoot(workspace, `${workspace.cwd} no longer exists`));

  const seconds = given.timeout_seconds ?? (isBackground ? undefined : DEFAULT_TIMEOUT_S);
  const openFile = () => context.output.open(context.callId);
  const capture = new OutputCapture(MAX_OUTPUT_CHARS, openFile, {keepsAll: isBackground});
  const progress = new LastLines((text) => context.emit({type: 'tool_progress', callId: context.callId, text}));
  let end: LaunchEnd;
  try {
    end = await launcher.run({
      command: given.command,
      attempt: context.attempt,
      mayBegin: context.mayBegin,
      workspace,
      signal,
      timeoutMs: seconds && seconds * 1000,
      onTimed: followToBackground(context, capture),
      outlivesSignal: context.outlivesTurn,
      onText: (text) => progress.push(capture.write(text)),
    });
  } finally {
    progress.stop();
  }

  const output = capture.end();
  notes.push(...end.notes);
  notes.push(...describeMainCheckout(given.command, workspace));
  if (end.ended === 'itself') notes.push(...updateCwd(end, workspace));
  const ending = describeEnd(end, seconds, signal);
  notes.push(...ending);
  const limit = end.ended === 'itself' ? explainConfinement({...end, command: given.command, output}) : undefined;
  if (limit !== undefined) notes.push(limit);
  const bound = explainBounds({...end, output});
  if (bound !== undefined) notes.push(bound);
  const text = [output.replace(/\n+$/, ''), ...notes].filter((part) => part !== '').join('\n');
  return {
    content: text === '' ? '(no output)' : text,
    facts: {
      exitCode: end.exitCode,
      ...(end.ended === 'timeout' && {timedOut: seconds!}),
      ...(limit !== undefined && {stoppedBySandbox: formatTitle(given.command)}),
    },
    ...((end.exitCode !== 0 || end.ended !== 'itself') && {isError: true, showsEnd: true}),
    ...(ending[0] !== undefined && {summary: ending[0]}),
    lines: capture.lines + notes.length,
    ...(limit !== undefined && {confinementHit: true}),
  };
}

/**
 * Keeps the whole output and lifts the limit of time when a person sends the command to the background.
 * @returns gets what lifts the limit
 */
function followToBackground({onBackground}: ToolContext, capture: OutputCapture): (lift: () => void) => void {
  let isDetached = false;
  let liftLimit = (): void => undefined;
  onBackground?.(() => {
    isDetached = true;
    capture.keepAll();
    liftLimit();
  });
  return (lift) => {
    liftLimit = lift;
    if (isDetached) lift();
  };
}

/** Describes why the command ended, unless it succeeded. This is the last line of the result. */
function describeEnd(end: ShellEnd, seconds: number | undefined, signal: AbortSignal): string[] {
  if (end.ended === 'timeout') return [`timed out after ${seconds} s`];
  if (end.ended === 'abort') return [describeInterruption(signal)];
  if (end.killedBy) return [`ended by ${end.killedBy} (exit code ${end.exitCode})`];
  return end.exitCode === 0 ? [] : [`exit code ${end.exitCode}`];
}

function describeInterruption({reason}: AbortSignal): string {
  return reason instanceof RunAborted && reason.reason !== 'user'
    ? `interrupted (${getErrorMessage(reason)})`
    : 'interrupted';
}

/** Sets the agent's cwd to that of the command. @returns a line when that is not possible */
function updateCwd({cwd, lostCwd, isCwdPrivate}: LaunchEnd, workspace: Workspace): string[] {
  if (lostCwd !== undefined) return [returnToRoot(workspace, lostCwd)];
  if (cwd === undefined) return [];
  if (workspace.copyOf && !isInside(cwd, getRoots(workspace))) {
    return [`(cd led out of your worktree, to ${cwd}; cwd is still ${workspace.cwd})`];
  }
  if (isCwdPrivate) return [returnToRoot(workspace, `${cwd} was private to this command`)];
  workspace.cwd = cwd;
  return [];
}

/**
 * In a worktree, a command that names the main checkout finds an empty folder there, or files that it may not change.
 */
function describeMainCheckout(command: string, {copyOf}: Workspace): string[] {
  const [, ...after] = copyOf ? command.split(copyOf.main) : [];
  if (!after.some((text) => !/^[\w.-]/.test(text))) return [];
  return [`(${copyOf!.main} is the main checkout, not your worktree: use relative paths)`];
}

function returnToRoot(workspace: Workspace, why: string): string {
  workspace.cwd = workspace.root;
  return `(${why}; cwd is back at ${workspace.root})`;
}

function isDirectory(path: string): boolean {
  return tryOr(() => statSync(path).isDirectory(), false);
}

function formatTitle(command: string): string {
  const [first = '', ...more] = command.trim().split('\n');
  return cutEnd(more.length > 0 ? `${first} …` : first, MAX_TITLE_CHARS);
}
