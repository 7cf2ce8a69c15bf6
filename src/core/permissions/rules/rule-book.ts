/** All rules of a session, from settings, flags and answers, and which of them apply to a tool, a pattern or a file. */
import {homedir} from 'node:os';
import path from 'node:path';
import type {RuleKind} from '../../contract/permission.ts';
import type {ToolFacts} from '../../contract/tool-facts.ts';
import {MiniCcError} from '../../util/errors.ts';
import {Glob} from '../../util/glob.ts';
import {createRule, matchesHost, matchesTool, type Rule} from './rule.ts';

/** Saves rules for later sessions in the same project. */
export interface RuleStore {
  /** The source that its rules are shown with. */
  readonly source: string;
  /** False for a rule that contains a key: it is not written to a file. */
  canSave(rule: string): boolean;
  /** @throws MiniCcError when the rules cannot be written */
  add(rules: readonly string[]): Promise<void>;
}

type PatternRule = Rule & {readonly pattern: string};

export class RuleBook {
  readonly #rules: Rule[];
  #driverRules: readonly Rule[] = [];
  /** They hold for one turn. */
  #turnRules: readonly Rule[] = [];
  readonly #matchers = new Map<string, PathMatcher>();

  constructor(
    rules: readonly Rule[],
    /** All that rules may name. */
    readonly tools: readonly ToolFacts[],
    private readonly store?: RuleStore,
  ) {
    this.#rules = [...rules];
  }

  /** In the order in which they were found. */
  list(): readonly Rule[] {
    return [...this.#rules, ...this.#driverRules];
  }

  /** They hold until they are set anew. */
  setDriverRules(rules: readonly Rule[]): void {
    this.#driverRules = rules;
  }

  /** They allow until they are set anew. @returns whether anything changed */
  setTurnRules(rules: readonly Rule[]): boolean {
    const changes = rules.length + this.#turnRules.length > 0;
    this.#turnRules = rules;
    return changes;
  }

  get #inForce(): readonly Rule[] {
    const more = [...this.#driverRules, ...this.#turnRules];
    return more.length === 0 ? this.#rules : [...this.#rules, ...more];
  }

  canSave(rule: string): boolean {
    return this.store?.canSave(rule) ?? false;
  }

  /**
   * From now on this rule allows, also in later sessions.
   * @throws MiniCcError `RULE` when the text is not a rule, `NO_RULE_STORE` when there is no store, and when the rule
   * cannot be written
   */
  async save(text: string): Promise<void> {
    if (!this.store) throw new MiniCcError('NO_RULE_STORE', 'Rules cannot be saved: there is no file for them');
    const rule = createRule(text, 'allow', this.store.source, this.tools);
    await this.store.add([text]);
    const isKnown = this.#rules.some((each) => each.kind === 'allow' && each.text === rule.text);
    if (!isKnown) this.#rules.push(rule);
  }

  /** A rule denies every call of the tool, so models are not offered the tool. */
  forbids(tool: string): boolean {
    return this.getToolRules(tool, 'deny').length > 0;
  }

  /** An allow rule names exactly this host, not a pattern with `*` that matches it. */
  namesHost(host: string): boolean {
    const rules = this.getPatternRules(['web_fetch'], 'allow').filter(({pattern}) => !pattern.includes('*'));
    return rules.some(({pattern}) => matchesHost(pattern, host));
  }

  /** The rules without brackets that apply to the tool: its own, and those of tools that cover it. */
  getToolRules(tool: string, kind: RuleKind): readonly Rule[] {
    const names = this.#getRulingTools(tool);
    return this.#inForce.filter(
      (rule) => rule.kind === kind && rule.pattern === undefined && names.some((name) => matchesTool(rule.tool, name)),
    );
  }

  /** The rules of these tools that have a pattern in brackets. */
  getPatternRules(tools: readonly string[], kind: RuleKind): readonly PatternRule[] {
    return this.#inForce.filter(
      (rule): rule is PatternRule => rule.kind === kind && rule.pattern !== undefined && tools.includes(rule.tool),
    );
  }

  /** Rules deny or ask about some files that the tool could touch, so each file has to be checked. */
  restrictsFiles(tool: string): boolean {
    const tools = this.#getRulingTools(tool);
    return this.getPatternRules(tools, 'deny').length + this.getPatternRules(tools, 'ask').length > 0;
  }

  /**
   * The first rule that matches a file.
   * @param tool the tool that touches the file
   * @param targets absolute: the path as it was given, and the path with links resolved
   * @param root of the workspace, with links resolved
   */
  findFileRule(tool: string, kind: RuleKind, targets: readonly string[], root: string): Rule | undefined {
    return this.getPatternRules(this.#getRulingTools(tool), kind).find(({pattern}) =>
      this.#getMatcher(pattern, kind, root)(targets),
    );
  }

  /** Rules for reading apply to all tools that read, rules for editing to all that write. */
  #getRulingTools(tool: string): readonly string[] {
    const other = this.tools.find(({name}) => name === tool)?.ruledBy;
    return other === undefined ? [tool] : [tool, other];
  }

  /** Matchers are created once: a search may check thousands of files. */
  #getMatcher(pattern: string, kind: RuleKind, root: string): PathMatcher {
    const id = JSON.stringify([pattern, kind, root]);
    const matcher = this.#matchers.get(id) ?? createPathMatcher(pattern, kind, root);
    this.#matchers.set(id, matcher);
    return matcher;
  }
}

/** @param targets absolute: the path as it was given, and the path with links resolved */
type PathMatcher = (targets: readonly string[]) => boolean;

/**
 * Patterns as in .gitignore. `src/**`, `*.env`: from the workspace's root. `/x`: at the root. `//x`: absolute. `~/x`: in
 * the home directory.
 * @returns for deny and ask rules, whether one of the targets matches, in any case of letters; for allow rules, whether
 * all targets match, in exactly this case
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

/** The folder from which a rule's pattern is matched, and the pattern relative to that folder. */
function splitPattern(pattern: string, root: string): {base: string; pattern: string} {
  if (pattern.startsWith('//')) return {base: '/', pattern: pattern.slice(1)};
  if (pattern === '~' || pattern.startsWith('~/')) return {base: homedir(), pattern: pattern.slice(1) || '/**'};
  if (pattern.startsWith('./')) return {base: root, pattern: pattern.slice(1)};
  if (pattern === '..' || pattern.startsWith('../')) return {base: '/', pattern: path.resolve(root, pattern)};
  return {base: root, pattern};
}

/** A pattern that matches exactly this path. */
export function toPathPattern(target: string): string {
  return target.replace(/[\\*?[\]!# ]/g, '\\$&');
}
