/** Builds the rows of the prompt and its frame. The first paint and the screen draw the same rows. */

export const PROMPT_MARK = '> ';
export const PLACEHOLDER = 'Ask about this project, or /help';

/** Rows of the window. In a lower window the prompt has no frame. */
export const MIN_FRAMED = 16;

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
  const rule = (label = ''): FrameSpan[] => [{text: label.padEnd(columns, '─'), style: {tone: 'muted'}}];
  const more = `─ ${above} more ${above === 1 ? 'row' : 'rows'} above `;
  return [above > 0 ? rule(more.slice(0, columns)) : rule(), ...typed, rule()];
}

/** Returns how many columns the text of the prompt may take. */
export function promptWidth(columns: number): number {
  return Math.max(4, columns - PROMPT_MARK.length - 1);
}

/**
 * Tells whether the terminal wraps rows again when its window becomes narrower. The Linux console, xterm and screen cut
 * them.
 */
export function wrapsAgain({TERM = '', XTERM_VERSION, STY, TMUX}: NodeJS.ProcessEnv): boolean {
  return TERM !== 'linux' && XTERM_VERSION === undefined && (STY === undefined || TMUX !== undefined);
}
