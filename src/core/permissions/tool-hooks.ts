/** Calls the hooks about tool calls: before a call, instead of a question, and after a call. */
import type {HookAnswer, HookCall, HookEvent, Hooks} from '../contract/hook.ts';
import type {AnswerCall, BeforeCall, PermitRequest} from '../contract/permission.ts';
import type {AfterCall} from '../contract/tool.ts';
import type {ToolFacts} from '../contract/tool-facts.ts';
import {getText} from '../util/messages.ts';
import {findTool, fromClaudeInput, toClaudeInput, toClaudeToolName} from '../util/tool-names.ts';

/** Hooks of an agent, with those about tool calls in the form in which calls use them. */
export type AgentHooks = {readonly hooks: Hooks} & ReturnType<typeof createToolHooks>;

/** Events that no hook listens to get no function, so that calls cost nothing more. */
export function createToolHooks(hooks: Hooks, tools: readonly ToolFacts[]) {
  return {
    beforeCall: hooks.listens('PreToolUse') ? [createBeforeCall(hooks, tools)] : [],
    answerCall: hooks.listens('PermissionRequest') ? createAnswerCall(hooks, tools) : undefined,
    afterCall: hooks.listens('PostToolUse') ? [createAfterCall(hooks, tools)] : [],
  };
}

function createBeforeCall(hooks: Hooks, tools: readonly ToolFacts[]): BeforeCall {
  return async (request, signal) => {
    const answer = await hooks.run(createCall('PreToolUse', request, tools), signal);
    const refusal = answer.blocked ?? answer.stops;
    if (refusal !== undefined) return refuse(refusal, answer);
    return {
      ...(answer.permission && {decision: answer.permission}),
      ...(answer.because !== undefined && {because: answer.because}),
      ...(answer.input && {input: fromClaudeInput(request.tool, answer.input, tools)}),
    };
  };
}

function refuse(why: string, {stops}: HookAnswer) {
  return {decision: 'deny', because: `a hook refuses it: ${why}`, ...(stops !== undefined && {stops})} as const;
}

/** A hook may answer as the person would. */
function createAnswerCall(hooks: Hooks, tools: readonly ToolFacts[]): AnswerCall {
  return async (request, signal) => {
    const answer = await hooks.run(createCall('PermissionRequest', request, tools), signal);
    const refusal = answer.blocked ?? answer.stops;
    if (refusal !== undefined) return refuse(refusal, answer);
    if (answer.permission !== 'allow') return {};
    return {decision: 'allow', ...(answer.input && {input: fromClaudeInput(request.tool, answer.input, tools)})};
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
