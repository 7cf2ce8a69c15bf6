/** What a person is told when definitions have changed: one line for each change. */
import {isDeepStrictEqual} from 'node:util';
import {formatProblem, type Problem} from '../core/problem.ts';
import type {LoadedAgent, SourceEntry} from './catalog.ts';
import type {ParsedAgent} from './define.ts';

export interface FileState {
  readonly entry: SourceEntry;
  /** The last definition that was right. */
  readonly good?: ParsedAgent;
}

export interface State {
  readonly files: ReadonlyMap<string, FileState>;
  readonly agents: readonly LoadedAgent[];
}

export function changeNotices(before: State, after: State): string[] {
  return [...brokenFiles(before, after), ...changedAgents(before, after)];
}

function brokenFiles(before: State, after: State): string[] {
  const notices: string[] = [];
  for (const [file, {entry, good}] of after.files) {
    const error = firstError(entry);
    if (!error || isDeepStrictEqual(error, firstError(before.files.get(file)?.entry))) continue;
    notices.push(
      good
        ? `agent ${good.definition.name} changed and is broken, the last good one stays in use: ${formatProblem(error)}`
        : `an agent is broken and cannot be used: ${formatProblem(error)}`,
    );
  }
  return notices;
}

function changedAgents(before: State, after: State): string[] {
  const old = new Map(before.agents.map((agent) => [agent.definition.name, agent]));
  const notices: string[] = [];
  for (const agent of after.agents) {
    const {name} = agent.definition;
    const previous = old.get(name);
    old.delete(name);
    const changed = previous && !isDeepStrictEqual(previous.definition, agent.definition);
    if (!previous) notices.push(`new agent: ${name}${warningsOf(agent, after)}`);
    else if (previous.file !== agent.file) notices.push(`agent ${name} is now that of ${agent.file}`);
    else if (changed)
      notices.push(`agent ${name} changed: the new definition holds from the next Task on${warningsOf(agent, after)}`);
    else if (previous.stale && !agent.stale) notices.push(`agent ${name} is in order again`);
  }
  for (const name of old.keys()) notices.push(`agent ${name} is gone`);
  return notices;
}

function warningsOf({file = ''}: LoadedAgent, {files}: State): string {
  const warnings = files.get(file)?.entry.problems ?? [];
  const [first] = warnings;
  if (!first) return '';
  const more = warnings.length > 1 ? ` and ${warnings.length - 1} more` : '';
  return `; warning: ${formatProblem(first)}${more}`;
}

function firstError(entry: SourceEntry | undefined): Problem | undefined {
  return entry?.problems.find(({severity}) => severity === 'error');
}
