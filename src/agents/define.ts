/** From the fields of a file to an agent: which tools it will really have, whether it may write, what is missing. */
import type {AgentDefinition} from '../core/agent-types.ts';
import {isBuiltIn} from './agent-name.ts';
import {fateOf, subagentTools, type ToolFate, WRITING_TOOLS} from './known-tools.ts';
import {changesNothing, NOT_YET, needsMissingEngine} from './not-yet.ts';
import {type Place, type ProblemList, quote, START} from './problem.ts';
import {type AgentFile, type AgentKey, FORMAT_VERSION} from './schema.ts';

/** A tool that an agent does not have, and why. */
export interface MissingTool {
  /** As the definition writes it, or the name of a tool that it does not list. */
  readonly name: string;
  readonly reason: string;
  readonly meant?: string;
  /** The definition asks for it. */
  readonly listed: boolean;
}

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
  readonly toolNames: readonly string[];
  /**
   * `json`: read-only unless a writing tool is listed. `claude`, a file made for Claude Code: read-only only if it says
   * so, since there Bash may write; and its tools are other programs' too, so that the nearest of ours is no help
   * unless it is a slip.
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
  const {tools, missing, readOnly} = resolveTools(fields, at, options, problems);
  if (tools.length === 0 && !problems.failed) problems.error('no-tools', at('tools'), noTools(missing));
  if (problems.failed) return undefined;
  return {
    definition: {
      name: fields.name,
      description: fields.description.trim(),
      tools: wantsAll(fields.tools) && missing.length === 0 ? '*' : tools,
      prompt: fields.prompt,
      readOnly,
      ...(fields.model === undefined ? {} : {model: fields.model.trim()}),
      ...(fields.maxTurns === undefined ? {} : {maxTurns: fields.maxTurns}),
      ...(fields.timeoutSeconds === undefined ? {} : {timeoutSeconds: fields.timeoutSeconds}),
      ...(fields.color === undefined ? {} : {color: fields.color}),
    },
    fields,
    tools,
    missing,
    places,
  };
}

type At = (key: string) => Place;

function checkEngines(fields: AgentFile, at: At, {mayWiden}: DefineOptions, problems: ProblemList): void {
  const missingEngine = needsMissingEngine(fields);
  if (missingEngine) {
    const value = quote(fields[missingEngine]);
    problems.error(
      'not-yet',
      at(missingEngine),
      `${missingEngine} ${value} is not yet available, and without it this agent would be unsafe`,
    );
  }
  if (fields.version !== undefined && fields.version > FORMAT_VERSION) {
    problems.warn(
      'newer-format',
      at('version'),
      `is of format ${fields.version}, newer than this mini-cc: it is read as far as it is known`,
    );
  }
  for (const key of ['permissionMode', 'apiKeyEnv'] as const) {
    if (mayWiden || fields[key] === undefined) continue;
    problems.warn(
      'untrusted',
      at(key),
      `${key} counts for nothing in a project: its agents may only narrow permissions`,
    );
  }
  for (const key of Object.keys(fields) as AgentKey[]) {
    if (!NOT_YET.has(key) || fields[key] === undefined || changesNothing(key, fields[key])) continue;
    if (!mayWiden && (key === 'permissionMode' || key === 'apiKeyEnv')) continue;
    problems.warn('not-yet', at(key), `${key} is not yet available and is ignored`);
  }
}

interface ResolvedTools {
  readonly tools: readonly string[];
  readonly missing: readonly MissingTool[];
  readonly readOnly: boolean;
}

function resolveTools(fields: AgentFile, at: At, options: DefineOptions, problems: ProblemList): ResolvedTools {
  const available = subagentTools(options.toolNames);
  const missing = new Map<string, MissingTool>();
  const listed = new Set<string>(wantsAll(fields.tools) ? available : []);
  for (const [index, fate] of fatesOf(fields.tools, options.toolNames).entries()) {
    const place = at(`tools.${index}`);
    if (fate.kind === 'known') {
      listed.add(fate.name);
      if (fate.pattern !== undefined) {
        problems.warn(
          'tool-pattern',
          place,
          `${quote(fate.written)}: patterns are not read here, the agent gets ${fate.name} as a whole; permission rules still hold`,
        );
      }
      continue;
    }
    missing.set(fate.written, {name: fate.written, reason: fate.reason, listed: true, ...meantOf(fate)});
    warnOf(fate, place, problems);
  }
  const disallowed = disallowedOf(fields, at, options, problems);
  const readOnly =
    fields.readOnly ?? (options.dialect === 'json' && ![...listed].some((name) => WRITING_TOOLS.has(name)));
  const tools: string[] = [];
  for (const name of available) {
    const reason = whyMissing(name, {listed, disallowed, readOnly});
    if (reason === undefined) tools.push(name);
    else missing.set(name, {name, reason, listed: listed.has(name)});
    if (!wantsAll(fields.tools) && listed.has(name) && readOnly && WRITING_TOOLS.has(name)) {
      problems.warn('read-only', at('readOnly'), `${name} is left out: it writes, and the agent is read-only`);
    }
  }
  return {tools, missing: [...missing.values()], readOnly};
}

function fatesOf(tools: AgentFile['tools'], toolNames: readonly string[]): ToolFate[] {
  return wantsAll(tools) ? [] : tools.map((written) => fateOf(written, toolNames));
}

/** `["*"]` is what some other programs write for `"*"`. */
function wantsAll(tools: AgentFile['tools']): tools is '*' {
  return tools === '*' || tools.includes('*');
}

