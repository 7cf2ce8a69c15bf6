/** Calls the hooks about tool calls: before a call, instead of a question, and after a call. */
import type {HookCall, HookEvent, Hooks} from '../contract/hook.ts';
import type {BeforeCall, PermitRequest} from '../contract/permission.ts';
import type {AfterCall} from '../contract/tool.ts';
import type {ToolFacts} from '../contract/tool-facts.ts';
import {getText} from '../util/messages.ts';
import {isObject} from '../util/objects.ts';
import {findTool, fromClaudeInput, toClaudeInput, toClaudeToolName} from '../util/tool-names.ts';
import {isRuleAbout} from './policy.ts';

/** Hooks of an agent, with those about tool calls in the form in which calls use them. */
export type AgentHooks = {readonly hooks: Hooks} & ReturnType<typeof createToolHooks>;

/**
 * Events without a hook get no function, so that calls do no extra work. A hook of `PermissionRequest` may answer as
 * the person would.
 */
export function createToolHooks(hooks: Hooks, tools: readonly ToolFacts[]) {
  /** Texts of hooks before a call, by its id. The model reads them with the result. */
  const before = new Map<string, readonly string[]>();
  const isAfter = (['PreToolUse', 'PostToolUse', 'PostToolUseFailure'] as const).some((event) => hooks.listens(event));
  return {
    beforeCall: hooks.listens('PreToolUse') ? [createBeforeCall('PreToolUse', hooks, tools, before)] : [],
    answerCall: hooks.listens('PermissionRequest')
      ? createBeforeCall('PermissionRequest', hooks, tools, before)
      : undefined,
    afterCall: isAfter ? [createAfterCall(hooks, tools, before)] : [],
  };
}

function createBeforeCall(
  event: HookEvent,
  hooks: Hooks,
  tools: readonly ToolFacts[],
  before: Map<string, readonly string[]>,
): BeforeCall {
  return async (request, signal) => {
    const answer = await hooks.run(createCall(event, request, tools), signal);
    const {blocked, stops, permission, because, input, context} = answer;
    const refusal = blocked ?? stops;
    if (refusal !== undefined) {
      const said = [refusal, ...context].join('\n');
      return {decision: 'deny', because: `a hook refuses it: ${said}`, stops};
    }
    if (context.length > 0) before.set(request.callId, [...(before.get(request.callId) ?? []), ...context]);
    return {decision: permission, because, input: input && fromClaudeInput(request.tool, input, tools)};
  };
}

/** Lets hooks replace the result, and adds their messages below it. */
function createAfterCall(hooks: Hooks, tools: readonly ToolFacts[], before: Map<string, readonly string[]>): AfterCall {
  return async (request, result, signal) => {
    const text = getText(result.content ?? '');
    const event = result.isError ? 'PostToolUseFailure' : 'PostToolUse';
    const {input, ...call} = createCall(event, request, tools);
    const about = result.isError
      ? {error: text, is_interrupt: signal.aborted}
      : {tool_response: {content: text, is_error: false}};
    const answer = await hooks.run({...call, input: {...input, ...about}}, signal);
    const {stops} = answer;
    const said = [before.get(request.callId) ?? [], answer.blocked ?? stops ?? [], answer.context].flat();
    before.delete(request.callId);
    const output = (/^mcp__/.test(request.tool) ? answer.mcpToolOutput : undefined) ?? answer.toolOutput;
    const {content = ''} = output === undefined ? result : {content: toText(output)};
    if (said.length === 0) return output === undefined ? result : {...result, content};
    const lines = said.map((each) => `Hook: ${each}`).join('\n');
    return {
      ...result,
      ...(stops !== undefined && {stops}),
      content: typeof content === 'string' ? `${content}\n${lines}` : [...content, {type: 'text', text: lines}],
    };
  };
}

/** Returns the text of an output in the shape of a hook: a text, or blocks with texts, or any other value. */
function toText(output: unknown): string {
  if (typeof output === 'string') return output;
  const blocks = isObject(output) ? output.content : output;
  const texts = Array.isArray(blocks) ? blocks.map((block) => (isObject(block) ? block.text : undefined)) : [];
  const isText = texts.length > 0 && texts.every((text) => typeof text === 'string');
  return isText ? texts.join('\n') : JSON.stringify(output);
}

function createCall(event: HookEvent, request: PermitRequest, tools: readonly ToolFacts[]): HookCall {
  const {tool, input, callId, subagent} = request;
  const name = toClaudeToolName(tool, tools);
  const {aliases = [], hookNames = []} = findTool(tool, tools) ?? {};
  return {
    event,
    subject: tool,
    otherNames: [name, ...aliases, ...hookNames],
    callId,
    isAbout: (rule) => isRuleAbout(rule, request, tools),
    input: {
      tool_name: name,
      tool_input: toClaudeInput(tool, input, tools),
      tool_use_id: callId,
      ...(subagent && {agent_id: subagent.id, agent_type: subagent.type}),
    },
  };
}
