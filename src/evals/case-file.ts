/**
 * Reads files of cases. The format is that of the Agent Skills guide on evaluations, with checks. A wrong file is
 * reported with line and column; an unknown key is a warning, an unknown check an error.
 */
import {lstatSync} from 'node:fs';
import path from 'node:path';
import {findNodeAtLocation, getNodeValue, type Node} from 'jsonc-parser';
import {z} from 'zod';
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import {compileAnswerSchema} from '../core/turn/structured-answer.ts';
import {getErrorCode, getErrorMessage, MiniCcError, tryOr} from '../core/util/errors.ts';
import {listProjectFolder, readProjectFile} from '../core/util/files/project-file.ts';
import {parseRoot} from '../core/util/json-syntax.ts';
import {findMeant} from '../core/util/names.ts';
import {isInside} from '../core/util/paths.ts';
import {mustBe, type Problem, ProblemList, positionAt, quote} from '../core/util/problem.ts';
import {findTool, listMissingTools} from '../core/util/tool-names.ts';
import type {CaseFile, CaseSet, Check, EvalCase} from './contract.ts';

/** Most bytes of a file that is read. */
export const MAX_BYTES = 5 * 1024 * 1024;

const text = z.string(mustBe('text')).min(1, {error: 'must not be empty'});
const texts = z.array(text, mustBe('a list of texts'));
/** What a model or a shell gets. */
const words = z.string(mustBe('text')).regex(/\S/, {error: 'must not be empty'});
const count = z.int(mustBe('a whole number')).min(0, {error: 'must be 0 or more'});
const amount = z.number(mustBe('a number')).min(0, {error: 'must be 0 or more'});

const expression = text.refine(isExpression, {error: 'is no JavaScript regular expression'});
const textTest = {contains: text.optional(), matches: expression.optional(), lacks: text.optional()};
const needsOne = (names: string) => ({error: `needs one of ${names}`});
const hasSome = (value: object) => Object.values(value).some((each) => each !== undefined);

/** The kinds of checks, each with the schema of a whole check. */
const CHECKS = {
  outcome: z.object({outcome: z.enum(['success', 'error', 'timeout', 'limit', 'stopped', 'unknown'])}),
  answer: z.object({answer: z.object(textTest).refine(hasSome, needsOne('contains, matches, lacks'))}),
  cites: z.object({
    cites: text
      .regex(/^[^\s:][^:]*:[1-9]\d*(?:-\d+)?$/, {error: 'must be PATH:LINE or PATH:LINE-LINE'})
      .refine(isRange, {error: 'the last line comes before the first one'}),
  }),
  citations: z.object({citations: z.literal('all', {error: 'must be "all"'})}),
  command: z.object({command: words, exit: count.optional()}),
  changed: z.object({changed: texts}),
  unchanged: z.object({unchanged: texts.min(1, {error: 'must name at least one glob'})}),
  file: z.object({
    file: z
      .object({path: text, ...textTest, exists: z.boolean(mustBe('true or false')).optional()})
      .refine(({path: _, ...rest}) => hasSome(rest), needsOne('contains, matches, lacks, exists')),
  }),
  reads: z.object({reads: texts.min(1, {error: 'must name at least one glob'})}),
  calls: z.object({
    calls: z.record(
      text,
      z
        .object({min: count.optional(), max: count.optional()})
        .refine(hasSome, needsOne('min, max'))
        .refine(({min = 0, max = min}) => min <= max, {error: 'min is above max'}),
    ),
  }),
  schema: z.object({schema: z.record(z.string(), z.unknown(), mustBe('a JSON Schema'))}),
  max: z.object({
    max: z
      .object({
        turns: count.optional(),
        tokens: count.optional(),
        usd: amount.optional(),
        seconds: amount.optional(),
      })
      .refine(hasSome, needsOne('turns, tokens, usd, seconds')),
  }),
} satisfies Record<string, z.ZodType>;
type CheckKind = keyof typeof CHECKS;
const KINDS = Object.keys(CHECKS) as CheckKind[];

const caseSchema = z.object({
  id: z.union([text, z.int()], {error: 'must be text or a whole number'}),
  prompt: words,
  expected_output: z.string(mustBe('text')).optional(),
  files: z
    .array(z.union([text, z.object({from: text, to: text})], {error: 'must be a path or {"from", "to"}'}))
    .optional(),
  commit: text.regex(/^[^-\s]\S*$/, {error: 'must be a commit'}).optional(),
  patch: text.optional(),
  link: texts.optional(),
  setup: z.array(words, mustBe('a list of texts')).optional(),
  checks: z.array(z.unknown(), mustBe('a list of checks')).optional(),
  assertions: z.array(words, mustBe('a list of texts')).optional(),
  expectations: z.array(words, mustBe('a list of texts')).optional(),
});
type RawCase = z.infer<typeof caseSchema>;

