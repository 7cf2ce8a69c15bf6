/**
 * Implements print mode, which gives one answer. Standard output gets only the answer; standard error gets progress,
 * warnings and errors.
 */
import type {AccountPause} from '../core/contract/model.ts';
import type {RunResult} from '../core/contract/results.ts';
import type {Session} from '../core/contract/session-requests.ts';
import {formatSubagentSummary} from '../core/runs/delegation-log.ts';
import {formatEnding, getTotals} from '../core/turn/run-ending.ts';
import {formatRetry, showControls, toShortLine} from '../core/util/text.ts';
import {createInitObject, createResultObject, createStreamJson, toRunResult} from './json-output.ts';
import type {LiveTerminal} from './live-lines.ts';
import {createLiveProgress, createProgress, RunTitles} from './progress.ts';

export type OutputFormat = 'text' | 'json' | 'stream-json';

interface PrintOptions {
  readonly prompt: string;
  /** True when the whole prompt was on the command line. Files that it names by `@path` are then attached. */
  readonly isTyped: boolean;
  readonly format: OutputFormat;
  /** True to print each tool call on standard error, too. */
  readonly verbose: boolean;
  readonly includeHookEvents?: boolean;
  readonly stdout: (text: string) => void;
  readonly stderr: (line: string) => void;
  /** Standard error when it is a terminal. Progress lines then change in place. */
  readonly liveTerminal?: LiveTerminal;
  /** Tells in words why the program ends before the work is done. The result is then not a success. */
  readonly getLeaving: () => string | undefined;
}

/** Runs the prompt to its end. @returns the exit code: 0 for success, 1 for a failure, 3 when a limit ended it */
export async function print(session: Session, options: PrintOptions): Promise<number> {
  const {format, stdout} = options;
  // The module is loaded late, because text is measured only in a terminal.
  const live = options.liveTerminal && new (await import('./live-lines.ts')).LiveLines(options.liveTerminal);
  const stderr = live ? (text: string) => live.printAbove(text) : options.stderr;
  const line = (object: Record<string, unknown>) => stdout(`${JSON.stringify(object)}\n`);
  const startedAt = performance.now();
  for (const warning of session.info.warnings) stderr(`mini-cc: ${showControls(warning)}`);
  session.subscribe(live ? createLiveProgress(live) : createProgress(stderr));
  const titles = new RunTitles();
  let paused: AccountPause | undefined;
  session.subscribe((event) => {
    titles.take(event);
    // All calls of an account wait for the end of its limit, which is said once.
    if (event.type === 'retry' && !(event.pause && paused && isSamePause(event.pause, paused))) {
      stderr(showControls(event.pause ? event.reason : titles.prefix(event, formatRetry(event))));
      if (event.pause) paused = event.pause;
    }
    const warning = titles.formatWarning(event);
    if (warning !== undefined) stderr(`mini-cc: ${showControls(warning)}`);
    if (options.verbose && event.type === 'tool_start') stderr(showControls(`* ${event.tool} ${event.title}`));
    if (options.verbose && event.type === 'tool_end' && event.isError) {
      stderr(showControls(`  failed: ${event.preview.split('\n')[0]}`));
    }
  });
  if (format === 'stream-json') {
    line(createInitObject(session));
    const toObject = createStreamJson(session, options);
    session.subscribe((event) => {
      const object = toObject(event);
      if (object) line(object);
    });
  }
  const {mark: before} = session.request({type: 'subagent_summary'});
  const submitted = await session.submit({content: options.prompt, typed: options.isTyped});
  if (submitted.type === 'command') {
    // An error was already printed as a notice.
    const isAnswer = (submitted.ok || submitted.isOutput) && submitted.text !== '';
    if (isAnswer && format === 'text') stdout(`${submitted.text}\n`);
    if (format !== 'text') line(createResultObject(session, toRunResult(submitted), performance.now() - startedAt));
    return submitted.ok ? 0 : 1;
  }
  if (submitted.type === 'queued') throw new Error('print mode has one prompt, and it was queued');
  const leaving = options.getLeaving();
  const result: RunResult = leaving ? {...getTotals(submitted.result), outcome: 'stopped'} : submitted.result;
  if (format === 'text') {
    const {text} = result;
    if (text !== '') stdout(text.endsWith('\n') ? text : `${text}\n`);
  } else {
    line(createResultObject(session, result, performance.now() - startedAt));
  }
  for (const {tool, title, reason} of session.request({type: 'denials'}).slice(0, MAX_DENIALS)) {
    stderr(showControls(`mini-cc: denied: ${toShortLine(`${tool} ${title}`, DENIED_CHARS)}: ${reason}`));
  }
  const {summary} = session.request({type: 'subagent_summary', since: before});
  if (summary) stderr(formatSubagentSummary(summary));
  if (result.outcome !== 'success') stderr(`mini-cc: ${showControls(leaving ?? formatEnding(result).split('\n')[0]!)}`);
  return getExitCode(result);
}

/** Milliseconds by which the ends may differ that several calls read of the same limit. */
const SAME_PAUSE_MS = 60_000;

function isSamePause(one: AccountPause, other: AccountPause): boolean {
  return one.provider === other.provider && Math.abs(one.until - other.until) < SAME_PAUSE_MS;
}

/** Maximal number of denied calls that are named. The JSON result lists all. */
const MAX_DENIALS = 5;
const DENIED_CHARS = 80;

/** @returns 0 for success, 1 for a failure, 3 when a limit ended the run */
export function getExitCode({outcome}: RunResult): number {
  switch (outcome) {
    case 'success':
      return 0;
    case 'limit':
    case 'timeout':
      return 3;
    default:
      return 1;
  }
}
