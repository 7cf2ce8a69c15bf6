/** Lints agents: the tools that they really have, vague descriptions, and prompts that do not fit the tools. */
import path from 'node:path';
import {compileAnswerSchema} from '../core/turn/structured-answer.ts';
import {UsageError} from '../core/util/errors.ts';
import {findTypo} from '../core/util/names.ts';
import {type Position, type Problem, ProblemList, quote, START} from '../core/util/problem.ts';
import {toShortLine} from '../core/util/text.ts';
import type {AgentSource, LoadedAgent, LoadedCatalog} from './catalog.ts';
import {ANY_SERVER, isWriting, type ListableTools, type MissingTool} from './tool-list.ts';

export interface AgentLint {
  readonly name: string;
  readonly source: AgentSource;
  readonly file?: string | undefined;
  /** False for a broken file without a last valid definition, and for a hidden agent. */
  readonly usable: boolean;
  /** Tools that the agent really has. */
  readonly tools: readonly string[];
  readonly missing: readonly MissingTool[];
  readonly readOnly: boolean;
  /** Findings in the order of their positions in the file. */
  readonly findings: readonly Problem[];
}

export interface LintResult {
  readonly agents: readonly AgentLint[];
  /** Problems of folders, and of files that are not agents. */
  readonly others: readonly Problem[];
}

/** @param serverNames MCP servers of a session, also in the form that names of tools have */
export async function lintAgents(
  catalog: LoadedCatalog,
  listable: ListableTools,
  serverNames: readonly string[],
): Promise<LintResult> {
  // In lint, unknown keys are errors.
  const problems = catalog.problems.map(
    (problem): Problem =>
      problem.rule === 'unknown-key' && problem.severity === 'warning' ? {...problem, severity: 'error'} : problem,
  );
  const seen = new Set<Problem>();
  const take = (wanted: (problem: Problem) => boolean): Problem[] => {
    const found = problems.filter((problem) => !seen.has(problem) && wanted(problem));
    for (const problem of found) seen.add(problem);
    return found;
  };
  const usable: AgentLint[] = [];
  for (const agent of catalog.agents) {
    // All inline agents share one file label, so their problems go to `others`.
    const own = agent.source === 'inline' ? [] : take(({file}) => file === agent.file);
    usable.push(await lintAgent(agent, own, listable, serverNames));
  }
  const hidden = catalog.hidden.map(({name, source, file, by}): AgentLint => {
    const list = new ProblemList(file ?? source);
    list.warn('hidden', START, `${name} is hidden by ${by.file ?? `the ${by.source} agent of that name`}`);
    const findings = [...(source === 'inline' ? [] : take((problem) => problem.file === file)), ...list.all];
    return {...UNUSABLE, name, source, findings, file};
  });
  const broken = [...new Set(problems.filter((each) => !seen.has(each) && isBrokenFile(each)).map(({file}) => file))];
  const unusable = broken.map((file): AgentLint => {
    const findings = take((problem) => problem.file === file);
    return {
      ...UNUSABLE,
      name: path.parse(file).name,
      source: file.endsWith('.md') ? 'claude-project' : 'project',
      file,
      findings,
    };
  });
  return {agents: [...usable, ...hidden, ...unusable], others: take(() => true)};
}

async function lintAgent(
  agent: LoadedAgent,
  own: readonly Problem[],
  listable: ListableTools,
  serverNames: readonly string[],
): Promise<AgentLint> {
  const {definition, source, file, tools, missing} = agent;
  const list = new ProblemList(file ?? source);
  if (source !== 'built-in') {
    lintDescription(definition.description, agent.positions.get('description') ?? START, list);
    await lintOutputSchema(agent, list);
    lintServers(agent, serverNames, list);
    lintPrompt(agent, listable, agent.positions.get('prompt') ?? START, list);
  }
  const findings = [...own, ...list.all].toSorted((a, b) => a.line - b.line || a.column - b.column);
  const {name, readOnly} = definition;
  return {name, source, usable: true, tools, missing, readOnly, findings, file};
}

/** Checks the output schema, because each run of an agent with an invalid one fails. */
async function lintOutputSchema({definition, positions}: LoadedAgent, problems: ProblemList): Promise<void> {
  if (definition.outputSchema === undefined) return;
  try {
    await compileAnswerSchema(definition.outputSchema, 'outputSchema');
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    problems.error('output-schema', positions.get('outputSchema') ?? START, error.message);
  }
}

