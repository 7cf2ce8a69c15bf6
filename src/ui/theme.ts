/**
 * Defines all colours of the screen. Components and formatted text name a tone, e.g. `muted`, and the theme says how it
 * is drawn. No state is shown by colour alone: a word or a sign says the same.
 */
import chalk, {type ChalkInstance, type ForegroundColorName} from 'chalk';
import type {TextProps} from 'ink';
import type {ThemeName} from '../core/contract/events.ts';

export type Look = Pick<TextProps, 'color' | 'backgroundColor' | 'bold' | 'dimColor' | 'underline' | 'inverse'>;

export type Tone =
  // The person's part: marks of the prompt, the selected row.
  | 'accent'
  /** Less important text. */
  | 'muted'
  | 'success'
  | 'warning'
  | 'error'
  | 'heading'
  | 'mark'
  | 'code'
  // Tokens of code.
  | 'keyword'
  | 'type'
  | 'literal'
  | 'string'
  | 'comment'
  | 'title'
  // Diffs: lines, their changed words, and the line numbers.
  | 'added'
  | 'removed'
  | 'addedWord'
  | 'removedWord'
  | 'hunk'
  | `agent${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7}`;

export type Theme = Readonly<Record<Tone, Look>>;

/** One tone for each agent; further agents begin again with the first. */
export const AGENT_TONES = ['agent0', 'agent1', 'agent2', 'agent3', 'agent4', 'agent5', 'agent6', 'agent7'] as const;

/** @param index number of the agent in the order of dispatch, from 0 */
export function getAgentTone(index: number): Tone {
  return AGENT_TONES[index % AGENT_TONES.length]!;
}

/** The first sixteen colours, as the person has chosen them in the terminal. */
const TERMINAL: Theme = {
  accent: {color: 'cyan'},
  muted: {dimColor: true},
  success: {color: 'green'},
  warning: {color: 'yellow'},
  error: {color: 'red'},
  heading: {color: 'cyan', bold: true},
  mark: {color: 'cyan'},
  code: {color: 'cyan'},
  keyword: {color: 'magenta'},
  type: {color: 'cyan'},
  literal: {color: 'yellow'},
  string: {color: 'green'},
  comment: {dimColor: true},
  title: {color: 'blue'},
  added: {color: 'green'},
  removed: {color: 'red'},
  addedWord: {color: 'green', bold: true, underline: true},
  removedWord: {color: 'red', bold: true, underline: true},
  hunk: {dimColor: true},
  agent0: {color: 'cyan'},
  agent1: {color: 'magenta'},
  agent2: {color: 'yellow'},
  agent3: {color: 'blue'},
  agent4: {color: 'green'},
  agent5: {color: 'cyanBright'},
  agent6: {color: 'magentaBright'},
  agent7: {color: 'blueBright'},
};

/** Exact colours for a dark background. */
const DARK: Theme = {
  ...TERMINAL,
  accent: {color: '#5fd7ff'},
  muted: {color: '#9e9e9e'},
  success: {color: '#87d787'},
  warning: {color: '#ffd75f'},
  error: {color: '#ff8787'},
  heading: {color: '#5fd7ff', bold: true},
  mark: {color: '#5fd7ff'},
  code: {color: '#87d7ff'},
  keyword: {color: '#d7afff'},
  type: {color: '#87d7d7'},
  literal: {color: '#ffd787'},
  string: {color: '#afd787'},
  comment: {color: '#9e9e9e'},
  title: {color: '#87afff'},
  added: {color: '#d7ffd7', backgroundColor: '#0f3a1c'},
  removed: {color: '#ffd7d7', backgroundColor: '#4a1515'},
  addedWord: {color: '#ffffff', backgroundColor: '#1f7a3a', bold: true},
  removedWord: {color: '#ffffff', backgroundColor: '#9b2626', bold: true},
  hunk: {color: '#9e9e9e'},
  agent0: {color: '#5fd7ff'},
  agent1: {color: '#d787ff'},
  agent2: {color: '#ffaf5f'},
  agent3: {color: '#87afff'},
  agent4: {color: '#87d787'},
  agent5: {color: '#ff87d7'},
  agent6: {color: '#d7d75f'},
  agent7: {color: '#5fd7af'},
};

