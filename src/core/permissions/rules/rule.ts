/** One permission rule: `bash`, `bash(npm test)`, `edit_file(src/**)`, `web_fetch(domain:example.com)`, `Task(reviewer)`. */
import type {RuleKind} from '../../contract/permission.ts';
import type {ToolFacts} from '../../contract/tool-facts.ts';
import {MiniCcError} from '../../util/errors.ts';
import {matchesPieces} from '../../util/glob.ts';
import {findMeant} from '../../util/names.ts';
import {findTool, listMissingTools} from '../../util/tool-names.ts';

/** The strongest first. */
export const RULE_KINDS: readonly RuleKind[] = ['deny', 'ask', 'allow'];

export interface Rule {
  readonly kind: RuleKind;
  /** As it was written. */
  readonly text: string;
  /** The name of a tool, or a pattern of names with `*`. */
  readonly tool: string;
  /** What the brackets contain; without brackets the rule applies to every call of the tool. */
  readonly pattern?: string;
  /** Where it comes from: a file, a flag. */
  readonly source: string;
}

type ParsedRule =
  | {readonly tool: string; readonly pattern?: string}
  /** `unknown`: nothing else is wrong than that there is no such tool. */
  | {readonly problem: string; readonly suggestion?: string; readonly unknown?: true};

/**
 * @param tools all that are known. A rule may also name a tool that only Claude Code has: it applies to no call
 * @returns the parts of the rule, or what is wrong with its text and what was probably meant
 */
export function parseRule(text: string, tools: readonly ToolFacts[]): ParsedRule {
  const written = text.trim();
  const [, name = '', brackets] = /^([^()]*?)\s*(\(.*)?$/s.exec(written) ?? [];
  if (name === '') return {problem: `${JSON.stringify(text)} names no tool`};
  if (brackets !== undefined && !brackets.endsWith(')')) {
    return {
      problem: `${JSON.stringify(text)} has no closing bracket`,
      suggestion: JSON.stringify(`${written})`),
    };
  }
  const found = findTool(name, tools);
  const tool = found?.name ?? name;
  const pattern = brackets?.slice(1, -1).trim();
  if (name.includes('*')) return parseNamePattern(name, pattern, tools);
  if (isMissingTool(tool, tools)) return pattern === undefined ? {tool} : {tool, pattern};
  if (!found && !/^mcp__\w/.test(tool)) {
    const names = tools.map((each) => each.name);
    const suggestion = findMeant(name, names);
    return {
      problem: `there is no tool ${JSON.stringify(name)}`,
      ...(suggestion !== undefined && {suggestion}),
      unknown: true,
    };
  }
  if (pattern === undefined || pattern === '*') return {tool};
  if (pattern === '')
    return {problem: `${JSON.stringify(text)}: nothing stands in its brackets`, suggestion: JSON.stringify(name)};
  return findPatternProblem(tool, pattern, found?.rulePattern) ?? {tool, pattern};
}

/** What a person should know of a rule that is no mistake, and still applies to no call. */
export function getRuleWarning({tool}: {readonly tool: string}, tools: readonly ToolFacts[]): string | undefined {
  if (!isMissingTool(tool, tools)) return undefined;
  const other = tools.find(({replaces}) => replaces?.includes(tool));
  return `mini-cc has no tool ${tool}, so that this rule has no effect${other ? ` (its own is ${other.name})` : ''}`;
}

function isMissingTool(name: string, tools: readonly ToolFacts[]): boolean {
  return listMissingTools(tools).includes(name);
}

/** Rules are separated by commas or white space; what stands in brackets belongs to one rule. */
export function splitRules(value: string): string[] {
  let depth = 0;
  const rules = [''];
  for (const character of value) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth <= 0 && /[\s,]/.test(character)) rules.push('');
    else rules.push(rules.pop() + character);
  }
  return rules.filter((rule) => rule !== '');
}

