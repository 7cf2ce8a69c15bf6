/** The checks of a review: patterns to search for and filters for their hits; long functions. */
import {isComment, isQuoted, parseDefinition} from '../definitions.ts';
import {count} from '../report.ts';
import type {Line} from '../results.ts';

export interface Check {
  readonly title: string;
  /** A regular expression that ripgrep, `grep -E` and JavaScript all understand. */
  readonly pattern: string;
  readonly isReal: (line: string) => boolean;
  /** Test files are checked too. */
  readonly inTests?: true;
}

/** Lines above which a function is long. */
const LONG_FUNCTION = 60;

/** Skips matches in strings, regular expressions and comments. */
function inCode(part: RegExp): (line: string) => boolean {
  return (line) => {
    const at = line.search(part);
    return at >= 0 && !isComment(line) && !isQuoted(line, at) && !isInRegExp(line, at);
  };
}

function isInRegExp(line: string, at: number): boolean {
  return (
    /(^|[=(,:[!&|?{};\s])\/(?![/*\s])(\\.|[^/\\])*$/.test(line.slice(0, at)) &&
    /\/[gimsuy]*\s*[.,;)\]]/.test(line.slice(at))
  );
}

/** Whether the line has the mark in a comment, not in a string or a pattern. */
export function isMarkedUnfinished(line: string): boolean {
  if (isComment(line)) return /\b(TODO|FIXME|XXX|HACK)\b/.test(line);
  const comment = /(?:^|\s)(?:\/\/|\/\*|#)\s*(?=\S)/.exec(line);
  return (
    comment !== null &&
    !isQuoted(line, comment.index) &&
    /\b(TODO|FIXME|XXX|HACK)\b/.test(line.slice(comment.index)) &&
    !/['"`|]$|\|/.test(line.slice(comment.index))
  );
}

export const CHECKS: readonly Check[] = [
  {
    title: 'Possible secrets in code',
    pattern:
      '([Aa][Pp][Ii]_?[Kk][Ee][Yy]|[Ss][Ee][Cc][Rr][Ee][Tt]|[Pp][Aa][Ss][Ss][Ww][Oo][Rr][Dd]|[Tt][Oo][Kk][Ee][Nn])[A-Za-z_]*["\']?\\s*[:=]\\s*["\'][A-Za-z0-9_/+=-]{12,}["\']|AKIA[0-9A-Z]{16}|-----BEGIN [A-Z ]*PRIVATE KEY-----',
    isReal: (line) => !/process\.env|example|placeholder|your[-_]|xxxx|<[a-z]+>|test/i.test(line),
  },
  {
    title: 'Code made from text (eval, shell)',
    pattern:
      '\\beval\\(|\\bnew Function\\(|\\bos\\.system\\(|shell=True|\\bexecSync\\(|dangerouslySetInnerHTML|\\.innerHTML\\s*=',
    isReal: inCode(/\beval\(|new Function\(|os\.system\(|shell=True|execSync\(|dangerouslySetInnerHTML|innerHTML/),
  },
  {
    title: 'Errors swallowed',
    pattern:
      'catch\\s*(\\([^)]*\\)\\s*)?\\{\\s*\\}|except(\\s+[A-Za-z.]+)?\\s*:\\s*(pass)?\\s*$|\\.catch\\(\\(\\)\\s*=>\\s*(\\{\\s*\\}|undefined|null)\\)',
    isReal: (line) =>
      !isComment(line) &&
      (/catch\s*(\([^)]*\)\s*)?\{\s*\}|\.catch\(/.test(line) || /except\s*:|except.*:\s*pass/.test(line)) &&
      inCode(/catch|except/)(line),
  },
  {
    title: 'Left-over debugging',
    pattern:
      '\\bconsole\\.(log|debug)\\(|\\bdebugger;|\\bdbg!\\(|\\bvar_dump\\(|\\bbinding\\.pry|\\bbreakpoint\\(\\)|\\bpdb\\.set_trace',
    isReal: inCode(/console\.|debugger;|dbg!|var_dump|binding\.pry|breakpoint\(|pdb\./),
  },
  {
    title: 'Tests that hide others or are skipped',
    pattern: '\\b(it|test|describe)\\.(only|skip)\\(|@pytest\\.mark\\.skip|#\\[ignore\\]|t\\.Skip\\(',
    isReal: inCode(/\.(only|skip)\(|mark\.skip|#\[ignore|t\.Skip/),
    inTests: true,
  },
  {
    title: 'Types given up',
    pattern: ':\\s*any\\b|\\bas any\\b|<any>',
    isReal: inCode(/:\s*any\b|\bas any\b|<any>/),
  },
  {
    title: 'Checks silenced',
    pattern: '@ts-(ignore|nocheck)|eslint-disable|biome-ignore|#\\s*type:\\s*ignore|#\\s*noqa|#\\[allow\\(',
    isReal: (line) => /(\/\/|\/\*|#).*(@ts-|eslint-disable|biome-ignore|type:\s*ignore|noqa|allow\()/.test(line),
  },
  {
    title: 'Marked as unfinished',
    pattern: '\\b(TODO|FIXME|XXX|HACK)\\b',
    isReal: isMarkedUnfinished,
    inTests: true,
  },
];

/**
 * Report lines for functions that are too long, the longest first. The end of a function is found by indentation: the
 * first line that is not indented more than its first line.
 */
export function longFunctions(path: string, lines: readonly Line[]): readonly string[] {
  const found = lines.flatMap((line, index) => {
    const definition = parseDefinition(line.text);
    if (!definition || !/^(function|method|async)$/.test(definition.kind)) return [];
    const indent = getIndent(line.text);
    const rest = lines.slice(index + 1);
    const end = rest.findIndex(
      (one) => one.text.trim() !== '' && getIndent(one.text) <= indent && !/^\s*[)\]]|^\s*\{\s*$/.test(one.text),
    );
    const length = (end < 0 ? rest.length : end) + 1;
    return length > LONG_FUNCTION
      ? [{length, text: `${path}:${line.number} — \`${definition.name}\` takes ${count(length, 'line')}`}]
      : [];
  });
  return found.sort((a, b) => b.length - a.length).map((one) => one.text);
}

function getIndent(text: string): number {
  return /^\s*/.exec(text)![0].replaceAll('\t', '    ').length;
}
