/** One settings file: its text checked against the schema, each mistake with its place. */
import type {z} from 'zod';
import {RULE_KINDS, readRule} from '../core/permissions/rules/rule.ts';
import {parseRoot} from '../core/util/json-syntax.ts';
import {type Problem, ProblemList, quote} from '../core/util/problem.ts';
import {meantKey} from './json-schema.ts';
import {type Path, readSettingsText, SettingsTree} from './jsonc-file.ts';
import {ABOUT_THE_FILE, isAmong, pathText, STRICT} from './keys.ts';
import {FORMAT_VERSION, type SettingsValues, settingsSchema} from './schema.ts';

export interface SettingsFile {
  readonly found: boolean;
  /** Empty if a problem is an error. */
  readonly values: SettingsValues;
  readonly problems: readonly Problem[];
  /** Where its keys stand. */
  readonly tree?: SettingsTree;
}

/** @param named a person named it on the command line. */
export function readSettingsFile(file: string, named: boolean): SettingsFile {
  const problems = new ProblemList(file);
  const text = readSettingsText(problems, named);
  if (text === undefined || isEmpty(text)) {
    return {found: text !== undefined, values: {}, problems: problems.all};
  }
  return {found: true, ...parseSettings(text, problems)};
}

/** Nothing but white space and lines that are comments: people comment all settings out. */
function isEmpty(text: string): boolean {
  return text.replace(/^\s*\/\/.*$/gm, '').trim() === '';
}

function parseSettings(text: string, problems: ProblemList): Omit<SettingsFile, 'found'> {
  const root = parseRoot(text, problems);
  if (!root) return {values: {}, problems: problems.all};
  const tree = new SettingsTree(text, root, problems);
  if (problems.failed) return {values: {}, problems: problems.all};
  const values = check(tree, problems);
  return {values: problems.failed ? {} : values, problems: problems.all, tree};
}

function check(tree: SettingsTree, problems: ProblemList): SettingsValues {
  const newer = isNewer(tree, problems);
  for (const path of tree.unsayable) reportUnknown(path, tree, newer, problems);
  const values = structuredClone(tree.values);
  const parsed = settingsSchema.safeParse(values);
  if (parsed.success) {
    checkRules(parsed.data, tree, newer, problems);
    return problems.failed ? {} : withoutAboutTheFile(parsed.data);
  }
  for (const issue of parsed.error.issues.flatMap(innermost)) {
    const path = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys') {
      problems.error('wrong-value', tree.valuePlace(path), `${where(issue.path)}: ${issue.message}`);
      continue;
    }
    for (const key of issue.keys) {
      reportUnknown([...path, key], tree, newer, problems);
      remove(values, [...path, key]);
    }
  }
  if (problems.failed) return {};
  const rest = settingsSchema.parse(values);
  checkRules(rest, tree, newer, problems);
  return problems.failed ? {} : withoutAboutTheFile(rest);
}

/** A rule with a slip would leave a door open, or keep one shut without a word. */
function checkRules({permissions}: SettingsValues, tree: SettingsTree, newer: boolean, problems: ProblemList): void {
  for (const kind of RULE_KINDS) {
    for (const [index, rule] of (permissions?.[kind] ?? []).entries()) {
      const read = readRule(rule);
      if (!('wrong' in read)) continue;
      const place = tree.valuePlace(['permissions', kind, String(index)]);
      const words = `permissions.${kind}, entry ${index + 1}: ${read.wrong}`;
      if (newer) problems.warn('wrong-rule', place, `${words}; it is ignored`, read.meant);
      else problems.error('wrong-rule', place, words, read.meant);
    }
  }
}

function isNewer(tree: SettingsTree, problems: ProblemList): boolean {
  const {values} = tree;
  const version = typeof values === 'object' && values !== null && 'version' in values ? values.version : undefined;
  if (typeof version !== 'number' || !Number.isInteger(version) || version <= FORMAT_VERSION) return false;
  const what = `was written for a newer version of mini-cc (format ${version}, this one knows ${FORMAT_VERSION})`;
  problems.warn('newer-format', tree.valuePlace(['version']), `${what}: what is unknown here is ignored`);
  return true;
}

function reportUnknown(path: Path, tree: SettingsTree, newer: boolean, problems: ProblemList): void {
  const words = `unknown key ${quote(pathText(path))}`;
  // `"permissions.deny"` is as unknown as `deny` there, and as much of a slip.
  const isStrict = isAmong(
    path.flatMap((key) => key.split('.')),
    STRICT,
  );
  if (isStrict && !newer) problems.error('unknown-key', tree.keyPlace(path), words, meantKey(path));
  else problems.warn('unknown-key', tree.keyPlace(path), `${words} is ignored`, meantKey(path));
}

/** In a union, the branch that went into the value says best what is wrong there. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const branch = issue.errors.find((errors) =>
    errors.some((each) => each.path.length > 0 || each.code === 'unrecognized_keys'),
  );
  return branch?.map((each) => ({...each, path: [...issue.path, ...each.path]})).flatMap(innermost) ?? [issue];
}

/** `permissions.deny, entry 2` */
function where(path: readonly PropertyKey[]): string {
  const names = path.filter((part) => typeof part !== 'number').map(String);
  const index = path.find((part) => typeof part === 'number');
  return index === undefined ? pathText(names) : `${pathText(names)}, entry ${index + 1}`;
}

function withoutAboutTheFile(values: z.output<typeof settingsSchema>): SettingsValues {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !ABOUT_THE_FILE.includes(key)));
}

/** Takes out what lies at the path. @returns whether something did. */
export function remove(values: unknown, path: Path): boolean {
  if (valueAt(values, path) === undefined) return false;
  return Reflect.deleteProperty(valueAt(values, path.slice(0, -1)) as object, path.at(-1)!);
}

/** Undefined where nothing lies. */
export function valueAt(values: unknown, path: Path): unknown {
  return path.reduce(own, values);
}

function own(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return Reflect.get(value, key);
}
