/** One permission rule: `bash`, `bash(npm test)`, `edit_file(src/**)`, `web_fetch(domain:example.com)`, `Task(reviewer)`. */
import {findNearest, TOOL_NAMES, toToolName} from '../../util/names.ts';

export type RuleKind = 'allow' | 'ask' | 'deny';
/** The strongest first. */
export const RULE_KINDS: readonly RuleKind[] = ['deny', 'ask', 'allow'];

export interface Rule {
  readonly kind: RuleKind;
  /** As it was written. */
  readonly text: string;
  /** The name of a tool, or a pattern of names with `*`. */
  readonly tool: string;
  /** What stands in its brackets; without it the rule is about the tool as such. */
  readonly about?: string;
  /** Where it comes from: a file, a flag. */
  readonly source: string;
}

export type RuleReading =
  | {readonly tool: string; readonly about?: string}
  | {readonly wrong: string; readonly meant?: string};

/** What may stand in the brackets behind a tool. */
const ABOUT: Readonly<Record<string, 'command' | 'path' | 'domain' | 'agent'>> = {
  bash: 'command',
  read_file: 'path',
  grep: 'path',
  glob: 'path',
  edit_file: 'path',
  write_file: 'path',
  web_fetch: 'domain',
  Task: 'agent',
};

/** @returns what the text says, or what is wrong with it. */
export function readRule(text: string): RuleReading {
  const written = text.trim();
  const [, name = '', brackets] = /^([^()]*?)\s*(\(.*)?$/s.exec(written) ?? [];
  if (name === '') return {wrong: `${JSON.stringify(text)} names no tool`};
  if (brackets !== undefined && !brackets.endsWith(')')) {
    return {wrong: `${JSON.stringify(text)} has no closing bracket`, meant: JSON.stringify(`${written})`)};
  }
  const tool = toToolName(name);
  const about = brackets?.slice(1, -1).trim();
  if (name.includes('*')) return readPattern(name, about);
  if (!isKnown(tool)) {
    const near = findNearest(name, TOOL_NAMES);
    return {wrong: `there is no tool ${JSON.stringify(name)}`, ...(near === undefined ? {} : {meant: near})};
  }
  if (about === undefined || about === '*') return {tool};
  if (about === '')
    return {wrong: `${JSON.stringify(text)}: nothing stands in its brackets`, meant: JSON.stringify(name)};
  const wrong = wrongAbout(tool, about);
  return wrong ?? {tool, about};
}

function readPattern(name: string, about: string | undefined): RuleReading {
  if (about !== undefined) return {wrong: `${JSON.stringify(name)}: a pattern of names takes nothing in brackets`};
  const matches = TOOL_NAMES.some((tool) => matchesName(name, tool)) || name.startsWith('mcp__');
  return matches ? {tool: name} : {wrong: `there is no tool that ${JSON.stringify(name)} matches`};
}

function isKnown(tool: string): boolean {
  return TOOL_NAMES.includes(tool) || /^mcp__\w/.test(tool);
}

function wrongAbout(tool: string, about: string): {wrong: string; meant?: string} | undefined {
  switch (ABOUT[tool]) {
    case 'command':
      if (about !== ':*') return undefined;
      return {wrong: `${tool}(:*): nothing stands before :*`, meant: tool};
    case 'path':
      if (!about.startsWith('!')) return undefined;
      return {wrong: `${tool}(${about}): a pattern that begins with ! matches nothing by itself`};
    case 'domain': {
      const [, domain] = /^domain:\s*(\S+)$/.exec(about) ?? [];
      if (domain !== undefined && isDomain(domain)) return undefined;
      const host = /^(?:\w+:\/+)?([^/\s:]+)/.exec(about)?.[1];
      return {
        wrong: `${tool}(${about}): it takes the name of a host`,
        ...(host === undefined || domain !== undefined ? {} : {meant: `${tool}(domain:${host})`}),
      };
    }
    case 'agent':
      if (/^[\w*-]+$/.test(about)) return undefined;
      return {wrong: `${tool}(${about}): it takes the name of an agent`};
    default:
      return {wrong: `${tool} takes nothing in brackets`, meant: tool};
  }
}

function isDomain(text: string): boolean {
  if (/^\[[\da-f:.]+\]$/i.test(text)) return URL.canParse(`http://${text}/`);
  return /^(?:\*|(?:\*\.)?[\w-]+(?:\.[\w-]+)*)$/.test(text);
}

/** `*` stands for any letters. */
export function matchesName(pattern: string, name: string): boolean {
  return new RegExp(`^${pattern.split('*').map(escapeRegExp).join('.*')}$`, 's').test(name);
}

export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** The rule for this very host. */
export function hostRule(host: string): string {
  return `web_fetch(domain:${host.includes(':') ? `[${host}]` : host})`;
}

/** `domain:example.com` is that host alone; `domain:*.example.com` the hosts below it. @param host without brackets */
export function matchesHost(about: string, host: string): boolean {
  const written = about.replace(/^domain:\s*/, '').toLowerCase();
  // The one spelling of an address, which has many.
  const domain = written.startsWith('[') ? URL.parse(`http://${written}/`)?.hostname.slice(1, -1) : written;
  if (domain === undefined) return false;
  const plain = host.toLowerCase().replace(/\.$/, '');
  if (domain === '*') return true;
  return domain.startsWith('*.') ? plain.endsWith(domain.slice(1)) : plain === domain;
}
