/** Runs the checks of a project, and compares their output before and after a change. */
import {type Caller, runTypedCall} from '../tool-calls.ts';
import {getText} from '../util/messages.ts';
import {cutEnd} from '../util/text.ts';

/** Time limit of one check, in seconds. */
const CHECK_SECONDS = 1200;
/** Exit codes of the shell for a program that it cannot start. */
const CANNOT_RUN = new Set([126, 127]);

export interface CheckResult {
  readonly command: string;
  /** `not run`: the check was refused or cut off, or its program is missing. Nothing is known then. */
  readonly outcome: 'passed' | 'failed' | 'not run';
  /** Output of the check, or the reason why it was not run. */
  readonly output: string;
}

/**
 * Runs the commands one after another through the tool bash, with the caller's permissions. Never rejects.
 * @param caller its tools contain bash
 */
export async function runChecks(
  commands: readonly string[],
  caller: Caller,
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  for (const command of commands) results.push(await runCheck(command, caller, signal));
  return results;
}

async function runCheck(command: string, caller: Caller, signal: AbortSignal): Promise<CheckResult> {
  const input = {command, description: 'verification', timeout_seconds: CHECK_SECONDS};
  const {block, record} = await runTypedCall('bash', input, caller, signal);
  const output = getText(block.content ?? '');
  const {exitCode, timedOut} = record.facts;
  if (exitCode === 0) return {command, outcome: 'passed', output};
  const hasRun = !signal.aborted && (timedOut !== undefined || (exitCode !== undefined && !CANNOT_RUN.has(exitCode)));
  return {command, outcome: hasRun ? 'failed' : 'not run', output};
}

export interface ComparedCheck extends CheckResult {
  /** True when the check failed before the change too, and prints nothing new. */
  readonly isOld: boolean;
  /** Only for a failure: the lines that it did not print before. */
  readonly news: readonly string[];
}

export function compareChecks(before: readonly CheckResult[], after: readonly CheckResult[]): readonly ComparedCheck[] {
  return after.map((check) => {
    const old = before.find(({command}) => command === check.command);
    const news =
      check.outcome === 'failed' ? getNewLines(old?.outcome === 'failed' ? old.output : '', check.output) : [];
    return {...check, news, isOld: check.outcome === 'failed' && old?.outcome === 'failed' && news.length === 0};
  });
}

/**
 * Returns the new lines. Lines that differ only in numbers (places, times, counts) are the same. Each line of `before`
 * matches one line of `after`.
 */
function getNewLines(before: string, after: string): readonly string[] {
  const known = new Map<string, number>();
  for (const line of before.split('\n').map(fold)) known.set(line, (known.get(line) ?? 0) + 1);
  return after.split('\n').filter((line) => {
    const folded = fold(line);
    if (folded === '') return false;
    const left = known.get(folded) ?? 0;
    if (left > 0) known.set(folded, left - 1);
    return left === 0;
  });
}

function fold(line: string): string {
  return line
    .replace(/\u001b\[[\d;]*m/g, '')
    .replace(/\d+(?:[.:,]\d+)*\s*(?:ms|s|seconds?)?/g, '0')
    .trim();
}

/**
 * Finds the files that a failure names, by their path or the end of it.
 * @param files paths relative to the workspace
 */
export function findNamedFiles(lines: readonly string[], files: readonly string[]): readonly string[] {
  const text = lines.join('\n');
  return files.filter((file) => {
    for (let at = text.indexOf(file); at >= 0; at = text.indexOf(file, at + 1)) {
      const [before = '', after = ''] = [text[at - 1], text[at + file.length]];
      if (!/[\p{L}\p{N}_-]/u.test(before) && !/[\p{L}\p{N}_-]/u.test(after)) return true;
    }
    return false;
  });
}

/** Most characters of a check's output that go back to an agent. */
const MAX_OUTPUT = 8_000;

/** Text for an agent about the checks that fail because of its change. */
export function formatFailures(checks: readonly ComparedCheck[], files: readonly string[]): string {
  const parts = checks.map(({command, output}) => `$ ${command}\n${cutStart(output)}`);
  const where = files.length === 0 ? '' : ` It names ${files.join(', ')}.`;
  return `The checks of the project fail after your change; they did not fail so before.${where} Repair what you changed, and report again.\n\n${parts.join('\n\n')}`;
}

/** Cuts the beginning, because checks print the important part last. */
function cutStart(output: string): string {
  return output.length <= MAX_OUTPUT ? output : `…${output.slice(-MAX_OUTPUT)}`.toWellFormed();
}

/** Formats one line for each check. Only a check that has run can pass. */
export function formatChecks(checks: readonly ComparedCheck[]): readonly string[] {
  return checks.map(({command, outcome, isOld, news, output}) => {
    if (outcome === 'passed') return `verification: \`${command}\` passes`;
    if (outcome === 'not run') return `verification: \`${command}\` was not run: ${firstLine(output)}`;
    if (isOld) return `verification: \`${command}\` fails as it did before`;
    return `verification: \`${command}\` FAILS: ${firstLine(news.find((line) => /error|fail|✖|✗|not ok/i.test(line)) ?? news[0] ?? output)}`;
  });
}

function firstLine(text: string): string {
  return cutEnd(text.trim().split('\n')[0] ?? '', 200);
}