const FILE_KEYS = ['$schema', 'agent_name', 'skill_name', 'evals'];

interface CaseFilePlaces {
  /** Folder that must contain the file without links: the workspace, or a skill's folder. */
  readonly root: string;
  /** Folder of the `files` and `patch` of cases. */
  readonly filesFolder: string;
  /** Name of the agent or skill. */
  readonly name: string;
  /** Tools that checks may name. */
  readonly tools: readonly ToolFacts[];
}

interface ReadCases {
  /** Absent when the file has an error. */
  readonly cases?: readonly EvalCase[];
  readonly problems: readonly Problem[];
}

/** @param file absolute path */
async function readCaseFile(file: string, places: CaseFilePlaces): Promise<ReadCases> {
  const {root} = places;
  const problems = new ProblemList(file);
  try {
    const source = readOwn(root, path.relative(root, file))
      .toString('utf8')
      .replace(/^\uFEFF/, '');
    const cases = await new CaseReader(source, places, problems).read();
    return {problems: problems.all, ...(problems.failed ? {} : {cases})};
  } catch (error) {
    problems.error('file', {line: 1, column: 1}, getErrorMessage(error));
    return {problems: problems.all};
  }
}

class CaseReader {
  /** Nodes of the schemas of checks. */
  readonly #schemas: Node[] = [];

  constructor(
    private readonly source: string,
    private readonly places: CaseFilePlaces,
    private readonly problems: ProblemList,
  ) {}

  async read(): Promise<readonly EvalCase[]> {
    const cases = this.#readAll();
    for (const node of this.#schemas) {
      await compileAnswerSchema(getNodeValue(node), 'schema').catch((error) =>
        this.#error(node, getErrorMessage(error)),
      );
    }
    return cases;
  }

