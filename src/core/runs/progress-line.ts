/** Formats the progress lines of subagents, which are the same in the REPL and on print mode's standard error. */
import type {Outcome} from '../contract/results.ts';
import {formatCount, formatLimit, showControls, toOneLine} from '../util/text.ts';

export interface ProgressState {
  readonly agent: string;
  /** Worker that has the run, if it is on another machine. */
  readonly worker?: string | undefined;
  readonly description: string;
  /** `queued` waits for a free slot, `running` is at work; the other states are endings. */
  readonly state: 'queued' | 'running' | Outcome;
  /** Number of tool calls that ended. */
  readonly tools: number;
  readonly durationMs: number;
  /** Reason in a few words, for `error` and `limit`. */
  readonly reason?: string;
  /** How a call got the result of another call's run. */
  readonly source?: 'joined' | 'cached';
  /** Activity of a running run besides its turns. */
  readonly note?: string;
}

type RunTitle = Pick<ProgressState, 'agent' | 'worker' | 'description'>;

/**
 * Returns the name of a run for sentences: `[explore] explore codebase`, or `[code @build-2] refactor auth` at a
 * worker.
 */
export function formatRunTitle({agent, worker, description}: RunTitle): string {
  return `[${agent}${worker ? ` @${worker}` : ''}] ${description}`;
}

/** Formats the answer to a dispatch in the background, for a person. */
export function describeInBackground(run: RunTitle): string {
  return `${formatRunTitle(run)} runs in the background: /subagents`;
}

/** Describes what happens to a message that was sent to a run. @param answer answer to the request `send_to_run` */
export function describeSent(run: RunTitle, answer: 'queued' | 'resumed'): string {
  return answer === 'queued'
    ? `Sent: ${formatRunTitle(run)} reads it at its next turn.`
    : `${formatRunTitle(run)} goes on in the background.`;
}

/** Formats a header such as `> Task: explore codebase`. */
export function formatTaskHeader(description: string): string {
  return `> Task: ${shownLine(description)}`;
}

/** Formats one line, without a newline at its end. */
export function formatProgressLine(run: ProgressState): string {
  const {agent, worker = '', description} = run;
  const title = {agent: shownLine(agent), worker: shownLine(worker), description: shownLine(description)};
  const head = `  ${formatRunTitle(title)}`;
  const totals = `${formatCount(run.tools, 'tool')}, ${formatDuration(run.durationMs)}`;
  switch (run.state) {
    case 'queued':
      return `${head} ... queued`;
    case 'running':
      return `${head} ... ${totals}${run.note ? ` · ${shownLine(run.note)}` : ''}`;
    default:
      return `${head} - ${formatEnding(run.state, shownLine(run.reason ?? ''))} (${totals})${run.source ? ` (${run.source})` : ''}`;
  }
}

/** Formats how a run ended. Only a success is `done`. */
export function formatEnding(outcome: Outcome, reason: string): string {
  switch (outcome) {
    case 'success':
      return 'done';
    case 'error':
      // The reason of an empty answer already begins with this word.
      return reason.startsWith('failed: ') ? reason : `failed${reason && `: ${reason}`}`;
    case 'timeout':
      return 'timed out';
    case 'limit':
      return formatLimit(reason);
    default:
      return outcome;
  }
}

/** Formats a duration as `3.2s`, or from one minute on as `2m05s`. */
export function formatDuration(ms: number): string {
  // The duration is rounded before the choice, so that 59.96 s becomes `1m00s` and never `60.0s`.
  if (Math.round(ms / 100) < 600) return `${(Math.max(0, ms) / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
}

/** Formats a duration in whole seconds: `3s`, or from one minute on `2m05s`. */
export function formatSeconds(ms: number): string {
  return formatDuration(Math.floor(Math.max(0, ms) / 1000) * 1000).replace('.0s', 's');
}

/** Returns a text of a model as one line that is safe on the screen. */
function shownLine(text: string): string {
  return showControls(toOneLine(text));
}
