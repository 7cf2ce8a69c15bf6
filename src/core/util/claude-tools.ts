/**
 * Translates names and inputs of tools to those of Claude Code and back, for programs that drive mini-cc and for hooks
 * that people wrote for Claude Code. Each tool lists its differences; all else is the same on both sides.
 */
import type {ClaudeInput, ToolFacts} from '../contract/tool-facts.ts';
import {isObject} from './objects.ts';
import {findTool, toToolName} from './tool-names.ts';

/** Returns Claude Code's name of a tool, such as `Bash` for `bash`. A tool that lists no other name keeps its own. */
export function toClaudeToolName(name: string, tools: readonly ToolFacts[]): string {
  return findTool(name, tools)?.claude?.name ?? name;
}

/** Returns the input of a call in the form of Claude Code's tool. A value that is no object is returned unchanged. */
export function toClaudeInput(name: string, input: unknown, tools: readonly ToolFacts[]): unknown {
  const inputs = findTool(name, tools)?.claude?.inputs ?? {};
  return mapEntries(input, (key, value) => {
    if (!Object.hasOwn(inputs, key)) return [key, value];
    const {as, factor, values = {}} = toClaudeInputFacts(inputs[key]!);
    if (factor !== undefined) return typeof value === 'number' ? [as, value * factor] : [key, value];
    return [as, Object.hasOwn(values, String(value)) ? values[String(value)] : value];
  });
}

/**
 * Reverses `toClaudeInput`. Inputs that already have mini-cc's names stay as they are. @param name in either spelling
 */
export function fromClaudeInput(name: string, input: unknown, tools: readonly ToolFacts[]): unknown {
  const inputs = Object.entries(findTool(name, tools)?.claude?.inputs ?? {});
  return mapEntries(input, (key, value) => {
    const [mine, claude] = inputs.find(([, each]) => toClaudeInputFacts(each).as === key) ?? [];
    if (mine === undefined || claude === undefined) return [key, value];
    const {factor, values = {}} = toClaudeInputFacts(claude);
    if (factor !== undefined) return typeof value === 'number' ? [mine, value / factor] : [key, value];
    return [mine, Object.entries(values).find(([, theirs]) => theirs === value)?.[0] ?? value];
  });
}

/** Returns a rule in the form of Claude Code: `bash(npm test)` is the tool `Bash` with the content `npm test`. */
export function toClaudeRule(
  rule: string,
  tools: readonly ToolFacts[],
): {readonly toolName: string; readonly ruleContent?: string} {
  const [, name = rule, content] = /^([^(]+)\((.*)\)$/s.exec(rule) ?? [];
  return {toolName: toClaudeToolName(name, tools), ...(content !== undefined && {ruleContent: content})};
}

/** Reverses `toClaudeRule`. */
export function fromClaudeRule(
  {toolName, ruleContent}: {toolName: string; ruleContent?: string | undefined},
  tools: readonly ToolFacts[],
): string {
  const name = toToolName(toolName, tools);
  return ruleContent === undefined || ruleContent === '' ? name : `${name}(${ruleContent})`;
}

function toClaudeInputFacts(input: string | ClaudeInput): ClaudeInput {
  return typeof input === 'string' ? {as: input} : input;
}

function mapEntries(input: unknown, map: (key: string, value: unknown) => [string, unknown]): unknown {
  if (!isObject(input)) return input;
  return Object.fromEntries(Object.entries(input).map(([key, value]) => map(key, value)));
}
