/** Agents of `.claude/agents/*.md`: read as people have them, never written. */
import path from 'node:path';
import {slipOf} from '../core/util/nearest.ts';
import {type Place, ProblemList, quote, START} from '../core/util/problem.ts';
import {type DefineOptions, defineAgent} from './define.ts';
import {readDefinitionFile} from './definition-file.ts';
import {type FrontMatter, readFrontMatter, splitFrontMatter} from './front-matter.ts';
import {checkFields, type SourceResult} from './json-source.ts';
import {AGENT_KEYS, COLORS, isAgentName, normalName} from './schema.ts';

/** Keys of Claude Code that nothing here answers to. */
const WITHOUT_COUNTERPART: ReadonlySet<string> = new Set([
  'skills',
  'mcpServers',
  'hooks',
  'memory',
  'effort',
  'initialPrompt',
  'requiredMcpServers',
]);

/** The prompt is the body of the file. */
const KNOWN_KEYS: readonly string[] = AGENT_KEYS.filter((key) => key !== 'prompt');

/** Files that lie in such folders and are no agents. */
const ABOUT_THE_FOLDER = /^(?:README|CLAUDE|AGENTS|CHANGELOG|CONTRIBUTING|LICENSE|INDEX)(?:[._-].*)?\.md$/i;

export type MarkdownOptions = Omit<DefineOptions, 'dialect'>;

export function readMarkdownAgent(file: string, options: MarkdownOptions): SourceResult {
  const {text, problems} = readDefinitionFile(file, {lossy: true});
  if (text === undefined) return {problems};
  const {agent, problems: found} = parseMarkdownAgent(text, file, options);
  return {...(agent === undefined ? {} : {agent}), problems: [...problems, ...found]};
}

export function parseMarkdownAgent(text: string, file: string, options: MarkdownOptions): SourceResult {
  const problems = new ProblemList(file);
  const split = splitFrontMatter(text.replace(/^\uFEFF/, ''));
  if (split.type === 'none') {
    if (!ABOUT_THE_FOLDER.test(path.basename(file))) {
      problems.warn('no-front-matter', START, 'has no front matter between two lines of ---: it is no agent');
    }
    return {problems: problems.all};
  }
  if (split.type === 'open') {
    problems.error('syntax', START, 'the front matter that begins here is not closed by a line of ---');
    return {problems: problems.all};
  }
  const head = readFrontMatter(split, KNOWN_KEYS, problems);
  const placeOf = (key: string): Place => {
    const top = key.replace(/\..*/, '');
    return head.places.get(top) ?? START;
  };
  const values = fieldsOf(head, file, placeOf, problems);
  if (split.body === '') problems.error('missing', START, 'there is no prompt below the front matter');
  const places = new Map([...head.places, ['prompt', {line: split.bodyLine, column: 1}]]);
  const fields = checkFields(values, placeOf, problems, new Set(['prompt']));
  const agent = fields && defineAgent(fields, places, {...options, dialect: 'claude'}, problems);
  return agent ? {agent, problems: problems.all} : {problems: problems.all};
}

type PlaceOf = (key: string) => Place;

/** The values in the types of our schema. What has no place in it is named. */
function fieldsOf(head: FrontMatter, file: string, placeOf: PlaceOf, problems: ProblemList): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [key, value] of head.values) {
    if (KNOWN_KEYS.includes(key)) {
      // `model:` with nothing behind it is as good as no model. Tools are looked at below.
      if (value !== null || key === 'tools') values[key] = value;
    } else reportUnknown(key, placeOf(key), problems);
  }
  if (head.body !== '') values.prompt = head.body;
  values.name = nameOf(values.name, file, placeOf('name'), problems);
  values.description = textOf(values.description);
  values.tools = toolsOf(values.tools, 'tools' in values, placeOf('tools'), problems);
  if (typeof values.disallowedTools === 'string') values.disallowedTools = splitList(values.disallowedTools);
  if (typeof values.color === 'string') values.color = colorOf(values.color);
  if (typeof values.model === 'string' && values.model.trim() === '') delete values.model;
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function reportUnknown(key: string, place: Place, problems: ProblemList): void {
  if (WITHOUT_COUNTERPART.has(key)) {
    problems.warn('no-counterpart', place, `${key} has no counterpart in mini-cc and is ignored`);
  } else {
    const meant = /^(?:allowed[-_]?tools)$/i.test(key) ? 'tools' : slipOf(key, KNOWN_KEYS);
    problems.warn('unknown-key', place, `unknown key ${quote(key)} is ignored`, meant);
  }
}

/** The stated name, or the file's, in the form that names have here. */
function nameOf(stated: unknown, file: string, place: Place, problems: ProblemList): string | undefined {
  const fileName = path.basename(file).replace(/\.md$/i, '');
  const written = typeof stated === 'number' || typeof stated === 'string' ? String(stated).trim() : '';
  if (isAgentName(written)) return written;
  const name = normalName(written) ?? normalName(fileName);
  if (name === undefined) {
    problems.error(
      'wrong-value',
      place,
      `neither ${quote(written)} nor the file's name holds a name for an agent (a–z first)`,
    );
  } else if (written !== '') problems.warn('name', place, `name ${quote(written)} is read as ${quote(name)}`);
  else problems.warn('name', place, `name is missing: the file's name is taken, ${quote(name)}`);
  return name ?? 'unnamed';
}

/** In one line people write `\n` for a new line. */
function textOf(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return value;
  return value.includes('\n') ? value.trim() : value.replaceAll('\\n', '\n').trim();
}

/** No `tools` means all of them. An empty list is for the schema to refuse. */
function toolsOf(value: unknown, stated: boolean, place: Place, problems: ProblemList): unknown {
  if (!stated) return '*';
  if (value === null) {
    problems.warn('tools', place, 'tools is empty: the agent gets all, as if it were not there');
    return '*';
  }
  if (Array.isArray(value)) return value.flatMap((entry) => (typeof entry === 'string' ? splitList(entry) : [entry]));
  if (typeof value !== 'string') return value;
  if (/^["']?(?:\*|all|all tools|inherit)["']?$/i.test(value.trim())) return '*';
  return splitList(value);
}

/** `Read, Bash(git log:*, git diff:*)` → two entries: a comma in brackets is part of a pattern. */
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

function colorOf(written: string): string {
  const color = written.trim().toLowerCase();
  return slipOf(color, COLORS) === 'gray' ? 'gray' : color;
}
