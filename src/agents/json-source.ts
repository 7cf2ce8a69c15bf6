/** Reads agents as JSON: files of `.mini-cc/agents` and the text of `--agents`. Comments and trailing commas are allowed. */
import path from 'node:path';
import {getNodeValue, type Node} from 'jsonc-parser';
import type {z} from 'zod';
import {getProperties, parseRoot} from '../core/util/json-syntax.ts';
import {findMeant, findNearest} from '../core/util/names.ts';
import {type Position, type Problem, ProblemList, positionAt, quote, START} from '../core/util/problem.ts';
import {type DefineOptions, defineAgent, type ParsedAgent} from './define.ts';
import {readDefinitionFile} from './definition-file.ts';
import {AGENT_KEYS, agentFileSchema, SOFT_KEYS, toAgentName} from './schema.ts';

export interface SourceResult {
  readonly agent?: ParsedAgent | undefined;
  readonly problems: readonly Problem[];
}

/** Other names that people and programs use for our keys, in lower case without separators. */
const SYNONYMS: Readonly<Record<string, string>> = {
  systemprompt: 'prompt',
  instructions: 'prompt',
  instruction: 'prompt',
  allowedtools: 'tools',
  deniedtools: 'disallowedTools',
  timeout: 'timeoutSeconds',
  maxsteps: 'maxTurns',
  title: 'name',
  when: 'description',
  whentouse: 'description',
};

export function readJsonAgent(file: string, options: DefineOptions): SourceResult {
  const {text, problems} = readDefinitionFile(file, {lossy: false});
  return text === undefined ? {problems} : parseJsonAgent(text, file, options);
}

/** Brackets, colons and commas of one definition. A project may bring a thousand definitions. */
const MAX_MARKS = 2000;

/**
 * @param file path for messages. When it ends in `.json`, the rest of its name must be the agent's name, unless the
 *   options allow any
 */
export function parseJsonAgent(written: string, file: string, options: DefineOptions): SourceResult {
  const problems = new ProblemList(file);
  const text = written.replace(/^\uFEFF/, '');
  const root = parseRoot(text, problems, MAX_MARKS);
  if (!root) return {problems: problems.all};
  const agent = parseAgent(new JsonFields(text, root, problems), options);
  const expected = file.endsWith('.json') && !options.anyName ? path.basename(file, '.json') : undefined;
  if (agent && expected !== undefined && agent.fields.name !== expected) {
    const position = agent.positions.get('name') ?? START;
    const message = `name ${quote(agent.fields.name)} differs from the name of the file`;
    problems.error('file-name', position, message, quote(expected));
    return {problems: problems.all};
  }
  return {agent, problems: problems.all};
}

/** Parses `{"NAME": {"description", "prompt", …}, …}`. An agent without `tools` gets all, as in Claude Code. */
export function parseInlineAgents(text: string, label: string, options: DefineOptions): SourceResult[] {
  const problems = new ProblemList(label);
  const root = parseRoot(text, problems);
  if (!root) return [{problems: problems.all}];
  const results = getProperties(root).map(([key, value]): SourceResult => {
    const own = new ProblemList(label);
    const position = positionAt(text, value?.offset ?? key.offset);
    if (value?.type !== 'object') {
      own.error('wrong-type', position, `${quote(key.value)} must be an object with description and prompt`);
      return {problems: own.all};
    }
    const fields = new JsonFields(text, value, own);
    const name = fields.values.name ?? key.value;
    if (name !== key.value) {
      own.error('file-name', fields.getPosition('name'), `name ${quote(name)} differs from its key`, quote(key.value));
    }
    fields.addDefault('name', key.value, positionAt(text, key.offset));
    fields.addDefault('tools', '*', position);
    return {agent: parseAgent(fields, options), problems: own.all};
  });
  return results.length > 0 ? results : [{problems: problems.all}];
}

/** The members of one object and their positions in the text. If a key appears twice, the last one counts. */
class JsonFields {
  /** The object has no prototype, so that `__proto__` and `constructor` are keys like any other. */
  readonly values: Record<string, unknown> = Object.create(null);
  readonly positions = new Map<string, Position>();
  readonly keyPositions = new Map<string, Position>();

  constructor(
    text: string,
    readonly root: Node,
    readonly problems: ProblemList,
  ) {
    this.positions.set('', positionAt(text, root.offset));
    for (const [key, value] of getProperties(root)) {
      const name = String(key.value);
      const position = positionAt(text, key.offset);
      if (this.keyPositions.has(name))
        problems.warn('double-key', position, `${quote(name)} appears twice: the last one is used`);
      this.keyPositions.set(name, position);
      if (!value) continue;
      this.values[name] = getNodeValue(value);
      this.positions.set(name, positionAt(text, value.offset));
      for (const [index, item] of (value.type === 'array' ? (value.children ?? []) : []).entries()) {
        this.positions.set(`${name}.${index}`, positionAt(text, item.offset));
      }
    }
  }

