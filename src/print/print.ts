/** Print mode: one answer and out. The answer alone goes to standard output; progress and troubles to standard error. */

import {OFFLINE_CANNOT} from '../core/contract/model.ts';
import type {RunResult} from '../core/contract/run-result.ts';
import type {Session} from '../core/contract/session.ts';
import {endingOf, NOTHING} from '../core/turn/run-ending.ts';
import {showControls} from '../core/util/control-characters.ts';
import type {LiveLines, LiveTerminal} from './live-lines.ts';
import {createLiveProgress, createProgress} from './progress.ts';
import {resultObject} from './result-object.ts';
import {createStreamJson, initObject} from './json-output.ts';

export type OutputFormat = 'text' | 'json' | 'stream-json';
export const OUTPUT_FORMATS: readonly OutputFormat[] = ['text', 'json', 'stream-json'];

export interface PrintOptions {
  readonly prompt: string;
  readonly format: OutputFormat;
  /** Also each tool call, on standard error. */
  readonly verbose: boolean;
  /** Where it leads to a terminal, it shows control characters; others get them as they are. */
  readonly stdout: (text: string) => void;
  readonly stderr: (line: string) => void;
  /** Standard error, if it is a terminal: there progress changes in place. */
  readonly liveTerminal?: LiveTerminal;
  /** A signal ends the program: what it has by then is no success. */
  readonly isLeaving: () => boolean;
}

/** Runs the prompt to its end. @returns the exit code: 0 done, 1 failed, 3 a limit ended it. */
export async function print(session: Session, options: PrintOptions): Promise<number> {
  const {format, stdout} = options;
  const live = options.liveTerminal && (await liveLines(options.liveTerminal));
  const stderr = live ? (text: string) => live.printAbove(text) : options.stderr;
  const line = (object: Record<string, unknown>) => stdout(`${JSON.stringify(object)}\n`);
  const startedAt = performance.now();
  for (const warning of session.info.warnings) stderr(`mini-cc: ${showControls(warning)}`);
  session.subscribe(live ? createLiveProgress(live) : createProgress(stderr));
  session.subscribe((event) => {
    if (event.type === 'retry')
      stderr(`retrying in ${Math.ceil(event.waitMs / 1000)}s (${showControls(event.reason)})`);
    if (event.type === 'notice' && event.level !== 'info') stderr(`mini-cc: ${showControls(event.text)}`);
    if (options.verbose && event.type === 'tool_start') stderr(showControls(`* ${event.tool} ${event.title}`));
    if (options.verbose && event.type === 'tool_end' && event.isError) {
      stderr(showControls(`  failed: ${event.preview.split('\n')[0]}`));
    }
  });
  if (format === 'stream-json') {
    line(initObject(session));
    const toObject = createStreamJson(session);
    session.subscribe((event) => {
      const object = toObject(event);
      if (object) line(object);
    });
  }
  const submitted = await session.submit(options.prompt);
  if (submitted.type === 'command') {
    // An error went out as a notice already.
    if (submitted.ok && submitted.text !== '' && format === 'text') stdout(`${submitted.text}\n`);
    const ended: RunResult = submitted.ok
      ? {...NOTHING, outcome: 'success', text: submitted.text}
      : {...NOTHING, outcome: 'error', code: 'COMMAND', error: submitted.text};
    if (format !== 'text') line(resultObject(session, ended, performance.now() - startedAt));
    return submitted.ok ? 0 : 1;
  }
  if (submitted.type === 'queued') throw new Error('print mode has one prompt, and it was queued');
  const result = options.isLeaving() ? cutShort(submitted.result) : submitted.result;
  if (format === 'text') {
    const {text} = result;
    if (text !== '') stdout(text.endsWith('\n') ? text : `${text}\n`);
  } else {
    line(resultObject(session, result, performance.now() - startedAt));
  }
  if (result.outcome !== 'success') stderr(`mini-cc: ${showControls(firstLine(endingOf(result)))}`);
  return exitCode(session, result);
}

/** What measures text is loaded where there is a terminal alone. */
async function liveLines(terminal: LiveTerminal): Promise<LiveLines> {
  const {LiveLines} = await import('./live-lines.ts');
  return new LiveLines(terminal);
}

function cutShort({text, usage, usageByModel, turns, tools, durationMs, modelMs}: RunResult): RunResult {
  return {outcome: 'stopped', text, usage, usageByModel, turns, tools, durationMs, modelMs};
}

function exitCode(session: Session, result: RunResult): number {
  switch (result.outcome) {
    case 'success':
      return session.info.offline && !wasDone(session, result) ? 1 : 0;
    case 'limit':
    case 'timeout':
      return 3;
    default:
      return 1;
  }
}

/** The offline model says when it could not do what was asked; a refused call is another way to fail at it. */
function wasDone(session: Session, result: RunResult): boolean {
  return (
    session.request({type: 'denials'}).length === 0 &&
    !result.text.split('\n').some((line) => line.startsWith(OFFLINE_CANNOT))
  );
}

function firstLine(text: string): string {
  return text.split('\n')[0]!;
}
