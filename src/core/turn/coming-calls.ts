/**
 * Gets ready for the calls of a reply while the model writes them: for each when it begins, and once more when the part of
 * its input is complete that says what it would do. Nothing is decided here, and a call that comes otherwise uses nothing of it.
 */

import type {Checkpoints} from '../contract/checkpoints.ts';
import type {StreamEvent} from '../contract/model.ts';
import type {Permit, Workspace} from '../contract/permission.ts';
import type {Tool} from '../contract/tool.ts';
import {inBackground} from '../util/background.ts';
import {type CallableTools, findCalled} from './prepared-call.ts';

interface ComingCaller extends CallableTools {
  readonly workspace: Workspace;
  readonly checkpoints: Checkpoints;
  readonly permit: Permit;
}

/** Most characters of an input that is read while it comes. */
const MAX_CHARS = 8_000;

export class ComingCalls {
  #count = 0;
  /** The tool of the call that is written, until its input is read. */
  #tool: Tool | undefined;
  #json = '';

  constructor(private readonly caller: ComingCaller) {}

  take(event: StreamEvent): void {
    if (event.type === 'content_block_start') {
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
    const {permit, checkpoints, workspace} = this.caller;
    const launch = permit.launchUnasked?.();
    // A checkpoint takes the longest time, and other programs do most of its work.
    if (this.#tool?.kind === 'execute' && launch) checkpoints.prepare();
    this.#tool?.prepare?.(workspace, launch);
  }

  #read(piece: string): void {
    const tool = this.#tool;
    if (!tool?.readAhead) return;
    this.#json += piece;
    const input = this.#json.length > MAX_CHARS ? undefined : tool.readAhead(this.#json);
    if (input === undefined && this.#json.length <= MAX_CHARS) return;
    this.#tool = undefined;
    // What fails here fails again when the call runs, and is reported then.
    if (input !== undefined) inBackground(this.#expect(tool, input, this.#count === 1), () => undefined);
  }

  async #expect(tool: Tool, input: unknown, isFirst: boolean): Promise<void> {
    const {permit, checkpoints, workspace} = this.caller;
    const attempt = await permit.foresee?.(tool.name, tool.access(input, workspace));
    if (!attempt) return;
    if (attempt.checkpoint) checkpoints.prepare(isFirst);
    tool.expect?.(workspace, attempt);
  }
}
