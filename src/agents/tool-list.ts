/** Which tools an agent will really have, and why it lacks the others. */

import {type Place, type ProblemList, quote} from '../core/util/problem.ts';
import {fateOf, NETWORK_TOOLS, subagentTools, type ToolFate, WRITING_TOOLS} from './known-tools.ts';
import type {AgentFile} from './schema.ts';

/** A tool that an agent does not have. */
export interface MissingTool {
  /** As the definition writes it, or the name of a tool that it does not list. */
  readonly name: string;
  readonly reason: string;
  /** The nearest tool. */
  readonly meant?: string;
  /** The definition asks for it. */
  readonly listed: boolean;
}

export interface ResolvedTools {
  /** In the order of the tools that there are. */
  readonly tools: readonly string[];
  readonly missing: readonly MissingTool[];
  readonly readOnly: boolean;
  /** `"*"`, and nothing was taken away: also tools that come later. */
  readonly all: boolean;
}

interface Options {
  readonly toolNames: readonly string[];
  readonly dialect: 'json' | 'claude';
}

const WRITES = 'it writes, and the agent is read-only';
const FETCHES = 'it reaches the network, and the agent is read-only';

type Fields = Pick<AgentFile, 'tools' | 'disallowedTools' | 'readOnly'>;
type At = (key: string) => Place;

/** An agent that ends without tools is an error in `problems`. */
export function resolveTools(fields: Fields, at: At, options: Options, problems: ProblemList): ResolvedTools {
  // `["*"]` is what some other programs write for `"*"`.
  const wantsAll = fields.tools === '*' || fields.tools.includes('*');
  const available = subagentTools(options.toolNames);
  const missing: MissingTool[] = [];
  const listed = wantsAll ? new Set(available) : listedTools(fields.tools, at, options, problems, missing);
  const disallowed = disallowedTools(fields, at, options, problems);
  // `"*"` covers writing tools also where there are none at the moment.
  const writing = [...WRITING_TOOLS].filter((name) => (wantsAll || listed.has(name)) && !disallowed.has(name));
  const readOnly = fields.readOnly ?? (options.dialect === 'json' && writing.length === 0);
  const tools: string[] = [];
  for (const name of available) {
    const reason = whyMissing(name, listed, disallowed, readOnly);
    if (reason === undefined) tools.push(name);
    else missing.push({name, reason, listed: listed.has(name)});
  }
  if (readOnly && !wantsAll) {
    for (const name of writing) problems.warn('read-only', at('readOnly'), `${name} is left out: ${WRITES}`);
    for (const name of [...NETWORK_TOOLS].filter((each) => listed.has(each) && !disallowed.has(each))) {
      const remedy = fields.readOnly ? '' : ' ("readOnly": false gives it)';
      problems.warn('read-only', at('readOnly'), `${name} is left out: ${FETCHES}${remedy}`);
    }
  }
  if (tools.length === 0) problems.error('no-tools', at('tools'), `its tools come to nothing: ${reasons(missing)}`);
  return {tools, missing, readOnly, all: wantsAll && missing.length === 0};
}

/** What is listed and exists. The rest is named in `problems` and `missing`. */
function listedTools(
  tools: AgentFile['tools'],
  at: At,
  options: Options,
  problems: ProblemList,
  missing: MissingTool[],
): Set<string> {
  const listed = new Set<string>();
  for (const [index, written] of [...tools].entries()) {
    const place = at(`tools.${index}`);
    const fate = fateOf(written, options.toolNames);
    if (fate.kind !== 'known') {
      const meant = meantBy(fate, options);
      missing.push({name: written, reason: fate.reason, listed: true, ...(meant === undefined ? {} : {meant})});
      problems.warn(RULES[fate.kind], place, `tool ${quote(written)} is left out: ${fate.reason}`, meant);
      continue;
    }
    listed.add(fate.name);
    if (fate.pattern === undefined) continue;
    const instead = `the agent gets ${fate.name} as a whole, under the rules of permissions`;
    problems.warn('tool-pattern', place, `${quote(written)}: patterns are not read here, ${instead}`);
  }
  return listed;
}

const RULES = {unknown: 'unknown-tool', unavailable: 'unavailable-tool', dispatching: 'no-dispatch'} as const;

/** A slip here would leave an agent a tool that it must not have, so that is an error. */
function disallowedTools(fields: Fields, at: At, options: Options, problems: ProblemList): Set<string> {
  const names = new Set<string>();
  for (const [index, written] of (fields.disallowedTools ?? []).entries()) {
    const place = at(`disallowedTools.${index}`);
    const fate = fateOf(written, options.toolNames);
    if (fate.kind === 'known') {
      names.add(fate.name);
      if (fate.pattern === undefined) continue;
      const instead = `${fate.name} is taken away as a whole`;
      problems.warn('tool-pattern', place, `${quote(written)}: patterns are not read here, ${instead}`);
    } else if (fate.kind === 'unknown') {
      const message = `disallowedTools: there is no tool ${quote(written)}`;
      if (fate.slip) problems.error('unknown-tool', place, message, fate.meant);
      else problems.warn('unknown-tool', place, message, meantBy(fate, options));
    }
    // What is unavailable or dispatches is not there anyway.
  }
  return names;
}

function whyMissing(
  name: string,
  listed: ReadonlySet<string>,
  disallowed: ReadonlySet<string>,
  readOnly: boolean,
): string | undefined {
  if (!listed.has(name)) return 'it is not in its tools';
  if (disallowed.has(name)) return 'it is in its disallowedTools';
  if (readOnly && WRITING_TOOLS.has(name)) return WRITES;
  if (readOnly && NETWORK_TOOLS.has(name)) return FETCHES;
  return undefined;
}

/** A tool of another program is seldom one of ours misspelt. */
function meantBy(fate: ToolFate, {dialect}: Options): string | undefined {
  return fate.kind === 'unknown' && (fate.slip || dialect === 'json') ? fate.meant : undefined;
}

function reasons(missing: readonly MissingTool[]): string {
  const listed = missing.filter((each) => each.listed);
  if (listed.length === 0) return 'there are none';
  return listed
    .map(({name, reason, meant}) => `${quote(name)}: ${reason}${meant === undefined ? '' : `, nearest is ${meant}`}`)
    .join('; ');
}
