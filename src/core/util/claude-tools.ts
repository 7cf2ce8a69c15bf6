/**
 * Claude Code's names and inputs of tools, for programs that drive mini-cc and for hooks that people have written for it.
 * Each tool says its own; what it does not say is the same on both sides.
 */
import type {ClaudeInput, ToolFacts} from '../contract/tool-facts.ts';
import {isObject} from './objects.ts';
import {findTool, toToolName} from './tool-names.ts';

/** mini-cc's `bash` is `Bash`; the name of a tool that says no other stays. */
export function toClaudeToolName(name: string, tools: readonly ToolFacts[]): string {
  return findTool(name, tools)?.claude?.name ?? name;
}

/** The input of a call as Claude Code's tool has it. What is no object stays as it is. */
export function toClaudeInput(name: string, input: unknown, tools: readonly ToolFacts[]): unknown {
  const inputs = findTool(name, tools)?.claude?.inputs ?? {};
  return mapEntries(input, (key, value) => {
    if (!Object.hasOwn(inputs, key)) return [key, value];
    const {as, factor, values = {}} = toClaudeInputFacts(inputs[key]!);
    if (factor !== undefined) return typeof value === 'number' ? [as, value * factor] : [key, value];
    return [as, Object.hasOwn(values, String(value)) ? values[String(value)] : value];
  });
}

/** The reverse of `toClaudeInput`; inputs that have mini-cc's names already stay. @param name in either spelling */
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

/** A rule as Claude Code writes it: `bash(npm test)` is the tool `Bash` with the content `npm test`. */
export function toClaudeRule(
  rule: string,
  tools: readonly ToolFacts[],
): {readonly toolName: string; readonly ruleContent?: string} {
  const [, name = rule, content] = /^([^(]+)\((.*)\)$/s.exec(rule) ?? [];
  return {toolName: toClaudeToolName(name, tools), ...(content !== undefined && {ruleContent: content})};
}

/** The reverse of `toClaudeRule`. */
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
