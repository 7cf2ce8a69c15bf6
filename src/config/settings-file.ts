/** Reads one settings file and checks it against the schema. Each mistake is reported with its line and column. */
import type {z} from 'zod';
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import {getRuleWarning, parseRule, parseToolEntry, RULE_KINDS} from '../core/permissions/rules/rule.ts';
import {parseRoot} from '../core/util/json-syntax.ts';
import {toFields} from '../core/util/objects.ts';
import {type Problem, ProblemList, quote} from '../core/util/problem.ts';
import {type ForeignSettings, takeForeignSettings} from './foreign-settings.ts';
import {getMeantKey} from './json-schema.ts';
import {JsonTree, type Path, readText} from './jsonc-file.ts';
import {FORMAT_VERSION, type SettingsValues, settingsSchema} from './schema.ts';
import {FILE_KEYS, formatPath, isAmong, STRICT} from './setting-keys.ts';

export interface SettingsFile {
  readonly found: boolean;
  /** Empty when a problem is an error. */
  readonly values: SettingsValues;
  readonly problems: readonly Problem[];
  /** Gives the lines and columns of keys. */
  readonly tree?: JsonTree;
  /** What the value of --settings says in Claude Code's names. */
  readonly foreign?: ForeignSettings;
}

interface Reading {
  /** Tools that rules may name. */
  readonly tools: readonly ToolFacts[];
  /** True for the value of --settings, which may be written for Claude Code: a file must exist, unknown keys are warnings. */
  readonly isForeign: boolean;
  /** True when a program sends it, which may be newer: wrong values are warnings too. */
  readonly isDriven: boolean;
}

/** @param typed settings that were typed in place of the file. `file` is the name of that place, for the problems */
export function readSettingsFile(file: string, typed: string | undefined, reading: Reading): SettingsFile {
  const problems = new ProblemList(file);
  const text = typed ?? readText(problems, reading.isForeign);
  // A file may have only white space and comment lines, because people comment out all settings.
  if (text === undefined || text.replace(/^\s*\/\/.*$/gm, '').trim() === '') {
    return {found: text !== undefined, values: {}, problems: problems.all};
  }
  return {found: true, ...parseSettings(text, problems, reading)};
}

function parseSettings(text: string, problems: ProblemList, reading: Reading): Omit<SettingsFile, 'found'> {
  const root = parseRoot(text, problems);
  if (!root) return {values: {}, problems: problems.all};
  const tree = new JsonTree(text, root, problems);
  if (problems.failed) return {values: {}, problems: problems.all};
  const given = structuredClone(tree.values);
  const foreign = reading.isForeign ? takeForeignSettings(given) : undefined;
  const values = check(given, tree, problems, reading);
  return {values: problems.failed ? {} : values, problems: problems.all, tree, ...(foreign && {foreign})};
}

function check(values: unknown, tree: JsonTree, problems: ProblemList, reading: Reading): SettingsValues {
  const {isForeign, isDriven} = reading;
  const newer = isNewer(tree, problems);
  const mayIgnore = newer ? () => true : (key: string) => isForeign && !RESTRICTS.test(key);
  for (const path of tree.protoKeys) reportUnknown(path, tree, mayIgnore, problems);
  const {data, error} = settingsSchema.safeParse(values);
  for (const issue of (error?.issues ?? []).flatMap(innermost)) {
    const path = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys') {
      const words = `${formatIssuePath(issue.path)}: ${issue.message}`;
      const mayIgnoreValue = isForeign && isDriven && !isAmong(path, STRICT);
      if (!mayIgnoreValue) problems.error('wrong-value', tree.valuePlace(path), words);
      else problems.warn('wrong-value', tree.valuePlace(path), `${words}; it is ignored`);
      if (mayIgnoreValue) remove(values, path);
      continue;
    }
    for (const key of issue.keys) {
      reportUnknown([...path, key], tree, mayIgnore, problems);
      remove(values, [...path, key]);
    }
  }
  if (problems.failed) return {};
  const rest = data ?? parseRest(values);
  checkRules(rest, tree, {...reading, newer}, problems);
  return problems.failed ? {} : withoutFileKeys(rest);
}

