/** Shows an answer as it is written, when the formatter could not be loaded. */
import type {Formatter} from './format.ts';
import {type Line, splitLines} from './lines.ts';

function toLines(text: string): Line[] {
  return splitLines([{text, style: {}}]);
}

export const PLAIN_FORMATTER: Formatter = {
  highlighter: {highlight: (text) => [{text, scope: ''}], endsOutside: () => true},
  lex: (text) => [{type: 'text', raw: text, text}],
  format: (tokens) => splitLines(tokens.map(({raw}) => ({text: raw.replace(/\n+$/, ''), style: {}}))),
  formatOpen: (source) => {
    const lines = splitLines([{text: source, style: {}}]);
    const stable = lines.map((line, index) => (index === lines.length - 1 ? {...line, stable: 0} : line));
    return {tokens: [], lines: stable, findStable: () => stable};
  },
  formatCut: toLines,
  diff: (patch) => toLines(patch),
  diffText: toLines,
  closedPlaces: () => [],
  inlineText: (text) => text,
};
