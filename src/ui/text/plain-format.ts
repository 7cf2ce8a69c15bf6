/** Shows an answer as it is written, for when the formatter could not be loaded. */
import type {Formatter} from './format.ts';
import {splitLines} from './lines.ts';

export const PLAIN_FORMATTER: Formatter = {
  highlighter: {highlight: (text) => [{text, scope: ''}], endsOutside: () => true},
  lex: (text) => [{type: 'text', raw: text, text}],
  format: (tokens) => splitLines(tokens.map(({raw}) => ({text: raw.replace(/\n+$/, ''), style: {}}))),
  formatOpen: (source) => {
    const lines = splitLines([{text: source, style: {}}]);
    const stable = lines.map((line, index) => (index === lines.length - 1 ? {...line, stable: 0} : line));
    return {tokens: [], lines: stable, findStable: () => stable};
  },
  formatCut: (text) => splitLines([{text, style: {}}]),
  closedPlaces: () => [],
  inlineText: (text) => text,
};
