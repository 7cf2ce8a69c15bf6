/**
 * Gets ready for the calls of a reply: when the model thinks for some time, when it begins to write a call, and when the
 * part of the call's input is complete that says what it would do. Nothing is decided here: the call is judged when it
 * comes.
 */

import {type EventLoopUtilization, performance} from 'node:perf_hooks';
import type {Checkpoints} from '../contract/checkpoints.ts';
import type {Model, StreamEvent} from '../contract/model.ts';
import type {Permit, Workspace} from '../contract/permission.ts';
import type {Tool} from '../contract/tool.ts';
import {inBackground} from '../util/background.ts';
import {type CallableTools, findCalled} from './prepared-call.ts';

interface ComingCaller extends CallableTools {
  readonly workspace: Workspace;
  readonly checkpoints: Checkpoints;
  readonly permit: Permit;
  readonly model: Pick<Model, 'offline'>;
}

/**
 * Milliseconds in which nothing comes from a model that thinks. For one that answers at once nothing gets ready that it may
 * not need.
 */
const THINKING_MS = 15;
/** Share of that time in which mini-cc may be busy. */
const MAX_BUSY = 0.5;
/** Most characters of an input that is read while it comes. A shell that waits takes no longer command. */
const MAX_CHARS = 4_000;

export class ComingCalls {
  #count = 0;
  /** The tool of the call that is written, until its input is read. */
  #tool: Tool | undefined;
  #json = '';
  #hasEnded = false;
  #thinking: NodeJS.Timeout | undefined;

  constructor(private readonly caller: ComingCaller) {}

  /** Must be called when the request is sent. `end` must follow. */
  wait(): void {
    // The offline model does not think, and its calls seldom run a command.
    if (!this.caller.model.offline && !this.#thinking) this.#look(performance.eventLoopUtilization());
  }

  /** @param isReady whether the tools are. The checkpoint follows once mini-cc is idle again, so that a reply finds it free. */
  #look(before: EventLoopUtilization, isReady = false): void {
    this.#thinking = setTimeout(() => {
      const now = performance.eventLoopUtilization();
      // A first request and its reply keep mini-cc itself busy for longer.
      if (performance.eventLoopUtilization(now, before).utilization > MAX_BUSY) return this.#look(now, isReady);
      if (isReady) return this.#prepareCheckpoint();
      for (const tool of this.caller.tools) this.#prepare(tool);
      this.#look(now, true);
    }, THINKING_MS).unref();
  }

  #prepareCheckpoint(): void {
    const {permit, checkpoints, tools} = this.caller;
    if (permit.launchUnasked?.() && tools.some(({kind}) => kind === 'execute')) checkpoints.prepare();
  }

  /** Must be called when the reply has ended or failed. */
  end(): void {
    clearTimeout(this.#thinking);
  }

  take(event: StreamEvent): void {
    this.end();
    if (event.type === 'message_start') {
      // After a failure the model writes its reply anew.
      this.#count = 0;
      this.#hasEnded = false;
    } else if (event.type === 'message_stop') {
      this.#hasEnded = true;
    } else if (event.type === 'content_block_start') {
      this.#tool = undefined;
      if (event.content_block.type === 'tool_use') this.#begin(event.content_block.name);
    } else if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta') {
      this.#read(event.delta.partial_json);
    }
  }

  #begin(name: string): void {
    this.#count += 1;
    this.#json = '';
    this.#tool = findCalled(name, this.caller);
    if (this.#tool) this.#prepare(this.#tool);
  }

  #prepare(tool: Tool): void {
    const {permit, workspace} = this.caller;
    tool.prepare?.(workspace, permit.launchUnasked?.());
  }

  #read(piece: string): void {
    const tool = this.#tool;
    if (!tool?.readAhead) return;
    this.#json += piece;
    const input = this.#json.length > MAX_CHARS ? undefined : tool.readAhead(this.#json);
    if (input === undefined && this.#json.length <= MAX_CHARS) return;
    this.#tool = undefined;
    // Calls before this one would see what is got ready, and could change what it depends on.
    if (input === undefined || this.#count > 1) return;
    // What fails here fails again when the call runs, and is reported then.
    inBackground(this.#expect(tool, input), () => undefined);
  }

  async #expect(tool: Tool, input: unknown): Promise<void> {
    const {permit, checkpoints, workspace} = this.caller;
    const attempt = await permit.foresee?.(tool.name, tool.access(input, workspace));
    // Once the reply has ended, hooks may run.
    if (!attempt || this.#hasEnded) return;
    if (attempt.checkpoint) checkpoints.prepare(true);
    tool.expect?.(workspace, attempt);
  }
}