/** Exact colours for a light background. */
const LIGHT: Theme = {
  ...TERMINAL,
  accent: {color: '#005f87'},
  muted: {color: '#5f5f5f'},
  success: {color: '#005f00'},
  warning: {color: '#875f00'},
  error: {color: '#af0000'},
  heading: {color: '#005f87', bold: true},
  mark: {color: '#005f87'},
  code: {color: '#005faf'},
  keyword: {color: '#8700af'},
  type: {color: '#005f5f'},
  literal: {color: '#875f00'},
  string: {color: '#005f00'},
  comment: {color: '#5f5f5f'},
  title: {color: '#0000af'},
  added: {color: '#00300a', backgroundColor: '#d7f5dd'},
  removed: {color: '#4a0000', backgroundColor: '#fbdcdc'},
  addedWord: {color: '#00300a', backgroundColor: '#8fdca0', bold: true},
  removedWord: {color: '#4a0000', backgroundColor: '#f2a3a3', bold: true},
  hunk: {color: '#5f5f5f'},
  agent0: {color: '#005f87'},
  agent1: {color: '#8700af'},
  agent2: {color: '#875f00'},
  agent3: {color: '#0000af'},
  agent4: {color: '#005f00'},
  agent5: {color: '#af005f'},
  agent6: {color: '#5f5f00'},
  agent7: {color: '#005f5f'},
};

/**
 * Blue and orange in place of green and red: most people who cannot distinguish green and red can distinguish these.
 */
const BLUE_AND_ORANGE = {
  dark: {
    success: {color: '#5fafff'},
    error: {color: '#ffaf5f'},
    added: {color: '#d7e7ff', backgroundColor: '#10305a'},
    removed: {color: '#ffe7c7', backgroundColor: '#553000'},
    addedWord: {color: '#ffffff', backgroundColor: '#2563b5', bold: true},
    removedWord: {color: '#ffffff', backgroundColor: '#9a5a00', bold: true},
  },
  light: {
    success: {color: '#004fa8'},
    error: {color: '#8a4b00'},
    added: {color: '#001f47', backgroundColor: '#d6e6fb'},
    removed: {color: '#4a2900', backgroundColor: '#fbe6cc'},
    addedWord: {color: '#001f47', backgroundColor: '#94bff2', bold: true},
    removedWord: {color: '#4a2900', backgroundColor: '#f0bd7a', bold: true},
  },
} as const satisfies Readonly<Record<'dark' | 'light', Partial<Theme>>>;

const THEMES: Readonly<Record<ThemeName, Theme>> = {
  terminal: TERMINAL,
  dark: DARK,
  light: LIGHT,
  'dark-colorblind': {...DARK, ...BLUE_AND_ORANGE.dark},
  'light-colorblind': {...LIGHT, ...BLUE_AND_ORANGE.light},
};

/** Changes to a theme for terminals with only sixteen colours: blue and yellow replace green and red. */
const FEW_COLORS: Readonly<Partial<Record<ThemeName, Partial<Theme>>>> = {
  'dark-colorblind': colorBlindTerminal(),
  'light-colorblind': colorBlindTerminal(),
};

function colorBlindTerminal(): Partial<Theme> {
  return {
    success: {color: 'blue'},
    error: {color: 'yellow'},
    added: {color: 'blue'},
    removed: {color: 'yellow'},
    addedWord: {color: 'blue', bold: true, underline: true},
    removedWord: {color: 'yellow', bold: true, underline: true},
  };
}

/** @param colorBits colour depth of the terminal, as `stdout.getColorDepth` returns it: 1, 4, 8 or 24 */
export function getTheme(name: ThemeName = 'terminal', colorBits = 24): Theme {
  return colorBits >= 8 ? THEMES[name] : {...TERMINAL, ...FEW_COLORS[name]};
}

/** Returns the text with the terminal codes of its look. React and Ink draw many pieces much faster as one text. */
export function paint(text: string, look: Look & Pick<TextProps, 'italic' | 'strikethrough'>): string {
  const {dimColor, color, backgroundColor, bold, italic, underline, strikethrough, inverse} = look;
  let painter: ChalkInstance = chalk;
  if (dimColor) painter = painter.dim;
  if (color) painter = withColor(painter, color);
  if (backgroundColor) painter = withBackground(painter, backgroundColor);
  if (bold) painter = painter.bold;
  if (italic) painter = painter.italic;
  if (underline) painter = painter.underline;
  if (strikethrough) painter = painter.strikethrough;
  if (inverse) painter = painter.inverse;
  return painter === chalk ? text : painter(text);
}

function withColor(painter: ChalkInstance, color: string): ChalkInstance {
  return color.startsWith('#') ? painter.hex(color) : painter[color as ForegroundColorName];
}

function withBackground(painter: ChalkInstance, color: string): ChalkInstance {
  if (color.startsWith('#')) return painter.bgHex(color);
  return painter[`bg${color[0]!.toUpperCase()}${color.slice(1)}` as 'bgRed'];
}
