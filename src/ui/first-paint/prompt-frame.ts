/** Builds the rows of the prompt and its frame. The first paint and the screen draw the same rows. */

export const PROMPT_MARK = '> ';
export const PLACEHOLDER = 'Ask about this project, or /help';

/** Rows of the window. In a lower window the prompt has no frame. */
export const MIN_FRAMED = 16;

/**
 * Maximal columns of a rule. When the window becomes narrower, the terminal would break a longer rule into two rows.
 */
const MAX_RULE = 100;

/** A piece of a row in one tone of the theme. */
export interface FrameSpan {
  readonly text: string;
  readonly style: {readonly tone?: 'accent' | 'muted'};
}

interface FramedPrompt {
  /** Rows of the typed text. */
  readonly rows: readonly string[];
  /** Shown while nothing is typed; otherwise empty. */
  readonly placeholder: string;
  /** Columns of the window. */
  readonly columns: number;
  readonly isFramed: boolean;
  /** Number of rows of the typed text that do not fit above the shown ones. */
  readonly above?: number;
}

/** Returns the rows of the prompt. A frame adds a rule above and a rule below. */
export function promptFrame({rows, placeholder, columns, isFramed, above = 0}: FramedPrompt): FrameSpan[][] {
  const typed = rows.map((row, index): FrameSpan[] => [
    {text: index === 0 ? PROMPT_MARK : '  ', style: {tone: 'accent'}},
    placeholder === '' ? {text: row, style: {}} : {text: placeholder, style: {tone: 'muted'}},
  ]);
  if (!isFramed) return typed;
  const rule = (label = ''): FrameSpan[] => [{text: label.padEnd(ruleWidth(columns), '─'), style: {tone: 'muted'}}];
  const more = `─ ${above} more ${above === 1 ? 'row' : 'rows'} above `;
  return [above > 0 ? rule(more.slice(0, ruleWidth(columns))) : rule(), ...typed, rule()];
}

/** Returns the width of the rules above and below the prompt in columns. */
export function ruleWidth(columns: number): number {
  return Math.min(MAX_RULE, columnsBelowPrompt(columns));
}

/** Returns how many columns the text of the prompt may take. */
export function promptWidth(columns: number): number {
  return Math.max(4, columns - PROMPT_MARK.length - 1);
}

/**
 * Returns how many columns a row below the prompt may take. Some terminals (xterm.js and programs that use it) lose the
 * cursor when a narrower window wraps the rows below it again. So these rows leave some columns free.
 * @param least columns that the row needs to be useful in a window of less than 100 columns
 */
export function columnsBelowPrompt(columns: number, least = 48): number {
  const share = Math.floor(columns * 0.7);
  return columns < 100 ? Math.min(columns, Math.max(least, share)) : share;
}

/**
 * Tells whether the terminal wraps rows again when its window becomes narrower. The Linux console, xterm and screen cut
 * them.
 */
export function wrapsAgain({TERM = '', XTERM_VERSION, STY, TMUX}: NodeJS.ProcessEnv): boolean {
  return TERM !== 'linux' && XTERM_VERSION === undefined && (STY === undefined || TMUX !== undefined);
}
