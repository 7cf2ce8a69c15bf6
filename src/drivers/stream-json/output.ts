/**
 * Converts the objects of `json-output.ts` to Claude Code's tool names and inputs, and adds all fields that its drivers
 * read.
 */
import {version} from '../../../package.json';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {toClaudeInput, toClaudeToolName} from '../../core/util/tool-names.ts';
import type {ModelUsage} from '../json-output.ts';

type JsonObject = Record<string, unknown>;

export function toClaudeShape(object: JsonObject, tools: readonly ToolFacts[]): JsonObject {
  switch (object.type) {
    case 'system':
      return object.subtype === 'init' ? {...object, ...initFields(object, tools)} : object;
    case 'assistant': {
      const message = object.message as {readonly content: readonly JsonObject[]};
      return {...object, message: {...message, content: message.content.map((block) => toClaudeBlock(block, tools))}};
    }
    case 'stream_event': {
      const event = object.event as {readonly content_block?: JsonObject};
      // The input of a call arrives in pieces that cannot be translated. The `assistant` line has the whole input,
      // translated.
      if (!event.content_block) return object;
      return {...object, event: {...event, content_block: toClaudeBlock(event.content_block, tools)}};
    }
    case 'result':
      return {...object, ...resultFields(object, tools)};
    default:
      return object;
  }
}

function toClaudeBlock(block: JsonObject, tools: readonly ToolFacts[]): JsonObject {
  if (block.type !== 'tool_use') return block;
  const name = String(block.name);
  return {...block, name: toClaudeToolName(name, tools), input: toClaudeInput(name, block.input, tools)};
}

function initFields({tools: names, skills = [], plugins = []}: JsonObject, tools: readonly ToolFacts[]): JsonObject {
  return {
    tools: (names as readonly string[]).map((name) => toClaudeToolName(name, tools)),
    claude_code_version: version,
    output_style: 'default',
    skills,
    plugins,
  };
}

function resultFields(object: JsonObject, tools: readonly ToolFacts[]): JsonObject {
  const {subtype, is_error, result, total_cost_usd: cost, modelUsage, permission_denials} = object;
  const isTimeout = subtype === 'error_timeout';
  const denials = permission_denials as readonly {readonly tool_name: string; readonly tool_input: unknown}[];
  return {
    // Their type has no timeout.
    subtype: isTimeout ? 'error_during_execution' : subtype,
    stop_reason: is_error ? null : 'end_turn',
    ...(isTimeout && {errors: [`timeout: ${result}`]}),
    modelUsage: withKnownCosts(modelUsage as ModelUsage),
    // Their type has no null, so the sum of the known costs is sent.
    ...(typeof cost === 'number' ? {} : {total_cost_usd: sumCosts(modelUsage as ModelUsage), cost_unknown: true}),
    permission_denials: denials.map((denial) => ({
      ...denial,
      tool_name: toClaudeToolName(denial.tool_name, tools),
      tool_input: toClaudeInput(denial.tool_name, denial.tool_input, tools),
    })),
  };
}

/** Their type has no unknown cost, which counts as 0. */
export function withKnownCosts(modelUsage: ModelUsage): ModelUsage {
  return Object.fromEntries(
    Object.entries(modelUsage).map(([model, usage]) => [
      model,
      usage.costUSD === null ? {...usage, costUSD: 0, cost_unknown: true} : usage,
    ]),
  );
}

export function sumCosts(modelUsage: ModelUsage): number {
  return Object.values(modelUsage).reduce((sum, {costUSD}) => sum + (costUSD ?? 0), 0);
}
