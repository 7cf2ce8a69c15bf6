/** The lines that tell how a subagent gets on, the same in the REPL and on print mode's standard error. */
import type {Outcome} from './run-result.ts';

export interface ProgressState {
  readonly agent: string;
  readonly description: string;
  /** `queued` waits for a free slot, `running` is at work; the rest are endings. */
  readonly state: 'queued' | 'running' | Outcome;
  /** Tool calls that ended. */
  readonly tools: number;
  readonly durationMs: number;
  /** Why, in a few words, for `error` and `limit`. */
  readonly reason?: string;
}

/** `> Task: explore codebase` */
export function taskHeader(description: string): string {
  return `> Task: ${oneLine(description)}`;
}

/** One line, without a newline at its end. It says `done` for a success alone. */
export function progressLine(run: ProgressState): string {
  const head = `  [${oneLine(run.agent)}] ${oneLine(run.description)}`;
  const totals = `${run.tools} ${run.tools === 1 ? 'tool' : 'tools'}, ${formatDuration(run.durationMs)}`;
  const reason = oneLine(run.reason ?? '');
  switch (run.state) {
    case 'queued':
      return `${head} ... queued`;
    case 'running':
      return `${head} ... ${totals}`;
    case 'success':
      return `${head} - done (${totals})`;
    case 'error':
      return `${head} - failed${reason && `: ${reason}`} (${totals})`;
    case 'timeout':
      return `${head} - timed out (${totals})`;
    case 'stopped':
      return `${head} - stopped (${totals})`;
    case 'limit':
      return `${head} - limit reached${reason && `: ${reason}`} (${totals})`;
    case 'unknown':
      return `${head} - unknown (${totals})`;
  }
}

/** `3.2s`; from a minute on `2m05s`. */
export function formatDuration(ms: number): string {
  // Rounded before the choice, so that 59.96 s is `1m00s` and never `60.0s`.
  if (Math.round(ms / 100) < 600) return `${(Math.max(0, ms) / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
}

/** Control characters but newlines and tabs, and what turns the direction of writing. */
const OBEYED_BY_TERMINALS = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Makes what a terminal would obey visible: `␛` for ESC, `\u202E` for a bidi override. Newlines and tabs are kept.
 */
export function showControls(text: string): string {
  return text.replace(OBEYED_BY_TERMINALS, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return '\u2421';
    return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
  });
}

/** What a model wrote, fit for one line of the screen. */
function oneLine(text: string): string {
  return showControls(text.replace(/[\r\n\t]+/g, ' ').trim());
}
