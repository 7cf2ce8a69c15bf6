/**
 * Has all rules of a session, from settings, flags and answers, and finds those that apply to a tool, a pattern or a
 * file.
 */
import {homedir} from 'node:os';
import path from 'node:path';
import type {RuleKind} from '../../contract/permission.ts';
import type {ToolFacts} from '../../contract/tool-facts.ts';
import {MiniCcError} from '../../util/errors.ts';
import {Glob} from '../../util/glob.ts';
import {createRule, matchesHost, matchesTool, type Rule} from './rule.ts';

/** Saves rules for later sessions in the same project. */
export interface RuleStore {
  /** Source that is shown with the rules of this store. */
  readonly source: string;
  /** Returns false for a rule that contains a key, which must not be written to a file. */
  canSave(rule: string): boolean;
  /** @param kind default: allow @throws MiniCcError when the rules cannot be written */
  add(rules: readonly string[], kind?: RuleKind): Promise<void>;
  /** @throws MiniCcError when the rules cannot be written */
  remove(rule: string, kind: RuleKind): Promise<void>;
}

type PatternRule = Rule & {readonly pattern: string};

export class RuleBook {
  readonly #rules: Rule[];
  #driverRules: readonly Rule[] = [];
  #turnRules: readonly Rule[] = [];
  readonly #matchers = new Map<string, PathMatcher>();

  constructor(
    rules: readonly Rule[],
    /** All tools that rules may name. */
    readonly tools: readonly ToolFacts[],
    private readonly store?: RuleStore,
  ) {
    this.#rules = [...rules];
  }

  /**
   * Returns the rules in the order in which they were found, and then those of the driver. Rules of one turn are not
   * included.
   */
  list(): readonly Rule[] {
    return [...this.#rules, ...this.#driverRules];
  }

  setDriverRules(rules: readonly Rule[]): void {
    this.#driverRules = rules;
  }

  /** Replaces the rules that allow calls in one turn. @returns whether anything changed */
  setTurnRules(rules: readonly Rule[]): boolean {
    const changes = rules.length + this.#turnRules.length > 0;
    this.#turnRules = rules;
    return changes;
  }

  get #inForce(): readonly Rule[] {
    const more = [...this.#driverRules, ...this.#turnRules];
    return more.length === 0 ? this.#rules : [...this.#rules, ...more];
  }

  canSave(rules: readonly string[]): boolean {
    return rules.every((rule) => this.store?.canSave(rule) ?? false);
  }

  /**
   * Adds rules for this and later sessions.
   * @throws MiniCcError `RULE` when a text is not a rule, `NO_RULE_STORE` when there is no store, and the error of
   * the store when the rules cannot be written
   */
  async save(texts: readonly string[], kind: RuleKind = 'allow'): Promise<void> {
    const store = this.#getStore();
    const rules = texts.map((text) => createRule(text, kind, store.source, this.tools));
    await store.add(texts, kind);
    const isKnown = ({text}: Rule) => this.#rules.some((each) => each.kind === kind && each.text === text);
    this.#rules.push(...rules.filter((rule) => !isKnown(rule)));
  }

  /**
   * Removes all saved rules with this text, of every kind.
   * @throws MiniCcError `RULE` when there is no such saved rule; it names other sources of the rule. Also throws as
   * `save`
   */
  async remove(text: string): Promise<void> {
    const store = this.#getStore();
    const named = this.list().filter((rule) => rule.text === text);
    const saved = named.filter(({source}) => source === store.source);
    if (saved.length === 0) {
      const others = named.map(({source}) => source).join(', ');
      throw new MiniCcError(
        'RULE',
        others ? `${text} comes from ${others}: remove it there` : `there is no rule ${text}`,
      );
    }
    for (const {kind} of saved) await store.remove(text, kind);
    for (const rule of saved) this.#rules.splice(this.#rules.indexOf(rule), 1);
  }

  #getStore(): RuleStore {
    if (this.store) return this.store;
    throw new MiniCcError('NO_RULE_STORE', 'Rules cannot be saved: there is no file for them');
  }

  /** Whether a rule denies every call of the tool. Models are not offered such a tool. */
  forbids(tool: string): boolean {
    return this.getToolRules(tool, 'deny').length > 0;
  }

  /** Whether an allow rule names exactly this host. A pattern with `*` does not count. */
  namesHost(host: string): boolean {
    const rules = this.getPatternRules(['web_fetch'], 'allow').filter(({pattern}) => !pattern.includes('*'));
    return rules.some(({pattern}) => matchesHost(pattern, host));
  }

