/** From the fields of a file to an agent that can be dispatched. */
import type {AgentDefinition} from '../core/agent-types.ts';
import {type Place, type ProblemList, quote, START} from '../core/problem.ts';
import {isBuiltIn} from './agent-name.ts';
import {changesNothing, NOT_YET, needsMissingEngine} from './not-yet.ts';
import {type AgentFile, type AgentKey, FORMAT_VERSION} from './schema.ts';
import {type MissingTool, resolveTools} from './tool-list.ts';

/** Where the fields stand; entries of lists as `tools.0`. */
export type Places = ReadonlyMap<string, Place>;

/** An agent as its file defines it. */
export interface ParsedAgent {
  /** What the engine runs: `tools` are those that it will really have. */
  readonly definition: AgentDefinition;
  /** What the file says. */
  readonly fields: AgentFile;
  readonly tools: readonly string[];
  readonly missing: readonly MissingTool[];
  readonly places: Places;
}

export interface DefineOptions {
  /** The tools that there are. Those that dispatch are taken out. */
  readonly toolNames: readonly string[];
  /**
   * `json`: read-only unless a writing tool is listed. `claude`, a file made for Claude Code: read-only only if it says
   * so, since there Bash may write.
   */
  readonly dialect: 'json' | 'claude';
  /** Definitions of a project that is not trusted may only narrow. */
  readonly mayWiden: boolean;
}

/** Undefined when a problem makes it unusable; all problems go to `problems`. */
export function defineAgent(
  fields: AgentFile,
  places: Places,
  options: DefineOptions,
  problems: ProblemList,
): ParsedAgent | undefined {
  const at = (key: string) => places.get(key) ?? places.get(key.replace(/\..*/, '')) ?? START;
  if (isBuiltIn(fields.name)) {
    problems.error('reserved-name', at('name'), `${fields.name} is built in: give this agent another name`);
  }
  checkEngines(fields, at, options, problems);
  const {tools, missing, readOnly, all} = resolveTools(fields, at, options, problems);
  if (problems.failed) return undefined;
  return {
    definition: {
      name: fields.name,
      description: fields.description.trim(),
      tools: all ? '*' : tools,
      prompt: fields.prompt,
      readOnly,
      ...(fields.model === undefined ? {} : {model: fields.model.trim()}),
      ...(fields.maxTurns === undefined ? {} : {maxTurns: fields.maxTurns}),
      ...(fields.timeoutSeconds === undefined ? {} : {timeoutSeconds: fields.timeoutSeconds}),
      ...(fields.maxTokens === undefined ? {} : {maxTokens: fields.maxTokens}),
      ...(fields.background === undefined ? {} : {background: fields.background}),
      ...(fields.color === undefined ? {} : {color: fields.color}),
    },
    fields,
    tools,
    missing,
    places,
  };
}

function checkEngines(
  fields: AgentFile,
  at: (key: string) => Place,
  {mayWiden}: DefineOptions,
  problems: ProblemList,
): void {
  const needed = needsMissingEngine(fields);
  if (needed) {
    const what = `${needed} ${quote(fields[needed])} is not yet available`;
    problems.error('not-yet', at(needed), `${what}, and without it this agent would be unsafe`);
  }
  if (fields.version !== undefined && fields.version > FORMAT_VERSION) {
    const what = `is of format ${fields.version}, newer than this mini-cc`;
    problems.warn('newer-format', at('version'), `${what}: it is read as far as it is known, and not written`);
  }
  for (const key of Object.keys(fields) as AgentKey[]) {
    if (fields[key] === undefined) continue;
    if (!mayWiden && WIDENING.has(key)) {
      const why = 'its agents may only narrow permissions';
      problems.warn('untrusted', at(key), `${key} counts for nothing in a project: ${why}`);
    } else if (NOT_YET.has(key) && !changesNothing(key, fields[key])) {
      problems.warn('not-yet', at(key), `${key} is not yet available and is ignored`);
    }
  }
}

/** Could give an agent more than its user has allowed. */
const WIDENING: ReadonlySet<string> = new Set<AgentKey>(['permissionMode', 'apiKeyEnv']);
