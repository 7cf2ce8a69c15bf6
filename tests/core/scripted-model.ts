/** A model that plays a script: the only thing that tests play. */

import type {
  AssistantBlock,
  Model,
  ModelProgress,
  ModelReply,
  ModelRequest,
  StopReason,
} from '../../src/core/contract/model.ts';
import {ModelError} from '../../src/core/util/errors.ts';
import {NO_USAGE} from '../../src/core/util/messages.ts';

export type Line =
  | {readonly content: readonly AssistantBlock[]; readonly stop?: StopReason; readonly garbled?: Record<string, string>}
  /** Streams the text, then fails. */
  | {readonly fail: ModelError; readonly partial?: string; readonly used?: number}
  /** Streams the text, then waits for the abort. */
  | {readonly hang: true; readonly partial?: string; readonly used?: number};

export function text(words: string): AssistantBlock {
  return {type: 'text', text: words, citations: null};
}

export function call(name: string, input: unknown, id = `toolu_${name}`): AssistantBlock {
  return {type: 'tool_use', id, name, input, caller: {type: 'direct'}};
}

export function say(words: string): Line {
  return {content: [text(words)]};
}

export function calls(...blocks: AssistantBlock[]): Line {
  return {content: blocks, stop: 'tool_use'};
}

export class ScriptedModel implements Model {
  readonly name = 'scripted';
  readonly offline = false;
  readonly local = false;
  /** What was asked, with the messages as they were then. */
  readonly requests: ModelRequest[] = [];

  constructor(private readonly script: readonly Line[] | ((request: ModelRequest, index: number) => Line)) {}

  async reply(request: ModelRequest, onProgress: (progress: ModelProgress) => void): Promise<ModelReply> {
    request.signal.throwIfAborted();
    const index = this.requests.length;
    this.requests.push({...request, messages: structuredClone(request.messages) as ModelRequest['messages']});
    const line = typeof this.script === 'function' ? this.script(request, index) : this.script[index];
    if (!line) throw new ModelError('server', `the script has no line ${index}`, {retryable: false});
    if ('fail' in line || 'hang' in line) {
      const usage = {...NO_USAGE, input_tokens: line.used ?? 0};
      if (line.used) onProgress({type: 'usage', usage, model: this.name});
      if (line.partial) onProgress({type: 'text', text: line.partial});
      if ('fail' in line) throw line.fail;
      await new Promise((_, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason), {once: true});
      });
    }
    if (!('content' in line)) throw new Error('unreachable');
    for (const block of line.content) if (block.type === 'text') onProgress({type: 'text', text: block.text});
    return {
      id: `msg_${index}`,
      content: line.content,
      stopReason: line.stop ?? 'end_turn',
      usage: {input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: 0},
      model: this.name,
      garbledInputs: new Map(Object.entries(line.garbled ?? {})),
    };
  }
}