  #readAll(): readonly EvalCase[] {
    const root = parseRoot(this.source, this.problems);
    if (!root) return [];
    this.#warnUnknown(root, FILE_KEYS);
    for (const key of ['agent_name', 'skill_name']) {
      const node = findNodeAtLocation(root, [key]);
      if (node && getNodeValue(node) !== this.places.name) {
        this.#error(
          node,
          `${key} ${quote(getNodeValue(node))} is not the name that this file is for`,
          quote(this.places.name),
        );
      }
    }
    const list = findNodeAtLocation(root, ['evals']);
    if (list?.type !== 'array')
      this.#error(list ?? root, list ? 'evals must be a list of cases' : '"evals" is missing');
    const nodes = list?.type === 'array' ? (list.children ?? []) : [];
    if (list?.type === 'array' && nodes.length === 0) this.#error(list, 'evals has no case');
    const seen = new Set<string>();
    return nodes.flatMap((node) => {
      const found = this.#readCase(node);
      if (!found) return [];
      if (seen.has(String(found.id))) {
        this.#error(findNodeAtLocation(node, ['id'])!, `the id ${quote(found.id)} is there twice`);
      }
      seen.add(String(found.id));
      return [found];
    });
  }

  #readCase(node: Node): EvalCase | undefined {
    if (node.type !== 'object') {
      this.#error(node, 'a case must be an object with id and prompt');
      return undefined;
    }
    this.#warnUnknown(node, Object.keys(caseSchema.shape));
    const raw = this.#parse(node, caseSchema);
    const checks = (findNodeAtLocation(node, ['checks'])?.children ?? []).flatMap(
      (each) => this.#readCheck(each) ?? [],
    );
    if (!raw) return undefined;
    const {id, prompt, expected_output: expectedOutput, commit, link = [], setup = []} = raw;
    return {
      id,
      prompt,
      expectedOutput,
      commit,
      link: link.filter((each, index) => this.#checkPlace(node, ['link', index], each)),
      setup,
      files: this.#readFiles(node, raw),
      patch: raw.patch === undefined ? undefined : this.#readBeside(node, ['patch'], raw.patch),
      checks,
      assertions: [...(raw.assertions ?? []), ...(raw.expectations ?? [])],
    };
  }

  #readFiles(node: Node, {files = []}: RawCase): readonly CaseFile[] {
    return files.flatMap((given, index) => {
      const {from, to} = typeof given === 'string' ? {from: given, to: given} : given;
      const content = this.#readBeside(node, ['files', index], from);
      return content && this.#checkPlace(node, ['files', index], to) ? [{to: path.normalize(to), content}] : [];
    });
  }

  /** Reads a file of the case's folder. */
  #readBeside(node: Node, where: (string | number)[], name: string): Buffer | undefined {
    try {
      return readOwn(this.places.filesFolder, name);
    } catch (error) {
      this.#error(findNodeAtLocation(node, where) ?? node, getErrorMessage(error));
      return undefined;
    }
  }

  /** Checks a path that a trial's workspace is to have. */
  #checkPlace(node: Node, where: (string | number)[], place: string): boolean {
    const problem = explainPlace(place);
    if (problem) this.#error(findNodeAtLocation(node, where) ?? node, problem);
    return problem === undefined;
  }

  #readCheck(node: Node): Check | undefined {
    if (node.type !== 'object') {
      this.#error(node, 'a check must be an object with one key');
      return undefined;
    }
    const keys = (node.children ?? []).map((each) => each.children![0]!);
    const known = keys.filter((key) => KINDS.includes(key.value as CheckKind));
    const [first] = known;
    if (!first) {
      const word = keys[0];
      const meant = word && findMeant(String(word.value), KINDS);
      this.#error(
        word ?? node,
        word
          ? `unknown check ${quote(word.value)}; there are ${KINDS.join(', ')}`
          : 'a check must name one of its kinds',
        meant,
      );
      return undefined;
    }
    if (known[1]) {
      this.#error(known[1], `a check has one kind: make ${quote(first.value)} and ${quote(known[1].value)} two checks`);
      return undefined;
    }
    const schema = CHECKS[first.value as CheckKind];
    this.#warnUnknown(node, Object.keys(schema.shape));
    const inner = findNodeAtLocation(node, [first.value]);
    const value: unknown = Object.values(schema.shape)[0];
    if (inner?.type === 'object' && value instanceof z.ZodObject) this.#warnUnknown(inner, Object.keys(value.shape));
    const check = this.#parse(node, schema as z.ZodType<Check>);
    if (check && 'file' in check && !this.#checkPlace(node, ['file', 'path'], check.file.path)) return undefined;
    if (check && 'schema' in check) this.#schemas.push(inner!);
    return check && 'calls' in check ? this.#nameTools(node, check) : check;
  }

  /** Replaces the names that tools have elsewhere. A tool that does not exist is never called, whatever the run does. */
  #nameTools(node: Node, {calls}: Extract<Check, {readonly calls: unknown}>): Check {
    const {tools} = this.places;
    const named = Object.entries(calls).map(([written, bounds]) => {
      const tool = findTool(written, tools);
      if (!tool && !/^mcp__\w/.test(written) && !listMissingTools(tools).includes(written)) {
        const meant = findMeant(
          written,
          tools.map(({name}) => name),
        );
        this.#error(findNodeAtLocation(node, ['calls', written])!, `there is no tool ${quote(written)}`, meant);
      }
      return [tool?.name ?? written, bounds] as const;
    });
    return {calls: Object.fromEntries(named)};
  }

  #parse<T>(node: Node, schema: z.ZodType<T>): T | undefined {
    const parsed = schema.safeParse(getNodeValue(node));
    if (parsed.success) return parsed.data;
    for (const {path: keys, message} of parsed.error.issues) {
      const place = keys.map((key) => (typeof key === 'number' ? key : String(key)));
      let at = place;
      while (at.length > 0 && !findNodeAtLocation(node, at)) at = at.slice(0, -1);
      this.#error(findNodeAtLocation(node, at) ?? node, `${place.join('.')}: ${message}`.replace(/^: /, ''));
    }
    return undefined;
  }

  #warnUnknown(node: Node, known: readonly string[]): void {
    for (const {children} of node.children ?? []) {
      const key = children![0]!;
      if (known.includes(key.value as string)) continue;
      const message = `unknown key ${quote(key.value)} is ignored`;
      this.problems.warn(
        'unknown-key',
        positionAt(this.source, key.offset),
        message,
        findMeant(String(key.value), known),
      );
    }
  }

  #error(node: Node, message: string, meant?: string): void {
    this.problems.error('case', positionAt(this.source, node.offset), message, meant);
  }
}

/** Says why a path cannot be one of the workspace of a trial. */
function explainPlace(place: string): string | undefined {
  const parts = path.normalize(place).split(path.sep);
  if (path.isAbsolute(place) || parts[0] === '..') return `${quote(place)} leads out of the workspace`;
  if (parts[0] === '.') return `${quote(place)} is no path of a file`;
  if (parts.includes('.git')) return `${quote(place)} is a place of git`;
  return undefined;
}