  /** Returns the rules without brackets that apply to the tool: its own, and those of the tool whose rules cover it. */
  getToolRules(tool: string, kind: RuleKind): readonly Rule[] {
    const names = this.#getRulingTools(tool);
    return this.#inForce.filter(
      (rule) => rule.kind === kind && rule.pattern === undefined && names.some((name) => matchesTool(rule.tool, name)),
    );
  }

  /** Returns the rules of these tools that have a pattern in brackets. */
  getPatternRules(tools: readonly string[], kind: RuleKind): readonly PatternRule[] {
    return this.#inForce.flatMap((rule) => {
      const pattern = rule.pattern ?? (rule.isAboutFiles && kind !== 'allow' ? '*' : undefined);
      return rule.kind === kind && pattern !== undefined && tools.includes(rule.tool) ? [{...rule, pattern}] : [];
    });
  }

  /** Whether rules deny or ask about some files that the tool could touch. If so, each file has to be checked. */
  restrictsFiles(tool: string): boolean {
    const tools = this.#getRulingTools(tool);
    return this.getPatternRules(tools, 'deny').length + this.getPatternRules(tools, 'ask').length > 0;
  }

  /**
   * Returns the first rule that matches a file.
   * @param tool tool that touches the file
   * @param targets absolute paths: as given, and with links resolved
   * @param root root of the workspace, with links resolved
   */
  findFileRule(tool: string, kind: RuleKind, targets: readonly string[], root: string): Rule | undefined {
    return this.getPatternRules(this.#getRulingTools(tool), kind).find(({pattern}) =>
      this.#getMatcher(pattern, kind, root)(targets),
    );
  }

  /** Rules for reading apply to all tools that read, and rules for editing to all tools that write. */
  #getRulingTools(tool: string): readonly string[] {
    const other = this.tools.find(({name}) => name === tool)?.ruledBy;
    return other === undefined ? [tool] : [tool, other];
  }

  /** Each matcher is created once, because a search may check thousands of files. */
  #getMatcher(pattern: string, kind: RuleKind, root: string): PathMatcher {
    const id = JSON.stringify([pattern, kind, root]);
    const matcher = this.#matchers.get(id) ?? createPathMatcher(pattern, kind, root);
    this.#matchers.set(id, matcher);
    return matcher;
  }
}

/** @param targets absolute paths: as given, and with links resolved */
type PathMatcher = (targets: readonly string[]) => boolean;

/**
 * Creates a matcher for a pattern as in .gitignore. `src/**` and `*.env` are searched below the workspace's root, `/x`
 * is at that root, `//x` is absolute, and `~/x` is in the home directory.
 * @returns for deny and ask rules, whether one of the targets matches, ignoring case; for allow rules, whether all
 * targets match exactly
 */
function createPathMatcher(rulePattern: string, kind: RuleKind, root: string): PathMatcher {
  const {base, pattern} = splitPattern(rulePattern, root);
  const isFolder = pattern.endsWith('/');
  const body = isFolder ? pattern.slice(0, -1) : pattern;
  const glob = new Glob(body.includes('/') ? body.replace(/^\//, '') : `**/${body}`, {ignoreCase: kind !== 'allow'});
  const matches = (target: string) => {
    const relative = path.relative(base, target);
    if (relative === '') return /^\/?\*{1,2}$/.test(pattern);
    if (relative === '..' || relative.startsWith('../') || path.isAbsolute(relative)) return false;
    // `build/` allows what is in the folder, not a file of that name.
    return glob.matchesAbove(relative) || (glob.matches(relative) && !(isFolder && kind === 'allow'));
  };
  return (targets) => (kind === 'allow' ? targets.every(matches) : targets.some(matches));
}

/** Returns the folder from which a rule's pattern is matched, and the pattern relative to that folder. */
function splitPattern(written: string, root: string): {base: string; pattern: string} {
  // These are names of a process for its root and its working directory, so a rule about them means those folders.
  const pattern = written.replace(/^\/\/proc\/self\/(root|cwd)\//, (_, link) => (link === 'root' ? '//' : './'));
  if (pattern.startsWith('//')) return {base: '/', pattern: pattern.slice(1)};
  if (pattern === '~' || pattern.startsWith('~/')) return {base: homedir(), pattern: pattern.slice(1) || '/**'};
  if (pattern.startsWith('./')) return {base: root, pattern: pattern.slice(1)};
  if (pattern === '..' || pattern.startsWith('../')) return {base: '/', pattern: path.resolve(root, pattern)};
  return {base: root, pattern};
}

/** Returns a pattern that matches exactly this path. */
export function toPathPattern(target: string): string {
  return target.replace(/[\\*?[\]!# ]/g, '\\$&');
}
