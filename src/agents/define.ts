/** From the fields of a file to an agent that can be dispatched. */

import type {AgentDefinition} from '../core/agent-types.ts';
import {isNotYet, notYet} from '../core/util/not-yet.ts';
import {type Place, type ProblemList, quote, START} from '../core/util/problem.ts';
import {type AgentFile, type AgentKey, FORMAT_VERSION, isBuiltIn} from './schema.ts';
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
  /** What it says that could give it more than its user has allowed, and whether that counts. */
  readonly widening: readonly Widening[];
}

export interface Widening {
  readonly key: AgentKey;
  readonly value: unknown;
  readonly counts: boolean;
}

export interface DefineOptions {
  /** The tools that there are. Those that dispatch are taken out. */
  readonly toolNames: readonly string[];
  /**
   * `json`: read-only unless a writing tool is listed. `claude`, a file made for Claude Code: read-only only if it says
   * so, since there Bash may write.
   */
  readonly dialect: 'json' | 'claude';
  /** Whether it may have more than its user has allowed. Definitions of a project that is not trusted only narrow. */
  readonly mayWiden: (key: AgentKey, value: unknown) => boolean;
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
  const widening = wideningOf(fields, options);
  checkEngines(fields, at, widening, problems);
  for (const {key, value} of widening.filter(({counts}) => !counts)) {
    const why = 'what this project asks for is not trusted (mini-cc --trust trusts it)';
    problems.warn('untrusted', at(key), `${key} ${quote(value)} counts for nothing: ${why}`);
  }
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
      ...(fields.isolation === 'worktree' ? {isolation: 'worktree'} : {}),
      ...(fields.background === undefined ? {} : {background: fields.background}),
      ...(fields.permissionMode === undefined || isHeldBack('permissionMode', widening)
        ? {}
        : {permissionMode: fields.permissionMode}),
      ...(fields.color === undefined ? {} : {color: fields.color}),
    },
    fields,
    tools,
    missing,
    places,
    widening,
  };
}

function checkEngines(
  fields: AgentFile,
  at: (key: string) => Place,
  widening: readonly Widening[],
  problems: ProblemList,
): void {
  if (fields.version !== undefined && fields.version > FORMAT_VERSION) {
    const what = `is of format ${fields.version}, newer than this mini-cc`;
    problems.warn('newer-format', at('version'), `${what}: it is read as far as it is known, and not written`);
  }
  for (const key of Object.keys(fields) as AgentKey[]) {
    if (fields[key] === undefined) continue;
    // Nobody misses the engine of what is not trusted.
    if (isNotYet('definitions', key) && !isHeldBack(key, widening)) {
      problems.warn('not-yet', at(key), `${notYet(key)} and is ignored`);
    }
  }
}

/** Modes that allow no more than any session does. */
const NARROW: ReadonlySet<string> = new Set(['plan', 'default']);

function wideningOf({permissionMode, apiKeyEnv}: AgentFile, {mayWiden}: DefineOptions): Widening[] {
  const asked: [AgentKey, string | undefined][] = [
    ['permissionMode', NARROW.has(permissionMode ?? 'default') ? undefined : permissionMode],
    ['apiKeyEnv', apiKeyEnv],
  ];
  return asked.flatMap(([key, value]) => (value === undefined ? [] : [{key, value, counts: mayWiden(key, value)}]));
}

function isHeldBack(key: AgentKey, widening: readonly Widening[]): boolean {
  return widening.some((each) => each.key === key && !each.counts);
}