/**
 * Finds an entry of a folder. No link is followed.
 * @returns its absolute path
 * @throws MiniCcError that says what is wrong with the path
 */
export function findOwn(folder: string, name: string): string {
  const file = path.resolve(folder, name);
  if (path.isAbsolute(name) || file === folder || !isInside(file, [folder])) {
    throw new MiniCcError('CASE', `${quote(name)} leads out of the folder of the cases`);
  }
  const parts = path.relative(folder, file).split(path.sep);
  for (const [index] of parts.entries()) {
    const place = path.join(folder, ...parts.slice(0, index + 1));
    const stat = lstatSync(place, {throwIfNoEntry: false});
    if (!stat) throw new MiniCcError('CASE', `${quote(name)} does not exist`);
    if (stat.isSymbolicLink())
      throw new MiniCcError('CASE', `${quote(name)} is or passes a link, and links are not followed`);
  }
  return file;
}

/**
 * Reads a regular file of a folder. No link is followed.
 * @throws MiniCcError that says what is wrong with the path or the file
 */
export function readOwn(folder: string, name: string): Buffer {
  const file = findOwn(folder, name);
  try {
    return readProjectFile(file, MAX_BYTES);
  } catch (error) {
    const why =
      error instanceof MiniCcError ? error.message : `cannot be read (${getErrorCode(error) ?? 'unknown error'})`;
    throw new MiniCcError('CASE', `${quote(name)} ${why}`, {cause: error});
  }
}

function isRange(place: string): boolean {
  const [from, to = from] = place.slice(place.lastIndexOf(':') + 1).split('-');
  return Number(from) <= Number(to);
}

function isExpression(source: string): boolean {
  return tryOr(() => new RegExp(source) instanceof RegExp, false);
}

export const EVALS_FOLDER = path.join('.mini-cc', 'evals');

export interface FoundCases {
  /** Absent when the file has an error. */
  readonly set?: CaseSet;
  readonly problems: readonly Problem[];
}

/** @param root the workspace @returns the cases of the workspace, or those of mini-cc; undefined when there are none */
export async function findAgentCases(
  agent: string,
  root: string,
  tools: readonly ToolFacts[],
): Promise<FoundCases | undefined> {
  const own = await readAgentCases(agent, root, path.join(root, EVALS_FOLDER), tools);
  return own ?? readShippedCases(agent, tools);
}

/** Reads the cases that come with mini-cc. They lie beside the folder of the program, or of the sources. */
async function readShippedCases(agent: string, tools: readonly ToolFacts[]): Promise<FoundCases | undefined> {
  for (const up of ['..', '../..']) {
    const folder = path.join(import.meta.dirname, up, 'examples', 'evals');
    const found = await readAgentCases(agent, folder, folder, tools);
    if (found) return found;
  }
  return undefined;
}

/** @param folder has the file and its files @param root contains the folder */
export async function readAgentCases(
  agent: string,
  root: string,
  folder: string,
  tools: readonly ToolFacts[],
): Promise<FoundCases | undefined> {
  return readIfThere(path.join(folder, `${agent}.json`), {root, filesFolder: folder, name: agent, tools});
}

/** Folder in a skill's folder with its cases, which no trial sees. */
export const SKILL_EVALS = 'evals';

/** @param folder the skill's folder @returns undefined when the skill has no cases */
export async function findSkillCases(
  skill: string,
  folder: string,
  tools: readonly ToolFacts[],
): Promise<FoundCases | undefined> {
  const name = skill.split(':').at(-1)!;
  return readIfThere(path.join(folder, SKILL_EVALS, 'evals.json'), {root: folder, filesFolder: folder, name, tools});
}

async function readIfThere(file: string, places: CaseFilePlaces): Promise<FoundCases | undefined> {
  if (!lstatSync(file, {throwIfNoEntry: false})) return undefined;
  const {cases, problems} = await readCaseFile(file, places);
  return {problems, ...(cases && {set: {file, cases}})};
}

/** Lists the agents that files of cases are for, whether they exist or not. */
export function listAgentsWithCases(root: string): readonly string[] {
  try {
    const {entries} = listProjectFolder(path.join(root, EVALS_FOLDER));
    return entries.flatMap(({name}) => (name.endsWith('.json') ? [path.basename(name, '.json')] : []));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(getErrorCode(error) ?? '')) return [];
    throw error;
  }
}
