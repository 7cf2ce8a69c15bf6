/** Prepares a call of the model: finds its tool, repairs and parses its input, and asks the tool what it would touch. */
import path from 'node:path';
import {z} from 'zod';
import type {ToolUse} from '../contract/model.ts';
import type {Access, Workspace} from '../contract/permission.ts';
import type {ToolResult} from '../contract/results.ts';
import type {Tool, ToolSource} from '../contract/tool.ts';
import {getErrorMessage} from '../util/errors.ts';
import {isInside} from '../util/paths.ts';
import {findTool} from '../util/tool-names.ts';
import {errorResult} from '../util/tool-output.ts';

/** A call whose tool is known and whose input is valid. */
export interface PreparedCall {
  readonly tool: Tool;
  readonly input: unknown;
  readonly title: string;
  readonly purpose: string | undefined;
  /** Accesses that decide which calls run side by side. Their paths are resolved again when the call is decided. */
  readonly accesses: readonly Access[];
  readonly isBackground: boolean;
  /** Lines that stand before the result. */
  readonly notes: readonly string[];
}

export interface CallableTools {
  readonly tools: readonly Tool[];
  /** Tools of MCP servers. */
  readonly moreTools?: ToolSource | undefined;
}

interface PreparingCaller extends CallableTools {
  readonly workspace: Workspace;
  /** Present where calls can continue after the turn. */
  readonly background?: object;
}

/** Finds a tool by a name that the model uses. */
export function findCalled(name: string, {tools, moreTools}: CallableTools): Tool | undefined {
  return findTool(name, tools) ?? moreTools?.find(name);
}

/** Lists all tools that the model is offered at this moment. */
export function listTools({tools, moreTools}: CallableTools): readonly Tool[] {
  return moreTools ? [...tools, ...moreTools.list()] : tools;
}

/** @param problem problem of the input as it arrived @returns an error as the result when the call cannot run */
export function prepareCall(call: ToolUse, caller: PreparingCaller, problem?: string): PreparedCall | ToolResult {
  if (problem !== undefined) {
    return errorResult(`The input of ${call.name} ${problem}. Nothing was run; send the call again, complete.`);
  }
  const tool = findCalled(call.name, caller);
  if (!tool) {
    const names = listTools(caller)
      .map((candidate) => candidate.name)
      .join(', ');
    return errorResult(`${call.name} is not a tool of this agent; nothing was run. Its tools: ${names}`);
  }
  try {
    const own = withOwnPaths(tool, call.input, caller.workspace);
    const repaired = tool.repair?.(call.input) ?? {input: own.input, notes: []};
    const parsed = tool.input.safeParse(repaired.input, {error: describeMissing});
    if (!parsed.success) {
      const problems = [z.prettifyError(parsed.error), ...unknownKeys(tool, repaired.input)];
      return errorResult(`Invalid input for ${tool.name}:\n${problems.join('\n')}`);
    }
    const accesses = tool.access(parsed.data, caller.workspace);
    const notes = [
      ...(repaired.notes.length > 0 ? [`Repaired: ${repaired.notes.join('; ')}`] : []),
      // The Task tool names the keys that it used in its repairs.
      ...(tool.repair ? [] : unknownKeys(tool, repaired.input)),
      ...own.notes,
    ];
    const isBackground = caller.background !== undefined && tool.isBackground?.(parsed.data) === true;
    const {data} = parsed;
    const title = tool.title(data, caller.workspace);
    return {tool, input: data, title, purpose: tool.purpose?.(data), accesses, isBackground, notes};
  } catch (error) {
    return errorResult(getErrorMessage(error));
  }
}

/**
 * Replaces paths in the main checkout by those of the agent's worktree. Models know the main checkout from prompts and
 * outputs, and name it all the time.
 */
function withOwnPaths({pathInputs = []}: Tool, input: unknown, {copyOf}: Workspace) {
  if (!copyOf || typeof input !== 'object' || input === null) return {input, notes: []};
  const {main, top} = copyOf;
  // In a repository of the home, outputs of mini-cc are below the main checkout too.
  if (isInside(top, [main])) return {input, notes: []};
  const notes: string[] = [];
  const fields = Object.entries(input).map(([name, given]: [string, unknown]) => {
    const file = pathInputs.includes(name) && typeof given === 'string' ? path.normalize(given) : '';
    if (!isInside(file, [main])) return [name, given];
    const relative = path.relative(main, file) || '.';
    notes.push(`${given} is in the main checkout; used: ${relative} of your worktree`);
    return [name, path.join(top, relative)];
  });
  return {input: Object.fromEntries(fields), notes};
}

/** @returns undefined to use the text of the schema */
function describeMissing({input, path = []}: {readonly input?: unknown; readonly path?: PropertyKey[] | undefined}) {
  return input === undefined && path.length > 0 ? `${String(path.at(-1))} is missing` : undefined;
}

/** Names the keys that are not parameters, because the model believes that they have an effect. */
function unknownKeys(tool: Tool, input: unknown): string[] {
  // A tool with its own schema checks its input itself.
  if (tool.inputSchema || !(tool.input instanceof z.ZodObject) || typeof input !== 'object' || input === null)
    return [];
  const {shape} = tool.input;
  const unknown = Object.keys(input).filter((key) => !Object.hasOwn(shape, key));
  return unknown.length > 0 ? [`Ignored: ${unknown.join(', ')} (no parameters of ${tool.name})`] : [];
}
