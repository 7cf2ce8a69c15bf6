/** Looks at agents as a careful colleague would: what they really have, and what their words promise beyond it. */
import path from 'node:path';
import {type Problem, ProblemList, START} from '../core/problem.ts';
import type {AgentSource, LoadedAgent, LoadedCatalog} from './catalog.ts';
import {lintDescription} from './lint-description.ts';
import {lintPrompt} from './lint-prompt.ts';
import type {MissingTool} from './tool-list.ts';

export interface AgentLint {
  readonly name: string;
  readonly source: AgentSource;
  readonly file?: string;
  /** False for a file that is broken and never was in order. */
  readonly usable: boolean;
  /** The tools that it really has. */
  readonly tools: readonly string[];
  readonly missing: readonly MissingTool[];
  readonly readOnly: boolean;
  /** Those of its file first, in the order of their places. */
  readonly findings: readonly Problem[];
}

export interface LintResult {
  readonly agents: readonly AgentLint[];
  /** Of folders, and of files that are no agents. */
  readonly others: readonly Problem[];
}

/** @param toolNames all tools that there are */
export function lintAgents(catalog: LoadedCatalog, toolNames: readonly string[]): LintResult {
  const problems = catalog.problems.map(strict);
  const seen = new Set<Problem>();
  const take = (wanted: (problem: Problem) => boolean): Problem[] => {
    const found = problems.filter((problem) => !seen.has(problem) && wanted(problem));
    for (const problem of found) seen.add(problem);
    return found;
  };
  const usable = catalog.agents.map((agent) => {
    // All inline agents share one label, so their problems stay together below.
    const own = agent.source === 'inline' ? [] : take(({file}) => file === agent.file);
    return lintAgent(agent, own, toolNames);
  });
  const hidden = catalog.hidden.map(({name, source, file, by}): AgentLint => {
    const list = new ProblemList(file ?? source);
    list.warn('hidden', START, `${name} is hidden by ${by.file ?? `the ${by.source} agent of that name`}`);
    const findings = [...(source === 'inline' ? [] : take((problem) => problem.file === file)), ...list.all];
    return {name, source, usable: false, tools: [], missing: [], readOnly: false, findings, ...(file ? {file} : {})};
  });
  const broken = [...new Set(problems.filter((each) => !seen.has(each) && isBrokenFile(each)).map(({file}) => file))];
  const unusable = broken.map((file): AgentLint => {
    const name = path.basename(file).replace(/\.(?:json|md)$/, '');
    const findings = take((problem) => problem.file === file);
    return {name, source: sourceOf(file), file, usable: false, tools: [], missing: [], readOnly: false, findings};
  });
  return {agents: [...usable, ...hidden, ...unusable], others: take(() => true)};
}

/** Unknown keys are errors here: whoever lints wants to know. */
function strict(problem: Problem): Problem {
  return problem.rule === 'unknown-key' ? {...problem, severity: 'error'} : problem;
}

function lintAgent(agent: LoadedAgent, own: readonly Problem[], toolNames: readonly string[]): AgentLint {
  const {definition, source, file, tools, missing, readOnly} = agent;
  const list = new ProblemList(file ?? source);
  if (source !== 'built-in') {
    lintDescription(definition.description, agent.places.get('description') ?? START, list);
    lintPrompt(agent, toolNames, agent.places.get('prompt') ?? START, list);
  }
  const findings = [...own, ...list.all].toSorted((a, b) => a.line - b.line || a.column - b.column);
  return {name: definition.name, source, usable: true, tools, missing, readOnly, findings, ...(file ? {file} : {})};
}

function isBrokenFile({file, severity}: Problem): boolean {
  return severity === 'error' && /\.(?:json|md)$/.test(file);
}

function sourceOf(file: string): AgentSource {
  return file.endsWith('.md') ? 'claude-project' : 'project';
}
