/** Lets a tool of an MCP server answer questions about calls: `--permission-prompt-tool mcp__SERVER__TOOL`. */
import type {BeforeCall} from '../core/contract/permission.ts';
import type {ToolContext, ToolSource} from '../core/contract/tool.ts';
import {tryOr} from '../core/util/errors.ts';
import {getText} from '../core/util/messages.ts';
import {isObject, toFields} from '../core/util/objects.ts';
import {fromClaudeInput, toClaudeInput, toClaudeToolName} from '../core/util/tool-names.ts';
import {ALL_TOOLS} from './known-tools.ts';

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
    const {behavior, message, updatedInput} = toFields(isError ? undefined : tryOr(() => JSON.parse(text), undefined));
    if (behavior === 'deny') {
      return {decision: 'deny', because: typeof message === 'string' ? message : `${name} refuses it`};
    }
    if (behavior !== 'allow') {
      return {decision: 'deny', because: `${name} gave no answer that can be read: ${text.slice(0, 200)}`};
    }
    const isChanged = isObject(updatedInput) && JSON.stringify(updatedInput) !== JSON.stringify(sent);
    return {decision: 'allow', ...(isChanged && {input: fromClaudeInput(tool, updatedInput, ALL_TOOLS)})};
  };
}
