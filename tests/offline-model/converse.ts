/** Drives the offline model through the real SDK until it ends its turn. */
import {Anthropic} from '@anthropic-ai/sdk';
import {createOfflineFetch} from '../../src/offline-model/fetch.ts';
import {CODE_TOOLS, EXPLORE_TOOLS, type Result, runTool, specs, type ToolName} from './simple-tools.ts';

export interface Talk {
  readonly root: string;
  readonly tools: readonly ToolName[];
  readonly agents?: readonly string[];
  readonly system?: string;
  readonly before?: readonly Anthropic.MessageParam[];
  /** Answers a call in place of the tool. */
  readonly intercept?: (name: string, input: Record<string, unknown>) => Result | undefined;
}

export interface Told {
  readonly text: string;
  /** Each reply's calls. */
  readonly replies: readonly (readonly {readonly name: string; readonly input: Record<string, unknown>}[])[];
  readonly messages: readonly Anthropic.MessageParam[];
}

export function client(): Anthropic {
  return new Anthropic({apiKey: 'offline', fetch: createOfflineFetch(), maxRetries: 0});
}

export async function converse(prompt: string, talk: Talk): Promise<Told> {
  const anthropic = client();
  const messages: Anthropic.MessageParam[] = [...(talk.before ?? []), {role: 'user', content: prompt}];
  const replies: {name: string; input: Record<string, unknown>}[][] = [];
  const seen = new Set<string>();
  const tools = specs(talk.tools, talk.agents);
  for (;;) {
    const reply = await anthropic.messages
      .stream({model: 'offline', max_tokens: 8000, system: talk.system ?? '', tools, messages})
      .finalMessage();
    messages.push({role: 'assistant', content: reply.content});
    const calls = reply.content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) {
      const text = reply.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      return {text, replies, messages};
    }
    replies.push(calls.map((call) => ({name: call.name, input: call.input as Record<string, unknown>})));
    if (replies.length > 25) throw new Error(`no end of: ${prompt}`);
    const results = await Promise.all(
      calls.map((call) => result(call.name, call.input as Record<string, unknown>, talk, seen)),
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

async function result(name: string, input: Record<string, unknown>, talk: Talk, seen: Set<string>): Promise<Result> {
  const given = talk.intercept?.(name, input);
  if (given) return given;
  if (name !== 'Task') return runTool(talk.root, name, input, seen);
  const agent = String(input.agent_type);
  const system =
    {explore: 'You explore a codebase for another agent.', plan: 'You design a change for another agent.'}[agent] ?? '';
  const tools = agent === 'code' ? CODE_TOOLS : EXPLORE_TOOLS;
  const {text, replies} = await converse(String(input.prompt), {root: talk.root, tools, system});
  return {text: `${text}\n\nReceipt: ${replies.flat().length} tools · read 1 files\nRun: abc · transcript /tmp/t`};
}
