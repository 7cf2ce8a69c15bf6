/** Shows the model's thinking as one line. Ctrl+O shows all of it. */
import {screenLine} from './screen-text.ts';
import {MUTED, type Row} from './styled-text.tsx';
import {cutText, splitGraphemes, textWidth} from './wrap.ts';

const LABEL = 'Thinking: ';
/** Characters, which are more than any line shows. */
const MAX_SHOWN = 1_000;

/**
 * Returns the line of a growing thought: its end, when it is longer than the line.
 * @param thought raw text of the model
 */
export function liveThought(thought: string, columns: number): Row {
  const text = screenLine(thought.slice(-MAX_SHOWN)).trim();
  const isWhole = thought.length <= MAX_SHOWN && textWidth(LABEL + text) <= columns;
  return [{text: LABEL + (isWhole ? text : lastColumns(text, columns - LABEL.length)), style: MUTED}];
}

/** Returns the line of a finished thought: its beginning. @param text text that is safe for the screen */
export function finishedThought(text: string, columns: number): Row {
  const line = LABEL + text;
  const isWhole = textWidth(line) <= columns;
  const hint = columns > 40 ? ' (Ctrl+O)' : '';
  return [{text: isWhole ? line : cutText(line, columns - hint.length) + hint, style: MUTED}];
}

function lastColumns(text: string, columns: number): string {
  const graphemes = [...splitGraphemes(text)];
  let used = 1;
  let first = graphemes.length;
  while (first > 0 && used + textWidth(graphemes[first - 1]!) <= columns) {
    first -= 1;
    used += textWidth(graphemes[first]!);
  }
  return `…${graphemes.slice(first).join('')}`;
}