/** Reports MCP servers that do not exist, because their tools would be missing in each run. */
function lintServers({definition, positions, source}: LoadedAgent, known: readonly string[], list: ProblemList): void {
  const {mcpServers = [], tools} = definition;
  const key = positions.has('mcpServers') ? 'mcpServers' : 'tools';
  const listed = (tools === '*' ? [] : tools).filter((name) => name.startsWith('mcp__') && name !== ANY_SERVER);
  // If the agent has its own servers, its tools may belong to them, even while the user does not trust these entries.
  const named =
    key === 'tools'
      ? listed.map((tool) => tool.split('__')[1]!)
      : mcpServers.flatMap(({name, entry}) => (entry === undefined ? name : []));
  for (const name of new Set(named)) {
    if (known.includes(name)) continue;
    const at = positions.get(key) ?? START;
    const message = `there is no MCP server ${quote(name)}: mini-cc mcp list`;
    // In files for another program, a missing server is not an error.
    const severity = source.startsWith('claude') ? 'warn' : 'error';
    list[severity]('mcp-server', at, message, findTypo(name, known));
  }
}

function isBrokenFile({file, severity}: Problem): boolean {
  return severity === 'error' && /\.(?:json|md)$/.test(file);
}

const UNUSABLE = {usable: false, tools: [], missing: [], readOnly: false} as const;

/** Words that fit into the description of any agent. */
const GENERIC_WORDS = new Set(
  `a an and any all are as at be best better by can custom do does everything expert for from general generic good great
  help helper helpful helps i in is it its me my need needs new of on or our purpose skilled smart specialist stuff
  subagent tasks task that the things this thing to use used useful user users uses using various very want wants when
  which who with work works you your agent agents assistant ai`.split(/\s+/),
);

/** Checks whether the main model can choose the agent by this description. */
function lintDescription(description: string, position: Position, problems: ProblemList): void {
  const words = splitWords(description);
  const specific = new Set(words.filter((word) => !GENERIC_WORDS.has(word) && !/^[a-z0-9]$/.test(word)));
  if (words.length < 3 || specific.size < 2) {
    const message = 'description is too vague: say for which work this agent is, and what it gives back';
    problems.warn('vague-description', position, message);
  }
}

/** Characters of a description that are checked. */
const MAX_CHARS = 2000;

/** Splits a text into words. This works for languages without spaces too. */
function splitWords(text: string): string[] {
  const segments = new Intl.Segmenter('en', {granularity: 'word'}).segment(text.slice(0, MAX_CHARS));
  return [...segments].filter(({isWordLike}) => isWordLike).map(({segment}) => segment.toLowerCase());
}

/** Most characters of a sentence that are checked. */
const MAX_SENTENCE = 400;

const NEGATED = /\b(?:never|not|cannot|without|instead of|rather than|nor|no)\b|n['’]t\b/i;
/** Words of a sentence in which the agent only talks about a change and does not make it. */
const SUGGESTED = /\b(?:how|suggest|recommend|propose|report|describe|explain|list|ask|should be)\w*\b/i;

const WRITE =
  '(?:write|edit|modify|fix|create|update|rewrite|refactor|implement|apply|add|delete|rename|commit|repair)';
const WRITTEN =
  '(?:files?|code|tests?|bugs?|issues?|changes?|patch|patches|fix|fixes|docs|documentation|functions?|implementations?|it|them)';
const PROMISES_WRITING = new RegExp(
  `(?:^|\\b(?:then|and|also|always|can|may|will|must|you|directly)\\s+)${WRITE}\\s+(?:[\\w-]+\\s+){0,4}?${WRITTEN}\\b`,
  'i',
);
const PROMISES_RUNNING =
  /\brun\s+(?:[\w-]+\s+){0,2}?(?:tests?|suite|linters?|builds?|commands?|scripts?|npm|git|checks?)\b|\bgit (?:log|diff|blame|status|show)\b/i;

/** Checks whether the prompt promises what the tools cannot do. This is a guess by English words. */
function lintPrompt(agent: LoadedAgent, listable: ListableTools, position: Position, problems: ProblemList): void {
  const {prompt, readOnly} = agent.definition;
  const {tools} = agent;
  const asked = splitSentences(prompt).filter((sentence) => !NEGATED.test(sentence) && !SUGGESTED.test(sentence));
  const runs = tools.includes('bash');
  const writes = tools.some((name) => isWriting(name, listable));

  const promise = asked.find((sentence) => PROMISES_WRITING.test(sentence));
  if (promise !== undefined && !writes && (readOnly || !runs)) {
    const why = readOnly ? 'the agent is read-only' : 'it has no tool that writes';
    problems.warn('promises-writing', position, `prompt says "${toShortLine(promise, 80)}", but ${why}`);
  }
  const running = asked.find((sentence) => PROMISES_RUNNING.test(sentence));
  if (running !== undefined && !runs) {
    problems.warn('promises-running', position, `prompt says "${toShortLine(running, 80)}", but it has no bash`);
  }
}

function splitSentences(text: string): string[] {
  return text
    .split(/[.!?;:](?=\s)|\n/)
    .map((sentence) =>
      sentence
        .replace(/^[\s>#*\-\d.)]+/, '')
        .slice(0, MAX_SENTENCE)
        .trim(),
    )
    .filter((sentence) => sentence !== '');
}
