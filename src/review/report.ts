/** Formats a review: as text, as JSON, and as SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/). */

import {formatSubagentSummary} from '../core/runs/delegation-log.ts';
import {hashJson} from '../core/util/hash.ts';
import {formatCount} from '../core/util/text.ts';
import {type Dropped, type Finding, fold} from './claims.ts';
import type {Review} from './review.ts';

const MAX_SHOWN = 10;

/** @param all shows all findings, and not only the first ten */
export function formatReview(review: Review, all: boolean): string {
  const {findings, errors, summary} = review;
  const shown = all ? findings : findings.slice(0, MAX_SHOWN);
  const more = findings.length - shown.length;
  const left = formatDropped(review.dropped);
  return [
    ...(findings.length === 0 ? [formatNothing(review)] : shown.map(formatFinding)),
    ...(more > 0 ? [`${more} more: --all`] : []),
    ...(left === '' ? [] : [left]),
    ...(errors.length > 0 ? [`Not complete:\n${errors.map((error) => `  ${error}`).join('\n')}`] : []),
    ...(summary ? [formatSubagentSummary(summary)] : []),
  ].join('\n');
}

function formatNothing({files, lines, finders, claims}: Review): string {
  const where = `${formatCount(files, 'file')} (${formatCount(lines, 'line')})`;
  if (finders === 0) return `Nothing found by syntax in ${where}.`;
  return `Nothing found in ${where}: ${formatCount(finders, 'finder')}, 0 of ${formatCount(claims, 'claim')} confirmed.`;
}

function formatFinding(finding: Finding, index: number): string {
  const {file, line, title, severity, verified, by, why, failure, suggestion = ''} = finding;
  const texts = [`${severity} · ${verified} · ${by.join(', ')}`, why, failure, suggestion].filter(
    (text) => text !== '',
  );
  const indented = texts.map((text) => `  ${text.trim().replaceAll('\n', '\n  ')}`);
  return [`${index + 1} ${file}:${line} ${title}`, ...indented, ''].join('\n');
}

/** Formats `12 claims dropped: 2 with lines that do not exist, 6 doubles, 4 refuted`; empty when there were none. */
function formatDropped({no_such_lines: noLines, outside, doubles, refuted}: Dropped): string {
  const count = noLines + outside + doubles + refuted;
  const parts = [
    [noLines, 'with lines that do not exist'],
    [outside, 'outside of the change'],
    [doubles, doubles === 1 ? 'double' : 'doubles'],
    [refuted, 'refuted'],
  ] as const;
  const named = parts.flatMap(([number, what]) => (number > 0 ? [`${number} ${what}`] : []));
  return count === 0 ? '' : `${formatCount(count, 'claim')} dropped: ${named.join(', ')}`;
}

/** @param subagentSummary as in the other JSON results */
export function toJson(review: Review, subagentSummary: unknown): Record<string, unknown> {
  const {complete, files, lines, findings, dropped, errors, summary} = review;
  const usd = summary?.usage.cost_usd ?? 0;
  return {complete, files, lines, findings, dropped, errors, subagent_summary: subagentSummary, usd};
}

const LEVELS = {high: 'error', medium: 'warning', low: 'note'} as const;

export function toSarif({findings, complete, errors}: Review, version: string): Record<string, unknown> {
  const rules = [...new Set(findings.map(({by}) => by[0]!))];
  const notifications = errors.map((error) => ({level: 'error', message: {text: error}}));
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {driver: {name: 'mini-cc', semanticVersion: version, rules: rules.map((id) => ({id}))}},
        invocations: [{executionSuccessful: complete, toolExecutionNotifications: notifications}],
        results: findings.map((finding) => ({...toResult(finding), ruleIndex: rules.indexOf(finding.by[0]!)})),
      },
    ],
  };
}

function toResult({by, severity, title, why, failure, suggestion, file, line, endLine, verified}: Finding) {
  const uri = file.split('/').map(encodeURIComponent).join('/');
  // Without line numbers, a finding stays the same when lines are added above it.
  const fingerprint = hashJson([file, fold(title)]);
  return {
    ruleId: by[0],
    level: LEVELS[severity],
    message: {text: [title, failure, why, suggestion].filter(Boolean).join('\n\n')},
    locations: [
      {
        physicalLocation: {
          artifactLocation: {uri, uriBaseId: '%SRCROOT%'},
          region: {startLine: line, endLine},
        },
      },
    ],
    partialFingerprints: {'miniCcFinding/v1': fingerprint},
    properties: {verified, by},
  };
}
