/** The prompt and the frame around it, as rows. The first paint and the screen draw these. */

export const PROMPT_MARK = '> ';
export const PLACEHOLDER = 'Ask about this project, or /help';

/** In a lower window the prompt has no frame. Rows. */
export const MIN_FRAMED = 16;

/** A rule is not wider: when the window gets narrower, the terminal would break it into two rows. Columns. */
const MAX_RULE = 100;

/** A piece of a row in one tone of the theme. */
export interface FrameSpan {
  readonly text: string;
  readonly style: {readonly tone?: 'accent' | 'muted'};
}

interface FramedPrompt {
  /** What is typed. */
  readonly rows: readonly string[];
  /** Stands there while nothing is typed; else empty. */
  readonly placeholder: string;
  /** Of the window. */
  readonly columns: number;
  readonly isFramed: boolean;
}

/** The rows of the prompt, between two rules where it has a frame. */
export function promptFrame({rows, placeholder, columns, isFramed}: FramedPrompt): FrameSpan[][] {
  const typed = rows.map((row, index): FrameSpan[] => [
    {text: index === 0 ? PROMPT_MARK : '  ', style: {tone: 'accent'}},
    placeholder === '' ? {text: row, style: {}} : {text: placeholder, style: {tone: 'muted'}},
  ]);
  if (!isFramed) return typed;
  const rule: FrameSpan[] = [{text: '─'.repeat(ruleWidth(columns)), style: {tone: 'muted'}}];
  return [rule, ...typed, rule];
}

/** Columns of the lines above and below the prompt. */
export function ruleWidth(columns: number): number {
  return Math.min(MAX_RULE, columnsBelowPrompt(columns));
}

/** Columns that the text of the prompt may take. */
export function promptWidth(columns: number): number {
  return Math.max(4, columns - PROMPT_MARK.length - 1);
}

/**
 * Some terminals lose the cursor when rows below it are wrapped again, because the window became narrower (xterm.js, and
 * what is built on it): such rows leave room for one step of that.
 * @param least the row needs so much to be of use, in a window of less than 100 columns
 */
export function columnsBelowPrompt(columns: number, least = 48): number {
  const share = Math.floor(columns * 0.7);
  return columns < 100 ? Math.min(columns, Math.max(least, share)) : share;
}

/** These show a narrower window by cutting the rows: they wrap nothing again. */
export function wrapsAgain({TERM = '', XTERM_VERSION, STY, TMUX}: NodeJS.ProcessEnv): boolean {
  return TERM !== 'linux' && XTERM_VERSION === undefined && (STY === undefined || TMUX !== undefined);
}
