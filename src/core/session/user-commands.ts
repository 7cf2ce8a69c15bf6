/**
 * Runs shell commands that the user types outside the turns: the tool bash without a question and without a sandbox.
 */
import {randomUUID} from 'node:crypto';
import type {Emit} from '../contract/events.ts';
import type {Attempt, Workspace} from '../contract/permission.ts';
import type {ToolResult} from '../contract/results.ts';
import type {CommandOutput} from '../contract/session-requests.ts';
import type {ToolContext} from '../contract/tool.ts';
import {describeInBackground} from '../runs/progress-line.ts';
import {createRunCalls} from '../tool-calls.ts';
import {runInForeground} from '../turn/foreground-call.ts';
import {getErrorMessage, MiniCcError} from '../util/errors.ts';
import {getText} from '../util/messages.ts';
import {toShortLine} from '../util/text.ts';
import {errorResult, WatchedOutput} from '../util/tool-output.ts';
import type {SessionParts} from './parts.ts';
import {createMainRun} from './turns.ts';

const MAX_TITLE_CHARS = 80;
/** Seconds. The user ends a command earlier by Esc. */
const MAX_SECONDS = 3600;

/**
 * `checkpoint` lets git refresh its index, as in any terminal. No checkpoint is made, because the tool runs directly:
 * no agent is responsible for the user's changes.
 */
const AS_USER: Attempt = {launch: 'plain', checkpoint: true};

/**
 * Creates the function that runs a command. It never rejects: errors are in the output. The user and the agent have
 * separate workspaces, so that the `cd` of one does not move the other.
 */
export function createUserShell(
  parts: SessionParts,
  emit: Emit,
): (command: string, signal: AbortSignal) => Promise<CommandOutput> {
  const {root, env} = parts.run.workspace;
  const workspace: Workspace = {root, extraRoots: [], cwd: root, confinement: 'none', env};
  return async (command, signal) => {
    const {cwd} = workspace;
    const callId = `user_${randomUUID()}`;
    const startedAt = performance.now();
    const about = {callId, tool: '!', byUser: true} as const;
    emit({type: 'tool_start', title: command, ...about});
    // A command that ends in the background must not change the user's folder, so it gets a copy of the workspace.
    const own = {...workspace};
    const result = await runShell(command, parts, {callId, emit, workspace: own, signal});
    const isDetached = result.background === 'starts';
    if (!isDetached) workspace.cwd = own.cwd;
    const output = getText(result.content ?? '');
    const isError = result.isError ?? false;
    emit({type: 'tool_end', isError, preview: '', durationMs: performance.now() - startedAt, ...about});
    parts.inbox.put({
      id: callId,
      kind: 'companion',
      label: `!${command}`,
      startsTurn: false,
      content: `The user ran a command in the terminal, in ${cwd}:\n$ ${command}\n\n${output}`,
    });
    return {
      output: isDetached ? describeInBackground({agent: 'bash', description: command}) : output,
      succeeded: !isError,
    };
  };
}

async function runShell(
  command: string,
  parts: SessionParts,
  call: Pick<ToolContext, 'callId' | 'emit' | 'workspace' | 'signal'>,
): Promise<ToolResult> {
  const run = createMainRun(parts, call.signal);
  const {agentId, files, output: store} = run;
  const output = new WatchedOutput(store);
  const context: ToolContext = {
    ...call,
    agentId,
    files,
    output,
    places: [],
    attempt: AS_USER,
    outlivesTurn: true,
    ask: () => Promise.reject(new MiniCcError('UNSUPPORTED', 'The shell asks no model.')),
    runCalls: createRunCalls(run, call.signal),
  };
  try {
    const {background} = parts.manager;
    const about = {callId: call.callId, tool: 'bash', title: toShortLine(command, MAX_TITLE_CHARS), input: {command}};
    return await runInForeground(about, {background, emit: call.emit, output, signal: call.signal}, (more) =>
      parts.shell.run({command, timeout_seconds: MAX_SECONDS}, {...context, ...more}),
    );
  } catch (error) {
    return errorResult(getErrorMessage(error));
  }
}