function parseNamePattern(name: string, pattern: string | undefined, tools: readonly ToolFacts[]): ParsedRule {
  if (pattern !== undefined) return {problem: `${JSON.stringify(name)}: a pattern of names takes nothing in brackets`};
  const matches = tools.some((tool) => matchesName(name, tool.name)) || name.startsWith('mcp__');
  return matches ? {tool: name} : {problem: `there is no tool that ${JSON.stringify(name)} matches`};
}

function findPatternProblem(
  tool: string,
  pattern: string,
  kind: ToolFacts['rulePattern'],
): {problem: string; suggestion?: string} | undefined {
  switch (kind) {
    case 'command':
      if (pattern !== ':*') return undefined;
      return {problem: `${tool}(:*): nothing stands before :*`, suggestion: tool};
    case 'path':
      if (!pattern.startsWith('!')) return undefined;
      return {problem: `${tool}(${pattern}): a pattern that begins with ! matches nothing by itself`};
    case 'domain': {
      const [, domain] = /^domain:\s*(\S+)$/.exec(pattern) ?? [];
      if (domain !== undefined && isDomain(domain)) return undefined;
      const host = /^(?:\w+:\/+)?([^/\s:]+)/.exec(pattern)?.[1];
      return {
        problem: `${tool}(${pattern}): it takes the name of a host`,
        ...(host !== undefined && domain === undefined && {suggestion: `${tool}(domain:${host})`}),
      };
    }
    case 'agent':
      if (/^[\w*-]+$/.test(pattern)) return undefined;
      return {problem: `${tool}(${pattern}): it takes the name of an agent`};
    default:
      return {problem: `${tool} takes nothing in brackets`, suggestion: tool};
  }
}

function isDomain(text: string): boolean {
  if (/^\[[\da-f:.]+\]$/i.test(text)) return URL.canParse(`http://${text}/`);
  return /^(?:\*|(?:\*\.)?[\w-]+(?:\.[\w-]+)*)$/.test(text);
}

/** @throws MiniCcError `RULE` when the text is not a rule */
export function createRule(text: string, kind: RuleKind, source: string, tools: readonly ToolFacts[]): Rule {
  const parsed = parseRule(text, tools);
  if ('problem' in parsed) throw new MiniCcError('RULE', `${source}: ${parsed.problem}`);
  return {kind, text, source, ...parsed};
}

/** The rule as the reasons of decisions name it. */
export function formatRule({kind, text, source}: Rule): string {
  return `the rule ${kind} ${text} (${source})`;
}

/** Whether a pattern of names matches; `*` matches any characters. */
export function matchesName(pattern: string, name: string): boolean {
  return matchesPieces(pattern.split('*'), name);
}

/** Whether a rule is about this tool: by its name, by a pattern of names, or `mcp__SERVER` for all tools of that server. */
export function matchesTool(pattern: string, name: string): boolean {
  return matchesName(pattern, name) || (/^mcp__(?:(?!__).)+$/.test(pattern) && name.startsWith(`${pattern}__`));
}

/** The rule for exactly this host. */
export function formatHostRule(host: string): string {
  return `web_fetch(domain:${host.includes(':') ? `[${host}]` : host})`;
}

/** `domain:example.com` matches that host alone; `domain:*.example.com` the hosts below it. @param host without brackets */
export function matchesHost(pattern: string, host: string): boolean {
  const written = pattern.replace(/^domain:\s*/, '').toLowerCase();
  // An IPv6 address has many spellings; URL gives the normal one.
  const domain = written.startsWith('[') ? URL.parse(`http://${written}/`)?.hostname.slice(1, -1) : written;
  if (domain === undefined) return false;
  if (domain === '*') return true;
  const normalHost = host.toLowerCase().replace(/\.$/, '');
  return domain.startsWith('*.') ? normalHost.endsWith(domain.slice(1)) : normalHost === domain;
}
