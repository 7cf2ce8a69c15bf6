/** All rules of a session, whoever wrote them. */
import {homedir} from 'node:os';
import path from 'node:path';
import ignore from 'ignore';
import {MiniCcError} from '../../util/errors.ts';
import {matchesHost, matchesName, type Rule, type RuleKind, readRule} from './rule.ts';

/** Keeps rules for later sessions in the same project. */
export interface RuleStore {
  /** How its rules say where they come from. */
  readonly source: string;
  /** One that holds a key is not written to a file. */
  mayHold(rule: string): boolean;
  /** @throws MiniCcError when it cannot be written. */
  add(rules: readonly string[]): Promise<void>;
}

export class RuleBook {
  readonly #rules: Rule[];
  readonly #matchers = new Map<string, PathMatcher>();

  constructor(
    rules: readonly Rule[],
    private readonly store?: RuleStore,
  ) {
    this.#rules = [...rules];
  }

  /** As people see them: in the order in which they were found. */
  list(): readonly Rule[] {
    return this.#rules;
  }

  /** The rule can be kept for later sessions. */
  keeps(rule: string): boolean {
    return this.store?.mayHold(rule) ?? false;
  }

  /** From now on these are allowed, also in later sessions. @throws MiniCcError when they cannot be written. */
  async keep(texts: readonly string[]): Promise<void> {
    if (!this.store) throw new MiniCcError('NO_RULE_STORE', 'There is no place to keep rules in');
    const rules = texts.map((text) => ruleOf(text, 'allow', this.store!.source));
    await this.store.add(texts);
    const known = new Set(this.#rules.filter(({kind}) => kind === 'allow').map(({text}) => text));
    this.#rules.push(...rules.filter(({text}) => !known.has(text)));
  }

  /** The tool as such is forbidden: it need not even be offered. */
  forbids(tool: string): boolean {
    return this.about(tool, 'deny').length > 0;
  }

  /** An allowing rule names this very host, not a pattern that happens to match. */
  namesHost(host: string): boolean {
    const names = this.within(['web_fetch'], 'allow').filter(({about}) => !about.includes('*'));
    return names.some(({about}) => matchesHost(about, host));
  }

  /** The rules about a tool as such, or about one whose rules cover it. */
  about(tool: string, kind: RuleKind): readonly Rule[] {
    const names = COVERED_BY[tool] ?? [tool];
    return this.#rules.filter(
      (rule) => rule.kind === kind && rule.about === undefined && names.some((name) => matchesName(rule.tool, name)),
    );
  }

  /** The rules with something in brackets, of these tools. */
  within(tools: readonly string[], kind: RuleKind): readonly (Rule & {readonly about: string})[] {
    return this.#rules.filter(
      (rule): rule is Rule & {readonly about: string} =>
        rule.kind === kind && rule.about !== undefined && tools.includes(rule.tool),
    );
  }

  /** Some files are refused or asked about, so that each has to be looked at. */
  refusesReading(tool: string): boolean {
    const tools = COVERED_BY[tool] ?? [tool];
    return this.within(tools, 'deny').length + this.within(tools, 'ask').length > 0;
  }

  /** @param targets absolute: as given, and where links lead. @param tool that touches the file. */
  aboutFile(tool: string, kind: RuleKind, targets: readonly string[], root: string): Rule | undefined {
    return this.within(COVERED_BY[tool] ?? [tool], kind).find(({about}) => this.#matcher(about, kind, root)(targets));
  }

  /** Made once: a search may look at thousands of files. */
  #matcher(about: string, kind: RuleKind, root: string): PathMatcher {
    const id = JSON.stringify([about, kind, root]);
    const known = this.#matchers.get(id) ?? pathMatcher(about, kind, root);
    this.#matchers.set(id, known);
    return known;
  }
}

/** Rules for reading hold for all that reads, rules for editing for all that writes. */
const COVERED_BY: Readonly<Record<string, readonly string[]>> = {
  grep: ['grep', 'read_file'],
  glob: ['glob', 'read_file'],
  write_file: ['write_file', 'edit_file'],
};

/** @throws MiniCcError `RULE` for a text that is no rule. */
export function ruleOf(text: string, kind: RuleKind, source: string): Rule {
  const read = readRule(text);
  if ('wrong' in read) throw new MiniCcError('RULE', `${source}: ${read.wrong}`);
  return {kind, text, source, ...read};
}

/** A rule as reasons name it. */
export function ruleWords({kind, text, source}: Rule): string {
  return `the rule ${kind} ${text} (${source})`;
}

/** @param targets absolute: the path as it was given and where its links lead. */
type PathMatcher = (targets: readonly string[]) => boolean;

/**
 * `src/**`, `*.env`: from the workspace's root. `/x`: at the root. `//x`: absolute. `~/x`: in the home directory.
 * @param root of the workspace, with links resolved.
 * @returns for what is forbidden or asked, whether one of the targets matches, in any case of letters; for what is
 * allowed, whether all do, exactly.
 */
function pathMatcher(about: string, kind: RuleKind, root: string): PathMatcher {
  const {base, pattern} = placeOf(about, root);
  const patterns = ignore({ignorecase: kind !== 'allow', allowRelativePaths: false}).add({pattern});
  const matches = (target: string) => {
    const relative = path.relative(base, target);
    if (relative === '') return /^\/?\*{1,2}$/.test(pattern);
    if (relative === '..' || relative.startsWith('../') || path.isAbsolute(relative)) return false;
    return patterns.ignores(relative);
  };
  return (targets) => (kind === 'allow' ? targets.every(matches) : targets.some(matches));
}

function placeOf(about: string, root: string): {base: string; pattern: string} {
  if (about.startsWith('//')) return {base: '/', pattern: about.slice(1)};
  if (about === '~' || about.startsWith('~/')) return {base: homedir(), pattern: about.slice(1) || '/**'};
  if (about.startsWith('./')) return {base: root, pattern: about.slice(1)};
  if (about === '..' || about.startsWith('../')) return {base: '/', pattern: path.resolve(root, about)};
  return {base: root, pattern: about};
}

/** A pattern that matches this very path. */
export function exactly(place: string): string {
  return place.replace(/[\\*?[\]!# ]/g, '\\$&');
}
