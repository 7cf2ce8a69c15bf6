/** Reads agents of `.claude/agents/*.md`, which people have for Claude Code. mini-cc never writes them. */
import path from 'node:path';
import {findTypo} from '../core/util/names.ts';
import {withoutUndefined} from '../core/util/objects.ts';
import {type Position, type Problem, ProblemList, quote, START} from '../core/util/problem.ts';
import {type DefineOptions, defineAgent} from './define.ts';
import {readDefinitionFile} from './definition-file.ts';
import {type FrontMatter, readFrontMatter} from './front-matter.ts';
import {checkFields, type SourceResult} from './json-source.ts';
import {AGENT_KEYS, isAgentName, toAgentName} from './schema.ts';

/** Keys of Claude Code that mini-cc does not support. */
const WITHOUT_COUNTERPART: ReadonlySet<string> = new Set(['requiredMcpServers']);

/** Keys of the front matter. The prompt is the body of the file. */
const KNOWN_KEYS: readonly string[] = AGENT_KEYS.filter((key) => !['prompt', 'version', '$schema'].includes(key));

const README_FILE = /^(?:README|CLAUDE|AGENTS|CHANGELOG|CONTRIBUTING|LICENSE|INDEX)(?:[._-].*)?\.md$/i;

type MarkdownOptions = Omit<DefineOptions, 'dialect'>;

export function readMarkdownAgent(file: string, options: MarkdownOptions): SourceResult {
  const {text, problems} = readDefinitionFile(file, {lossy: true});
  if (text === undefined) return {problems};
  const {agent, problems: found} = parseMarkdownAgent(text, file, options);
  return {agent, problems: [...problems, ...found].map(toHint)};
}

/**
 * Turns warnings into hints. The file was written for another program, so it is not wrong when mini-cc does not know a
 * part.
 */
function toHint(problem: Problem): Problem {
  return problem.severity === 'warning' ? {...problem, severity: 'hint'} : problem;
}

export function parseMarkdownAgent(text: string, file: string, options: MarkdownOptions): SourceResult {
  const problems = new ProblemList(file);
  const head = readFrontMatter(text, KNOWN_KEYS, problems);
  if (!head) {
    if (!problems.failed && !README_FILE.test(path.basename(file))) {
      problems.warn('no-front-matter', START, 'has no front matter between two lines of ---: it is not an agent');
    }
    return {problems: problems.all};
  }
  const getPosition = (key: string): Position => {
    const top = key.replace(/\..*/, '');
    return head.positions.get(top) ?? START;
  };
  const values = readFields(head, file, getPosition, problems);
  if (head.body === '') problems.error('missing', START, 'there is no prompt below the front matter');
  const positions = new Map([...head.positions, ['prompt', {line: head.bodyLine, column: 1}]]);
  const fields = checkFields(values, getPosition, problems, {reported: new Set(['prompt']), dialect: 'claude'});
  const agent = fields && defineAgent(fields, positions, {...options, dialect: 'claude'}, problems);
  return {agent, problems: problems.all};
}

/** Converts the values to the types of our schema. Unknown keys are reported. */
function readFields(
  head: FrontMatter,
  file: string,
  getPosition: (key: string) => Position,
  problems: ProblemList,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [key, value] of head.values) {
    if (KNOWN_KEYS.includes(key)) {
      // `model:` without a value means no model. Tools are read below.
      if (value !== null || key === 'tools') values[key] = value;
    } else reportUnknownKey(key, getPosition(key), problems);
  }
  if (head.body !== '') values.prompt = head.body;
  values.name = resolveName(values.name, file, getPosition('name'), problems);
  values.description = readText(values.description);
  values.tools = readTools(values.tools, 'tools' in values, getPosition('tools'), problems);
  if (typeof values.disallowedTools === 'string') values.disallowedTools = splitList(values.disallowedTools);
  if (typeof values.skills === 'string') values.skills = splitList(values.skills);
  if (typeof values.color === 'string') values.color = values.color.trim().toLowerCase();
  if (typeof values.model === 'string' && values.model.trim() === '') delete values.model;
  return withoutUndefined(values);
}

function reportUnknownKey(key: string, position: Position, problems: ProblemList): void {
  if (WITHOUT_COUNTERPART.has(key)) {
    problems.warn('no-counterpart', position, `${key} is not supported by mini-cc and is ignored`);
  } else {
    const meant = /^(?:allowed[-_]?tools)$/i.test(key) ? 'tools' : findTypo(key, KNOWN_KEYS);
    problems.warn('unknown-key', position, `unknown key ${quote(key)} is ignored`, meant);
  }
}

/** Returns the stated name, or the name of the file, as a valid agent name. */
function resolveName(stated: unknown, file: string, position: Position, problems: ProblemList): string | undefined {
  const fileName = path.basename(file).replace(/\.md$/i, '');
  const written = typeof stated === 'number' || typeof stated === 'string' ? String(stated).trim() : '';
  if (isAgentName(written)) return written;
  const name = toAgentName(written) ?? toAgentName(fileName);
  if (name === undefined) {
    problems.error(
      'wrong-value',
      position,
      `neither ${quote(written)} nor the name of the file can become an agent name (a letter a–z comes first)`,
    );
  } else if (written !== '') problems.warn('name', position, `name ${quote(written)} is read as ${quote(name)}`);
  else problems.warn('name', position, `name is missing: the name of the file is used, ${quote(name)}`);
  return name ?? 'unnamed';
}

/** Reads a text. In a single line, people write `\n` for a new line. */
function readText(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return value;
  return value.includes('\n') ? value.trim() : value.replaceAll('\\n', '\n').trim();
}

/** Reads the list of tools. Without `tools`, an agent gets all. The schema refuses an empty list. */
function readTools(value: unknown, stated: boolean, position: Position, problems: ProblemList): unknown {
  if (!stated) return '*';
  if (value === null) {
    problems.warn('tools', position, 'tools is empty: the agent gets all tools');
    return '*';
  }
  if (Array.isArray(value)) return value.flatMap((entry) => (typeof entry === 'string' ? splitList(entry) : [entry]));
  if (typeof value !== 'string') return value;
  if (/^["']?(?:\*|all|all tools|inherit)["']?$/i.test(value.trim())) return '*';
  return splitList(value);
}

/** Splits a list. A comma in parentheses is part of a pattern: `Read, Bash(git log:*, git diff:*)` has two entries. */
function splitList(text: string): string[] {
  const entries = [''];
  let depth = 0;
  for (const character of text.trim().replace(/^\[/, '').replace(/\]$/, '')) {
    if (character === '(') depth++;
    else if (character === ')') depth--;
    if ((character === ',' && depth <= 0) || character === '\n') entries.push('');
    else entries[entries.length - 1] += character;
  }
  return entries.map((entry) => entry.trim().replace(/^(["'`])(.*)\1$/, '$2')).filter((entry) => entry !== '');
}
