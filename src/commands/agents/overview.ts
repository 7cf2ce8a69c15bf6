/** `/agents`: which agents there are, where they come from, what they may; what is hidden and what is broken. */
import path from 'node:path';
import type {LoadedAgent, LoadedCatalog} from '../../agents/catalog.ts';
import {formatProblem, type Problem} from '../../core/util/problem.ts';
import {type AgentsDesk, type DeskResult, SOURCE_WORDS} from './deps.ts';

const DESCRIPTION_CHARS = 100;

export function overview(desk: AgentsDesk): DeskResult {
  const {agents, hidden, problems} = desk.snapshot();
  const own = agents.filter(({source}) => source !== 'built-in');
  const lines = [
    own.length === 0 ? 'Agents: 3 built in, none of your own' : `Agents: 3 built in, ${own.length} of your own`,
  ];
  for (const agent of agents) lines.push('', ...agentLines(agent));
  if (hidden.length > 0) lines.push('', 'Hidden:');
  for (const {name, source, file, by} of hidden) {
    const where = by.file ? desk.shownPath(by.file) : SOURCE_WORDS[by.source];
    lines.push(`  ${name} of ${file ? desk.shownPath(file) : SOURCE_WORDS[source]}, by ${where}`);
  }
  if (problems.length > 0) lines.push('', 'To mend:');
  for (const problem of problems) lines.push(`  ${formatProblem({...problem, file: desk.shownPath(problem.file)})}`);
  if (own.length === 0) lines.push('', '/agents create makes one, /agents help tells how.');
  return {ok: true, text: lines.join('\n')};
}

function agentLines({definition, source, tools, readOnly, stale}: LoadedAgent): string[] {
  const marks = [
    SOURCE_WORDS[source],
    ...(readOnly ? ['read-only'] : []),
    ...(definition.model ? [`model ${definition.model}`] : []),
    ...(definition.permissionMode ? [`mode ${definition.permissionMode}`] : []),
  ];
  const broken = stale ? ' · its file is broken, the last good one is in use' : '';
  return [
    `${definition.name} · ${marks.join(' · ')}${broken}`,
    `  ${shortened(definition.description)}`,
    `  tools: ${tools.join(', ')}`,
  ];
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= DESCRIPTION_CHARS ? line : `${line.slice(0, DESCRIPTION_CHARS - 1)}…`;
}

/** One agent of `mini-cc agents list --json`. */
export interface AgentEntry {
  readonly name: string;
  readonly description: string;
  readonly source: string;
  readonly file: string | null;
  readonly tools: readonly string[];
  readonly model: string | null;
  readonly readOnly: boolean;
  readonly hidden: boolean;
  readonly errors: readonly string[];
}

/** All agents, the hidden ones and the broken files too. */
export function agentEntries(catalog: LoadedCatalog): AgentEntry[] {
  const errorsOf = (file: string | undefined) =>
    catalog.problems.filter((problem) => problem.file === file).map(formatProblem);
  const entries = catalog.agents.map(
    ({definition, source, file, tools, readOnly}): AgentEntry => ({
      name: definition.name,
      description: definition.description,
      source,
      file: file ?? null,
      tools,
      model: definition.model ?? null,
      readOnly,
      hidden: false,
      errors: errorsOf(file),
    }),
  );
  const nothing = {description: '', tools: [], model: null, readOnly: false};
  for (const {name, source, file} of catalog.hidden) {
    entries.push({...nothing, name, source, file: file ?? null, hidden: true, errors: errorsOf(file)});
  }
  const told = new Set(entries.map(({file}) => file));
  const broken = Map.groupBy(
    catalog.problems.filter(({file}) => !told.has(file)),
    ({file}) => file,
  );
  for (const [file, problems] of broken) entries.push({...nothing, ...brokenEntry(file, problems)});
  return entries;
}

function brokenEntry(file: string, problems: readonly Problem[]) {
  const name = path.basename(file).replace(/\.(?:json|md)$/, '');
  return {name, source: 'broken', file, hidden: false, errors: problems.map(formatProblem)};
}
