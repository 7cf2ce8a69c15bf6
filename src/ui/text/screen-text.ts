/**
 * Makes text from models, tools, files and names safe for the screen: it is shown and never controls the terminal. All
 * text from outside passes through here before it reaches Ink.
 */

import {showControls, toOneLine} from '../../core/util/text.ts';

const TAB_STOP = 4;

/** Keeps newlines, expands tabs, and makes control characters visible. */
export function screenText(text: string): string {
  const unified = text.includes('\r') ? text.replace(/\r+\n/g, '\n') : text;
  return showControls(unified.includes('\t') ? unified.split('\n').map(expandTabs).join('\n') : unified);
}

/** Makes one line of the text, in which each run of white space is one space, and makes it safe. */
export function screenLine(text: string): string {
  return screenText(toOneLine(text));
}

function expandTabs(line: string): string {
  let expanded = '';
  for (const part of line.split(/(\t)/)) {
    expanded += part === '\t' ? ' '.repeat(TAB_STOP - (expanded.length % TAB_STOP)) : part;
  }
  return expanded;
}