/** Parses the remaining values. A key that is still wrong without its wrong part is left out whole. */
function parseRest(values: unknown): SettingsValues {
  const {data, error} = settingsSchema.safeParse(values);
  if (data) return data;
  for (const {path} of error.issues) remove(values, path.slice(0, 1).map(String));
  return settingsSchema.parse(values);
}

/** Checks rules and lists of tools. A typing mistake there would silently allow or refuse the wrong calls. */
function checkRules(
  {permissions, subagents}: SettingsValues,
  tree: JsonTree,
  {newer, isForeign, tools}: Reading & {readonly newer: boolean},
  problems: ProblemList,
): void {
  const lists = [
    ...RULE_KINDS.map((kind) => ({path: ['permissions', kind], entries: permissions?.[kind], parse: parseRule})),
    ...(['allow', 'deny'] as const).map((kind) => ({
      path: ['subagents', 'tools', kind],
      entries: subagents?.tools?.[kind],
      parse: parseToolEntry,
    })),
  ];
  for (const {path, entries = [], parse} of lists) {
    for (const [index, rule] of entries.entries()) {
      const read = parse(rule, tools);
      const place = tree.valuePlace([...path, String(index)]);
      const warning = 'tool' in read ? getRuleWarning(read, tools) : undefined;
      if (warning !== undefined) problems.warn('missing-tool', place, `${path.join('.')}: ${warning}`);
      if (!('problem' in read)) continue;
      const words = `${path.join('.')}, entry ${index + 1}: ${read.problem}`;
      if (newer || (isForeign && read.unknown))
        problems.warn('wrong-rule', place, `${words}; it is ignored`, read.suggestion);
      else problems.error('wrong-rule', place, words, read.suggestion);
    }
  }
}

function isNewer(tree: JsonTree, problems: ProblemList): boolean {
  const {version} = toFields(tree.values);
  if (typeof version !== 'number' || !Number.isInteger(version) || version <= FORMAT_VERSION) return false;
  const what = `was written for a newer version of mini-cc (format ${version}, this one knows ${FORMAT_VERSION})`;
  problems.warn('newer-format', tree.valuePlace(['version']), `${what}: what is unknown here is ignored`);
  return true;
}

/** A key that narrows what a session may do is an error where it is unknown. */
const RESTRICTS = /deny|ask\b|forbid|block|disable|managed|restrict/i;

function reportUnknown(path: Path, tree: JsonTree, mayIgnore: (key: string) => boolean, problems: ProblemList): void {
  const words = `unknown key ${quote(formatPath(path))}`;
  // A key `"permissions.deny"` is as wrong as an unknown key below permissions.
  const isStrict = isAmong(
    path.flatMap((key) => key.split('.')),
    STRICT,
  );
  const {meant, nearest} = getMeantKey(path);
  const rest = nearest === undefined ? '' : `; the nearest known key is ${nearest}`;
  if (isStrict && !mayIgnore(`${path.at(-1)} ${meant ?? ''}`))
    problems.error('unknown-key', tree.keyPlace(path), `${words}${rest}`, meant);
  else problems.warn('unknown-key', tree.keyPlace(path), `${words} is ignored${rest}`, meant);
}

/** Returns the issues of the union branch that matched parts of the value, because they describe the mistake best. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const branch = issue.errors.find((errors) =>
    errors.some((each) => each.path.length > 0 || each.code === 'unrecognized_keys'),
  );
  return branch?.map((each) => ({...each, path: [...issue.path, ...each.path]})).flatMap(innermost) ?? [issue];
}

/** Formats a path such as `permissions.deny, entry 2`. */
function formatIssuePath(path: readonly PropertyKey[]): string {
  const names = path.filter((part) => typeof part !== 'number').map(String);
  const index = path.find((part) => typeof part === 'number');
  return index === undefined ? formatPath(names) : `${formatPath(names)}, entry ${index + 1}`;
}

function withoutFileKeys(values: z.output<typeof settingsSchema>): SettingsValues {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !FILE_KEYS.includes(key)));
}

/** Removes the value at the path. @returns whether there was one */
export function remove(values: unknown, path: Path): boolean {
  if (valueAt(values, path) === undefined) return false;
  return Reflect.deleteProperty(valueAt(values, path.slice(0, -1)) as object, path.at(-1)!);
}

/** @returns undefined when there is no value */
export function valueAt(values: unknown, path: Path): unknown {
  return path.reduce(own, values);
}

function own(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return Reflect.get(value, key);
}
