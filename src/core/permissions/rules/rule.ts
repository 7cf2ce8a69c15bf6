/**
 * Parses and matches one permission rule: `bash`, `bash(npm test)`, `edit_file(src/**)`,
 * `web_fetch(domain:example.com)`.
 */
import type {RuleKind} from '../../contract/permission.ts';
import type {ToolFacts} from '../../contract/tool-facts.ts';
import {MiniCcError} from '../../util/errors.ts';
import {matchesPieces} from '../../util/glob.ts';
import {findMeant} from '../../util/names.ts';
import {findTool, findToolInAnyCase, listMissingTools} from '../../util/tool-names.ts';

/** Kinds of rules, the strongest first. */
export const RULE_KINDS: readonly RuleKind[] = ['deny', 'ask', 'allow'];

export interface Rule {
  readonly kind: RuleKind;
  /** Text of the rule as it was written. */
  readonly text: string;
  /** Name of a tool, or a pattern of names with `*`. */
  readonly tool: string;
  /** Text inside the brackets. A rule without brackets, or with `*` in them, applies to every call of the tool. */
  readonly pattern?: string;
  /** The brackets have `*`, and the tool takes files: as a restriction, the rule is also about each file of a command. */
  readonly isAboutFiles?: true;
  /** File or flag that the rule comes from. */
  readonly source: string;
}

type ParsedRule =
  | Pick<Rule, 'tool' | 'pattern' | 'isAboutFiles'>
  /** `unknown`: the only problem is that no such tool exists. */
  | {readonly problem: string; readonly suggestion?: string; readonly unknown?: true};

/**
 * @param tools all known tools. A rule may also name a tool that only Claude Code has; it then applies to no call
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
  if (brackets !== undefined && hasTextBehind(brackets)) {
    return {problem: `${JSON.stringify(text)} has more than one pair of brackets: write one rule for each`};
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
  if (pattern === undefined || pattern === '*') {
    return pattern !== undefined && found?.rulePattern === 'path' ? {tool, isAboutFiles: true} : {tool};
  }
  if (pattern === '')
    return {problem: `${JSON.stringify(text)}: nothing stands in its brackets`, suggestion: JSON.stringify(name)};
  return findPatternProblem(tool, pattern, found?.rulePattern) ?? {tool, pattern};
}

/**
 * Resolves a list of whole tools, such as `subagents.tools.deny`: names in any case or from elsewhere, and patterns. A
 * pattern stays in the list before its tools, for those of MCP servers.
 */
export function expandToolNames(names: readonly string[], tools: readonly ToolFacts[]): string[] {
  return names.flatMap((written) => {
    const name = written.trim().replace(/\s*\(\s*\*?\s*\)$/, '');
    if (!name.includes('*')) return findToolInAnyCase(name, tools)?.name ?? name;
    return [
      name === '*' ? 'mcp__*' : name,
      ...tools.flatMap((tool) => (matchesName(name, tool.name) ? tool.name : [])),
    ];
  });
}

/** Parses an entry of such a list as a rule, which takes nothing in brackets there. */
export function parseToolEntry(text: string, tools: readonly ToolFacts[]): ParsedRule {
  const [, name = '', rest = ''] = /^\s*([^(]*?)\s*(\(.*)?$/s.exec(text) ?? [];
  const read = parseRule(`${findToolInAnyCase(name, tools)?.name ?? name}${rest}`, tools);
  if ('problem' in read || read.pattern === undefined) return read;
  return {problem: `${JSON.stringify(text)}: only whole tools stand here, with nothing in brackets`, suggestion: name};
}

/** Whether another pair of brackets follows after the first, as in `Read(a)(b)` or `Bash(a) Bash(b)`. */
function hasTextBehind(brackets: string): boolean {
  let depth = 0;
  for (const [at, character] of [...brackets].entries()) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth === 0) return /^\)[\s,]*[\w*-]*\(/.test(brackets.slice(at));
  }
  return false;
}

/** Returns a warning about a rule that is correct but applies to no call. */
export function getRuleWarning({tool}: {readonly tool: string}, tools: readonly ToolFacts[]): string | undefined {
  if (!isMissingTool(tool, tools)) return undefined;
  const other = tools.find(({replaces}) => replaces?.includes(tool));
  return `mini-cc has no tool ${tool}, so that this rule has no effect${other ? ` (its own is ${other.name})` : ''}`;
}

function isMissingTool(name: string, tools: readonly ToolFacts[]): boolean {
  return listMissingTools(tools).includes(name);
}

/** Splits a list of rules at commas and white space. Text in brackets belongs to one rule. */
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
    case 'skill':
      if (/^[\w*:.-]+$/.test(pattern)) return undefined;
      return {problem: `${tool}(${pattern}): it takes the name of a skill`};
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
  if ('problem' in parsed) {
    const meant = parsed.suggestion === undefined ? '' : ` (did you mean ${parsed.suggestion}?)`;
    throw new MiniCcError('RULE', `${source}: ${parsed.problem}${meant}`);
  }
  return {kind, text, source, ...parsed};
}

/** Formats the rule as the reasons of decisions name it. */
export function formatRule({kind, text, source}: Rule): string {
  return `the rule ${kind} ${text} (${source})`;
}

/** Whether a pattern of names matches; `*` matches any characters. */
export function matchesName(pattern: string, name: string): boolean {
  return matchesPieces(pattern.split('*'), name);
}

/**
 * Whether a rule is about this tool: by its name, by a pattern of names, or by `mcp__SERVER` for all tools of that
 * server.
 */
export function matchesTool(pattern: string, name: string): boolean {
  return matchesName(pattern, name) || (/^mcp__(?:(?!__).)+$/.test(pattern) && name.startsWith(`${pattern}__`));
}

export function formatHostRule(host: string): string {
  return `web_fetch(domain:${host.includes(':') ? `[${host}]` : host})`;
}

/**
 * `domain:example.com` matches only that host, and `domain:*.example.com` matches the hosts below it. @param host
 * without brackets
 */
export function matchesHost(pattern: string, host: string): boolean {
  const written = pattern.replace(/^domain:\s*/, '').toLowerCase();
  // An IPv6 address has many spellings, and `URL` returns the normal one.
  const domain = written.startsWith('[') ? URL.parse(`http://${written}/`)?.hostname.slice(1, -1) : written;
  if (domain === undefined) return false;
  if (domain === '*') return true;
  const normalHost = host.toLowerCase().replace(/\.$/, '');
  return domain.startsWith('*.') ? normalHost.endsWith(domain.slice(1)) : normalHost === domain;
}
