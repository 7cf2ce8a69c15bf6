/** Calls the hooks about tool calls: before a call, instead of a question, and after a call. */
import type {HookCall, HookEvent, Hooks} from '../contract/hook.ts';
import type {BeforeCall, PermitRequest} from '../contract/permission.ts';
import type {AfterCall} from '../contract/tool.ts';
import type {ToolFacts} from '../contract/tool-facts.ts';
import {getText} from '../util/messages.ts';
import {findTool, fromClaudeInput, toClaudeInput, toClaudeToolName} from '../util/tool-names.ts';

/** Hooks of an agent, with those about tool calls in the form in which calls use them. */
export type AgentHooks = {readonly hooks: Hooks} & ReturnType<typeof createToolHooks>;

/**
 * Events that no hook listens to get no function, so that calls cost nothing more. A hook of `PermissionRequest` may
 * answer as the person would.
 */
export function createToolHooks(hooks: Hooks, tools: readonly ToolFacts[]) {
  return {
    beforeCall: hooks.listens('PreToolUse') ? [createBeforeCall('PreToolUse', hooks, tools)] : [],
    answerCall: hooks.listens('PermissionRequest') ? createBeforeCall('PermissionRequest', hooks, tools) : undefined,
    afterCall: hooks.listens('PostToolUse') ? [createAfterCall(hooks, tools)] : [],
  };
}

function createBeforeCall(event: HookEvent, hooks: Hooks, tools: readonly ToolFacts[]): BeforeCall {
  return async (request, signal) => {
    const {blocked, stops, permission, because, input} = await hooks.run(createCall(event, request, tools), signal);
    const refusal = blocked ?? stops;
    if (refusal !== undefined) {
      return {decision: 'deny', because: `a hook refuses it: ${refusal}`, ...(stops !== undefined && {stops})};
    }
    return {
      ...(permission && {decision: permission}),
      ...(because !== undefined && {because}),
      ...(input && {input: fromClaudeInput(request.tool, input, tools)}),
    };
  };
}

/** Adds the messages of hooks below the result. */
function createAfterCall(hooks: Hooks, tools: readonly ToolFacts[]): AfterCall {
  return async (request, result, signal) => {
    const text = getText(result.content ?? '');
    const {input, ...call} = createCall('PostToolUse', request, tools);
    const answer = await hooks.run(
      {...call, input: {...input, tool_response: {content: text, is_error: result.isError ?? false}}},
      signal,
    );
    const {stops} = answer;
    const said = [answer.blocked ?? stops ?? [], answer.context].flat();
    if (said.length === 0) return result;
    const lines = said.map((each) => `Hook: ${each}`).join('\n');
    const {content = ''} = result;
    return {
      ...result,
      ...(stops !== undefined && {stops}),
      content: typeof content === 'string' ? `${content}\n${lines}` : [...content, {type: 'text', text: lines}],
    };
  };
}

function createCall(event: HookEvent, {tool, input, callId}: PermitRequest, tools: readonly ToolFacts[]): HookCall {
  const name = toClaudeToolName(tool, tools);
  const {aliases = [], hookNames = []} = findTool(tool, tools) ?? {};
  return {
    event,
    subject: tool,
    otherNames: [name, ...aliases, ...hookNames],
    callId,
    input: {tool_name: name, tool_input: toClaudeInput(tool, input, tools), tool_use_id: callId},
  };
}
