/**
 * Runs shell commands that the user types outside the turns: the tool bash without a question and without a sandbox.
 */
import {randomUUID} from 'node:crypto';
import type {Emit} from '../contract/events.ts';
import type {Attempt, Workspace} from '../contract/permission.ts';
import type {ToolResult} from '../contract/results.ts';
import type {CommandOutput} from '../contract/session-requests.ts';
import type {ToolContext} from '../contract/tool.ts';
import type {RunAborted} from '../turn/run-ending.ts';
import {getErrorMessage, MiniCcError} from '../util/errors.ts';
import {getText} from '../util/messages.ts';
import {errorResult} from '../util/tool-output.ts';
import type {SessionParts} from './parts.ts';
import {createMainRun} from './turns.ts';

/** Seconds. The user ends a command earlier by Esc. */
const MAX_SECONDS = 3600;

/**
 * `checkpoint` lets git refresh its index, as in any terminal. No checkpoint is made, because the tool runs directly:
 * no agent is responsible for the user's changes.
 */
const AS_USER: Attempt = {launch: 'plain', checkpoint: true};

export class UserCommands {
  readonly #parts: SessionParts;
  readonly #emit: Emit;
  /** The user and the agent have separate workspaces, so that the `cd` of one does not move the other. */
  readonly #workspace: Workspace;
  #abort = new AbortController();

  constructor(parts: SessionParts, emit: Emit) {
    this.#parts = parts;
    this.#emit = emit;
    const {root, env} = parts.run.workspace;
    this.#workspace = {root, extraRoots: [], cwd: root, confinement: 'none', env};
  }

  /** Runs a command. Never rejects: errors are in the output. */
  async run(command: string): Promise<CommandOutput> {
    const {cwd} = this.#workspace;
    const callId = `user_${randomUUID()}`;
    const startedAt = performance.now();
    const about = {callId, tool: '!', byUser: true} as const;
    this.#emit({type: 'tool_start', title: command, ...about});
    const result = await this.#runShell(command, callId);
    const output = getText(result.content ?? '');
    const isError = result.isError ?? false;
    this.#emit({type: 'tool_end', isError, preview: '', durationMs: performance.now() - startedAt, ...about});
    this.#parts.inbox.put({
      id: callId,
      kind: 'companion',
      label: `!${command}`,
      startsTurn: false,
      content: `The user ran a command in the terminal, in ${cwd}:\n$ ${command}\n\n${output}`,
    });
    return {output, succeeded: !isError};
  }

  async #runShell(command: string, callId: string): Promise<ToolResult> {
    const {signal} = this.#abort;
    const {agentId, files, output} = createMainRun(this.#parts, signal);
    const context: ToolContext = {
      agentId,
      callId,
      signal,
      files,
      output,
      emit: this.#emit,
      places: [],
      workspace: this.#workspace,
      attempt: AS_USER,
      outlivesTurn: true,
      ask: () => Promise.reject(new MiniCcError('UNSUPPORTED', 'The shell asks no model.')),
    };
    try {
      return await this.#parts.shell.run({command, timeout_seconds: MAX_SECONDS}, context);
    } catch (error) {
      return errorResult(getErrorMessage(error));
    }
  }

  /** Ends the commands at work. Later commands are not affected. */
  abort(why: RunAborted): void {
    this.#abort.abort(why);
    this.#abort = new AbortController();
  }
}
