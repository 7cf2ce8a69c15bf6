/** Lets a tool of an MCP server answer questions about calls: `--permission-prompt-tool mcp__SERVER__TOOL`. */
import {z} from 'zod';
import type {BeforeCall} from '../core/contract/permission.ts';
import type {ToolContext, ToolSource} from '../core/contract/tool.ts';
import {tryOr} from '../core/util/errors.ts';
import {getText} from '../core/util/messages.ts';
import {fromClaudeInput, toClaudeInput, toClaudeToolName} from '../core/util/tool-names.ts';
import {ALL_TOOLS} from './known-tools.ts';

const answerSchema = z.discriminatedUnion('behavior', [
  z.looseObject({behavior: z.literal('allow'), updatedInput: z.record(z.string(), z.unknown()).nullish()}),
  z.looseObject({behavior: z.literal('deny'), message: z.string().optional()}),
]);

/** @param source the tools of servers that the main agent has */
export function createAnsweringTool(name: string, source: ToolSource): BeforeCall {
  return async ({tool, input, callId}, signal) => {
    await source.ready(signal);
    const found = source.find(name);
    if (!found) return {decision: 'deny', because: `there is no tool ${name}, which answers questions about calls`};
    const sent = toClaudeInput(tool, input, ALL_TOOLS);
    const asked = {tool_name: toClaudeToolName(tool, ALL_TOOLS), input: sent, tool_use_id: callId};
    // A tool of a server uses nothing else of a call.
    const context = {callId, signal, emit: () => undefined} as Partial<ToolContext> as ToolContext;
    const {content, isError} = await found.run(asked, context);
    const text = getText(content ?? '');
    const answer = isError ? undefined : answerSchema.safeParse(tryOr(() => JSON.parse(text), undefined)).data;
    if (!answer) return {decision: 'deny', because: `${name} gave no answer that can be read: ${text.slice(0, 200)}`};
    if (answer.behavior === 'deny') return {decision: 'deny', because: answer.message ?? `${name} refuses it`};
    const {updatedInput} = answer;
    const isChanged = updatedInput && JSON.stringify(updatedInput) !== JSON.stringify(sent);
    return {decision: 'allow', ...(isChanged && {input: fromClaudeInput(tool, updatedInput, ALL_TOOLS)})};
  };
}
