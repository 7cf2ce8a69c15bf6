/** Turns the fields of a file into an agent that can be dispatched. */

import {readHookSettings} from '../config/hook-settings.ts';
import type {AgentDefinition} from '../core/agent-types.ts';
import {toThinking} from '../core/util/effort.ts';
import {withoutUndefined} from '../core/util/objects.ts';
import {type Position, type ProblemList, quote, START} from '../core/util/problem.ts';
import {type AgentFile, type AgentKey, FORMAT_VERSION, isBuiltIn} from './schema.ts';
import {ANY_SERVER, type MissingTool, resolveTools, type ToolListOptions} from './tool-list.ts';

/** Position of each field in its file. Entries of lists have keys such as `tools.0`. */
type FieldPositions = ReadonlyMap<string, Position>;

export interface ParsedAgent {
  /** Definition for the run. Its `tools` are those that the agent really has. */
  readonly definition: AgentDefinition;
  /** Fields as the file has them. */
  readonly fields: AgentFile;
  readonly tools: readonly string[];
  readonly missing: readonly MissingTool[];
  readonly positions: FieldPositions;
  /** Fields that ask for more than the user has allowed, and whether the user trusts them. */
  readonly widening: readonly Widening[];
}

interface Widening {
  readonly key: AgentKey;
  readonly value: unknown;
  readonly isTrusted: boolean;
}

export interface DefineOptions extends ToolListOptions {
  /** Says whether the agent may have more than the user has allowed. It may not in a project that is not trusted. */
  readonly mayWiden: (key: AgentKey, value: unknown) => boolean;
  /** True when the name of the agent may differ from that of its file, as in a saved copy. */
  readonly anyName?: true;
}

/** @returns undefined when an error makes the agent unusable. `problems` gets all problems. */
export function defineAgent(
  fields: AgentFile,
  positions: FieldPositions,
  options: DefineOptions,
  problems: ProblemList,
): ParsedAgent | undefined {
  const at = (key: string) => positions.get(key) ?? positions.get(key.replace(/\..*/, '')) ?? START;
  if (isBuiltIn(fields.name)) {
    problems.error('reserved-name', at('name'), `${fields.name} is built in: give this agent another name`);
  }
  const widening = findWidening(fields, options);
  warnAboutNewerFormat(fields, at, problems);
  for (const {key, value} of widening.filter(({isTrusted}) => !isTrusted)) {
    const why = 'this project is not trusted (mini-cc --trust trusts it)';
    problems.warn('untrusted', at(key), `${key} ${quote(value)} is ignored: ${why}`);
  }
  const mcpServers = listServers(fields, widening);
  const hooks = readHooks(fields, at, problems);
  const memory = isIgnored('memory', widening) ? undefined : fields.memory;
  const resolved = resolveTools({...fields, mcpServers, memory}, at, options, problems);
  const {tools, missing, readOnly, all, isOpen, disallowedMcp, forNotes} = resolved;
  if (problems.failed) return undefined;
  // These fields are only of the file, or have another form in the definition.
  const {$schema, version, disallowedTools, effort, isolation, ...carried} = fields;
  return {
    definition: {
      ...withoutUndefined({
        ...carried,
        thinking: fields.thinking ?? (typeof effort === 'string' ? toThinking(effort) : undefined),
        initialPrompt: fields.initialPrompt?.trim() || undefined,
        model: fields.model?.trim(),
        apiKeyEnv: isIgnored('apiKeyEnv', widening) ? undefined : fields.apiKeyEnv,
        isolation: isolation === 'worktree' ? isolation : undefined,
        permissionMode: isIgnored('permissionMode', widening) ? undefined : fields.permissionMode,
        mcpServers: mcpServers.length > 0 ? mcpServers : undefined,
        disallowedMcp: disallowedMcp.length > 0 ? disallowedMcp : undefined,
        skills: fields.skills?.map((name) => name.trim().toLowerCase()),
        memory: memory && {scope: memory, tools: forNotes},
        hooks: hooks.length > 0 && !isIgnored('hooks', widening) ? hooks : undefined,
      }),
      name: fields.name,
      description: fields.description.trim(),
      // With exceptions this is a list in which one entry stands for the tools of all servers.
      tools: all ? '*' : [...tools, ...(isOpen ? [ANY_SERVER] : [])],
      prompt: fields.prompt,
      readOnly,
    },
    fields,
    tools: [...tools, ...forNotes],
    missing,
    positions,
    widening,
  };
}

function warnAboutNewerFormat(fields: AgentFile, at: (key: string) => Position, problems: ProblemList): void {
  if (fields.version !== undefined && fields.version > FORMAT_VERSION) {
    const what = `has format ${fields.version}, which is newer than this mini-cc`;
    problems.warn('newer-format', at('version'), `${what}: unknown parts are ignored, and the file is not written`);
  }
}

/** These modes give an agent no permission that its session lacks. */
const NARROW_MODES: ReadonlySet<string> = new Set(['plan', 'default']);

function findWidening(
  {permissionMode, apiKeyEnv, mcpServers, hooks, memory}: AgentFile,
  {mayWiden}: DefineOptions,
): Widening[] {
  // A name alone means a server that the user already has. An entry starts a program.
  const entries = readServers(mcpServers).filter(({entry}) => entry !== undefined);
  const asked: [AgentKey, unknown][] = [
    ['mcpServers', entries.length > 0 ? entries : undefined],
    ['permissionMode', NARROW_MODES.has(permissionMode ?? 'default') ? undefined : permissionMode],
    ['apiKeyEnv', apiKeyEnv],
    ['hooks', hooks],
    ['memory', memory],
  ];
  return asked.flatMap(([key, value]) => (value === undefined ? [] : [{key, value, isTrusted: mayWiden(key, value)}]));
}

/** Reads the hooks. Unusable ones become problems, and the others are used. */
function readHooks({name, hooks}: AgentFile, at: (key: string) => Position, problems: ProblemList) {
  const read = readHookSettings(hooks, `agent ${name}`);
  for (const problem of read.problems) problems.warn('hooks', at('hooks'), `${problem}: this hook is not used`);
  return read.hooks;
}

function readServers(written: AgentFile['mcpServers'] = []): NonNullable<AgentDefinition['mcpServers']> {
  const toEntries = (servers: object) =>
    Object.entries(servers).map(([name, entry]) => ({name, entry: entry as unknown}));
  if (!Array.isArray(written)) return toEntries(written);
  return written.flatMap((each) => (typeof each === 'string' ? [{name: each}] : toEntries(each)));
}

function listServers({mcpServers}: AgentFile, widening: readonly Widening[]) {
  const isTrusted = !isIgnored('mcpServers', widening);
  return readServers(mcpServers).filter(({entry}) => entry === undefined || isTrusted);
}

function isIgnored(key: AgentKey, widening: readonly Widening[]): boolean {
  return widening.some((each) => each.key === key && !each.isTrusted);
}
