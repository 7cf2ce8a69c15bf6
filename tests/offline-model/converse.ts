/** Talks to the offline model until it ends its turn. */
import type {Anthropic} from '@anthropic-ai/sdk';
import type {ModelProgress, ModelReply, ModelRequest} from '../../src/core/contract/model.ts';
import {OfflineModel} from '../../src/offline-model/model.ts';
import {CODE_TOOLS, EXPLORE_TOOLS, type Result, runTool, specs, type ToolName} from './simple-tools.ts';

export interface ConverseOptions {
  readonly root: string;
  readonly tools: readonly ToolName[];
  readonly agents?: readonly string[];
  readonly system?: string;
  readonly before?: readonly Anthropic.MessageParam[];
  /** The result of a call, instead of the tool's. */
  readonly intercept?: (name: string, input: Record<string, unknown>) => Result | undefined;
}

export interface Conversation {
  readonly text: string;
  /** The calls of each reply. */
  readonly replies: readonly (readonly {readonly name: string; readonly input: Record<string, unknown>}[])[];
  readonly messages: readonly Anthropic.MessageParam[];
}

/** One call of the model. */
export function ask(
  request: Partial<ModelRequest> & Pick<ModelRequest, 'messages'>,
  onProgress: (progress: ModelProgress) => void = () => undefined,
): Promise<ModelReply> {
  const {signal} = new AbortController();
  return new OfflineModel({maxOutputTokens: 8000}).reply(
    {system: '', tools: [], mayCallTools: true, signal, ...request},
    onProgress,
  );
}

export async function converse(prompt: string, options: ConverseOptions): Promise<Conversation> {
  const messages: Anthropic.MessageParam[] = [...(options.before ?? []), {role: 'user', content: prompt}];
  const replies: {name: string; input: Record<string, unknown>}[][] = [];
  const seen = new Set<string>();
  const tools = specs(options.tools, options.agents);
  for (;;) {
    const reply = await ask({system: options.system ?? '', tools, messages});
    messages.push({role: 'assistant', content: [...reply.content]});
    const calls = reply.content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) {
      const text = reply.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      return {text, replies, messages};
    }
    replies.push(calls.map((call) => ({name: call.name, input: call.input as Record<string, unknown>})));
    if (replies.length > 25) throw new Error(`more than 25 replies to: ${prompt}`);
    const results = await Promise.all(
      calls.map((call) => runCall(call.name, call.input as Record<string, unknown>, options, seen)),
    );
    messages.push({
      role: 'user',
      content: calls.map((call, index) => ({
        type: 'tool_result',
        tool_use_id: call.id,
        content: results[index]!.text,
        is_error: results[index]!.isError ?? false,
      })),
    });
  }
}

async function runCall(
  name: string,
  input: Record<string, unknown>,
  options: ConverseOptions,
  seen: Set<string>,
): Promise<Result> {
  const given = options.intercept?.(name, input);
  if (given) return given;
  if (name !== 'Task') return runTool(options.root, name, input, seen);
  const agent = String(input.agent_type);
  const system =
    {explore: 'You explore a codebase for another agent.', plan: 'You design a change for another agent.'}[agent] ?? '';
  const tools = agent === 'code' ? CODE_TOOLS : EXPLORE_TOOLS;
  const {text, replies} = await converse(String(input.prompt), {root: options.root, tools, system});
  return {
    text: `${text}\n\n<task_receipt>\nReceipt: ${replies.flat().length} tools · read 1 files\nRun: abc · transcript /tmp/t\n</task_receipt>`,
  };
}