  addDefault(key: string, value: unknown, position: Position): void {
    if (key in this.values) return;
    this.values[key] = value;
    this.positions.set(key, position);
    this.keyPositions.set(key, position);
  }

  getPosition(key: string): Position {
    return this.positions.get(key) ?? this.positions.get('') ?? START;
  }
}

function parseAgent(fields: JsonFields, options: DefineOptions): ParsedAgent | undefined {
  const {problems} = fields;
  const values: Record<string, unknown> = {};
  const absent = new Set(['name', 'description', 'tools', 'prompt'].filter((key) => !(key in fields.values)));
  const missing = new Set(absent);
  for (const [key, position] of fields.keyPositions) {
    if ((AGENT_KEYS as readonly string[]).includes(key)) values[key] = fields.values[key];
    else reportUnknownKey(key, position, missing, problems);
  }
  for (const key of missing) problems.error('missing', fields.getPosition(''), `${quote(key)} is missing`);
  const checked = checkFields(values, (key) => fields.getPosition(key), problems, {
    reported: absent,
    dialect: options.dialect,
  });
  return checked && defineAgent(checked, fields.positions, options, problems);
}

/**
 * Checks values against the schema.
 * @param reported keys whose absence is already reported
 * @param dialect decides for which keys a wrong value is ignored with a warning
 * @returns undefined when a field has an error
 */
export function checkFields(
  values: Record<string, unknown>,
  getPosition: (key: string) => Position,
  problems: ProblemList,
  {
    reported,
    dialect = 'json',
  }: {readonly reported?: ReadonlySet<string>} & Partial<Pick<DefineOptions, 'dialect'>> = {},
): z.infer<typeof agentFileSchema> | undefined {
  const parsed = agentFileSchema.safeParse(values);
  if (parsed.success) return problems.failed ? undefined : parsed.data;
  const without = {...values};
  for (const issue of parsed.error.issues) {
    const {path: issuePath, message} = findDeepestIssue(issue);
    const key = String(issuePath[0] ?? '');
    if (reported?.has(key) && !(key in values)) continue;
    const position = getPosition(issuePath.join('.').replace(/^([^.]*\.\d+).*/, '$1'));
    const where = issuePath.length > 1 ? `${key}, entry ${Number(issuePath[1]) + 1}` : key;
    const meant = key === 'name' && typeof values.name === 'string' ? toAgentName(values.name) : undefined;
    if (!SOFT_KEYS[dialect].has(key))
      problems.error(message === 'is missing' ? 'missing' : 'wrong-value', position, `${where}: ${message}`, meant);
    else {
      problems.warn('wrong-value', position, `${where}: ${message}; it is ignored`);
      delete without[key];
    }
  }
  return problems.failed ? undefined : agentFileSchema.parse(without);
}

/** Finds the issue of the union branch that matched the value best, because its message is the most useful. */
function findDeepestIssue(issue: z.core.$ZodIssue): {readonly path: readonly PropertyKey[]; readonly message: string} {
  if (issue.code !== 'invalid_union') return issue;
  const inner = issue.errors
    .flat()
    .map(findDeepestIssue)
    .filter((each) => each.path.length > 0)
    .toSorted((a, b) => b.path.length - a.path.length)[0];
  return inner ? {path: [...issue.path, ...inner.path], message: inner.message} : issue;
}

/** Adds one error when the unknown key was probably meant as a missing one, and otherwise a warning. */
function reportUnknownKey(key: string, position: Position, missing: Set<string>, problems: ProblemList): void {
  const meant = findMeantKey(key);
  if (meant !== undefined && missing.delete(meant)) {
    problems.error('missing', position, `${quote(meant)} is missing, and ${quote(key)} is an unknown key`, meant);
  } else {
    const rest = meant === undefined ? `; the nearest known key is ${findNearest(key, AGENT_KEYS)}` : '';
    problems.warn('unknown-key', position, `unknown key ${quote(key)} is ignored${rest}`, meant);
  }
}

function findMeantKey(key: string): string | undefined {
  const folded = key.replace(/[-_\s]/g, '').toLowerCase();
  return Object.hasOwn(SYNONYMS, folded) ? SYNONYMS[folded] : findMeant(key, AGENT_KEYS);
}
