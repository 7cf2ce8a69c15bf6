/** The claims of finders: merged, checked against the files, and ranked. */
import {isDeepStrictEqual} from 'node:util';
import {SEVERITIES, type Severity} from '../agents/shipped/answers.ts';
import type {Change} from './change.ts';

export interface Claim {
  readonly severity: Severity;
  readonly title: string;
  readonly file: string;
  readonly line: number;
  readonly endLine: number;
  readonly why: string;
  readonly failure: string;
  readonly suggestion?: string | undefined;
  /** Names of the finders that made it. */
  readonly by: readonly string[];
}

export interface Finding extends Claim {
  readonly verified: 'confirmed' | 'plausible';
}

export interface Dropped {
  readonly no_such_lines: number;
  readonly outside: number;
  readonly doubles: number;
  readonly refuted: number;
}

/** Turns a finder's answer, which matches the schema, into claims. @param top folder to which the paths are relative */
export function toClaims(answer: unknown, finder: string, top: string): Claim[] {
  const {findings} = answer as {readonly findings: readonly (Omit<Claim, 'by' | 'endLine'> & {endLine?: number})[]};
  return findings.map(({severity, title, file, line: from, endLine = from, why, failure, suggestion}) => ({
    severity,
    title: title.trim(),
    file: toRelative(file.trim(), top),
    line: from,
    endLine: Math.max(from, endLine),
    why,
    failure,
    ...(suggestion?.trim() && {suggestion}),
    by: [finder],
  }));
}

function toRelative(file: string, top: string): string {
  return (file.startsWith(`${top}/`) ? file.slice(top.length + 1) : file).replace(/^(?:\.\/)+/, '');
}

/** Merges claims with the same file, overlapping lines, and the same title but for case and white space. */
export function mergeDoubles(claims: readonly Claim[]): Claim[] {
  const merged: Claim[] = [];
  for (const claim of claims) {
    const index = merged.findIndex((other) => isDouble(claim, other));
    const first = merged[index];
    if (!first) merged.push(claim);
    else merged[index] = {...first, severity: gravest(first, claim), by: [...new Set([...first.by, ...claim.by])]};
  }
  // A merged claim may overlap with one that came before it.
  return isDeepStrictEqual(merged, claims) ? merged : mergeDoubles(merged);
}

function isDouble(one: Claim, other: Claim): boolean {
  const isOverlapping = one.line <= other.endLine && other.line <= one.endLine;
  return one.file === other.file && isOverlapping && fold(one.title) === fold(other.title);
}

export const fold = (title: string) => title.toLowerCase().replaceAll(/\s+/g, ' ').trim();

const gravest = (...claims: readonly Claim[]) =>
  SEVERITIES.find((severity) => claims.some((claim) => claim.severity === severity)) ?? 'low';

/**
 * Says why a claim is dropped; undefined when its lines exist in a changed file, or in a file with callers that the
 * finders were shown.
 * @param callers number of lines by path
 */
export function findFault(
  {file, line: from, endLine}: Claim,
  {files}: Pick<Change, 'files'>,
  callers: ReadonlyMap<string, number>,
): 'no_such_lines' | 'outside' | undefined {
  const changed = files.find((each) => each.path === file);
  if (!changed && !callers.has(file)) return 'outside';
  if (changed && changed.text === undefined) {
    const isShown = changed.hunks.some((hunk) => hunk.from <= from && endLine <= hunk.to);
    return isShown && changed.kind !== 'deleted' ? undefined : 'no_such_lines';
  }
  const lines = changed ? countLines(changed.text!) : callers.get(file)!;
  return endLine <= lines ? undefined : 'no_such_lines';
}

export function countLines(content: string): number {
  return content.replace(/\n$/, '').split('\n').length;
}

/** Sorts by severity, then confirmed claims first, then by place. */
export function rank(findings: readonly Finding[]): Finding[] {
  const weigh = ({severity, verified}: Finding) =>
    SEVERITIES.indexOf(severity) * 2 + (verified === 'confirmed' ? 0 : 1);
  return findings.toSorted(
    (a, b) => weigh(a) - weigh(b) || (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line),
  );
}