function whyMissing(
  name: string,
  state: {readonly listed: ReadonlySet<string>; readonly disallowed: ReadonlySet<string>; readonly readOnly: boolean},
): string | undefined {
  if (!state.listed.has(name)) return 'is not in its tools';
  if (state.disallowed.has(name)) return 'is in its disallowedTools';
  if (state.readOnly && WRITING_TOOLS.has(name)) return 'writes, and the agent is read-only';
  return undefined;
}

/** A slip here would leave an agent a tool that it must not have, so that is an error. */
function disallowedOf(fields: AgentFile, at: At, options: DefineOptions, problems: ProblemList): Set<string> {
  const names = new Set<string>();
  for (const [index, written] of (fields.disallowedTools ?? []).entries()) {
    const place = at(`disallowedTools.${index}`);
    const fate = fateOf(written, options.toolNames);
    if (fate.kind === 'known') {
      names.add(fate.name);
      if (fate.pattern === undefined) continue;
      problems.warn(
        'tool-pattern',
        place,
        `${quote(written)}: patterns are not read here, ${fate.name} is taken away as a whole`,
      );
    } else if (fate.kind === 'unknown') {
      const message = `disallowedTools: there is no tool ${quote(written)}`;
      if (fate.slip) problems.error('unknown-tool', place, message, fate.meant);
      else problems.warn('unknown-tool', place, message, fate.meant);
    }
    // What is unavailable or dispatches is not there anyway.
  }
  return names;
}

function warnOf(fate: Exclude<ToolFate, {kind: 'known'}>, place: Place, problems: ProblemList): void {
  const name = quote(fate.written);
  if (fate.kind === 'unknown')
    problems.warn('unknown-tool', place, `there is no tool ${name}: it is left out`, fate.meant);
  else if (fate.kind === 'dispatching') problems.warn('no-dispatch', place, `${name} is left out: ${fate.reason}`);
  else problems.warn('unavailable-tool', place, `${name} is left out: ${fate.reason}`);
}

function noTools(missing: readonly MissingTool[]): string {
  const listed = missing.filter(({listed}) => listed);
  const each = listed.map(
    ({name, reason, meant}) => `${quote(name)} ${reason}${meant ? `, ${meant} is the nearest` : ''}`,
  );
  return `its tools come to nothing: ${each.join('; ')}`;
}

function meantOf(fate: ToolFate): {meant?: string} {
  return fate.kind === 'unknown' && fate.meant !== undefined ? {meant: fate.meant} : {};
}
