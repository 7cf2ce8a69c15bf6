/**
 * Defines all colours of the screen. Components and formatted text name a tone, e.g. `muted`, and the theme says how it
 * is drawn. No state is shown by colour alone: a word or a sign says the same.
 */
import chalk, {type ChalkInstance, type ForegroundColorName} from 'chalk';
import type {TextProps} from 'ink';
import type {ThemeName} from '../core/contract/events.ts';
import type {Linker} from './text/links.ts';

export type Look = Pick<TextProps, 'color' | 'backgroundColor' | 'bold' | 'dimColor' | 'underline'>;

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

type Looks = Readonly<Record<Tone, Look>>;

/** `link` is absent where the terminal gets no links. */
export type Theme = Looks & {readonly link?: Linker};

/** One tone for each agent; further agents begin again with the first. */
export const AGENT_TONES = ['agent0', 'agent1', 'agent2', 'agent3', 'agent4', 'agent5', 'agent6', 'agent7'] as const;

/** @param index number of the agent in the order of dispatch, from 0 */
export function getAgentTone(index: number): Tone {
  return AGENT_TONES[index % AGENT_TONES.length]!;
}

type ColorName =
  | 'accent'
  | 'success'
  | 'warning'
  | 'error'
  | 'code'
  | 'keyword'
  | 'type'
  | 'literal'
  | 'string'
  | 'title';

/** The colours from which a theme is made. */
interface Palette
  extends Readonly<Record<ColorName, string>>,
    Readonly<Record<'muted' | 'added' | 'removed' | 'addedWord' | 'removedWord', Look>> {
  /** One colour for each of `AGENT_TONES`. */
  readonly agents: readonly string[];
}

function createTheme({accent, muted, agents, added, removed, addedWord, removedWord, ...colors}: Palette): Looks {
  const looks = Object.entries({...colors, accent, mark: accent}).map(([tone, color]) => [tone, {color}]);
  return {
    ...Object.fromEntries(looks),
    heading: {color: accent, bold: true},
    muted,
    comment: muted,
    hunk: muted,
    added,
    removed,
    addedWord: {...addedWord, bold: true},
    removedWord: {...removedWord, bold: true},
    ...Object.fromEntries(AGENT_TONES.map((tone, index) => [tone, {color: agents[index]}])),
  } as Looks;
}

/** The first sixteen colours, as the person has chosen them in the terminal. */
const TERMINAL: Palette = {
  accent: 'cyan',
  muted: {dimColor: true},
  success: 'green',
  warning: 'yellow',
  error: 'red',
  code: 'cyan',
  keyword: 'magenta',
  type: 'cyan',
  literal: 'yellow',
  string: 'green',
  title: 'blue',
  added: {color: 'green'},
  removed: {color: 'red'},
  addedWord: {color: 'green', underline: true},
  removedWord: {color: 'red', underline: true},
  agents: ['cyan', 'magenta', 'yellow', 'blue', 'green', 'cyanBright', 'magentaBright', 'blueBright'],
};

/** Exact colours for a dark background. */
const DARK: Palette = {
  accent: '#5fd7ff',
  muted: {color: '#9e9e9e'},
  success: '#87d787',
  warning: '#ffd75f',
  error: '#ff8787',
  code: '#87d7ff',
  keyword: '#d7afff',
  type: '#87d7d7',
  literal: '#ffd787',
  string: '#afd787',
  title: '#87afff',
  added: {color: '#d7ffd7', backgroundColor: '#0f3a1c'},
  removed: {color: '#ffd7d7', backgroundColor: '#4a1515'},
  addedWord: {color: '#ffffff', backgroundColor: '#1f7a3a'},
  removedWord: {color: '#ffffff', backgroundColor: '#9b2626'},
  agents: ['#5fd7ff', '#d787ff', '#ffaf5f', '#87afff', '#87d787', '#ff87d7', '#d7d75f', '#5fd7af'],
};

/** Exact colours for a light background. */
const LIGHT: Palette = {
  accent: '#005f87',
  muted: {color: '#5f5f5f'},
  success: '#005f00',
  warning: '#875f00',
  error: '#af0000',
  code: '#005faf',
  keyword: '#8700af',
  type: '#005f5f',
  literal: '#875f00',
  string: '#005f00',
  title: '#0000af',
  added: {color: '#00300a', backgroundColor: '#d7f5dd'},
  removed: {color: '#4a0000', backgroundColor: '#fbdcdc'},
  addedWord: {color: '#00300a', backgroundColor: '#8fdca0'},
  removedWord: {color: '#4a0000', backgroundColor: '#f2a3a3'},
  agents: ['#005f87', '#8700af', '#875f00', '#0000af', '#005f00', '#af005f', '#5f5f00', '#005f5f'],
};

/**
 * Blue and orange in place of green and red: most people who cannot distinguish green and red can distinguish these.
 */
const DARK_COLORBLIND: Palette = {
  ...DARK,
  success: '#5fafff',
  error: '#ffaf5f',
  added: {color: '#d7e7ff', backgroundColor: '#10305a'},
  removed: {color: '#ffe7c7', backgroundColor: '#553000'},
  addedWord: {color: '#ffffff', backgroundColor: '#2563b5'},
  removedWord: {color: '#ffffff', backgroundColor: '#9a5a00'},
};

const LIGHT_COLORBLIND: Palette = {
  ...LIGHT,
  success: '#004fa8',
  error: '#8a4b00',
  added: {color: '#001f47', backgroundColor: '#d6e6fb'},
  removed: {color: '#4a2900', backgroundColor: '#fbe6cc'},
  addedWord: {color: '#001f47', backgroundColor: '#94bff2'},
  removedWord: {color: '#4a2900', backgroundColor: '#f0bd7a'},
};

/** Blue and yellow are the nearest among sixteen colours. */
const TERMINAL_COLORBLIND: Palette = {
  ...TERMINAL,
  success: 'blue',
  error: 'yellow',
  added: {color: 'blue'},
  removed: {color: 'yellow'},
  addedWord: {color: 'blue', underline: true},
  removedWord: {color: 'yellow', underline: true},
};

/** The palettes of each theme: for exact colours, and for sixteen. */
const PALETTES: Readonly<Record<Exclude<ThemeName, 'auto'>, readonly [exact: Palette, few: Palette]>> = {
  terminal: [TERMINAL, TERMINAL],
  dark: [DARK, TERMINAL],
  light: [LIGHT, TERMINAL],
  'dark-colorblind': [DARK_COLORBLIND, TERMINAL_COLORBLIND],
  'light-colorblind': [LIGHT_COLORBLIND, TERMINAL_COLORBLIND],
};

/**
 * @param colorBits colour depth of the terminal, as `stdout.getColorDepth` returns it: 1, 4, 8 or 24
 * @param background decides `auto`; `terminal` where it is not known
 */
export function getTheme(
  name: ThemeName = 'auto',
  colorBits = 24,
  background: 'dark' | 'light' | 'terminal' = 'terminal',
): Looks {
  return createTheme(PALETTES[name === 'auto' ? background : name][colorBits >= 8 ? 0 : 1]);
}

/**
 * Reads the background from the terminal's reply to OSC 11.
 * @returns undefined for a reply that is not about it
 */
export function parseBackground(reply: string): 'dark' | 'light' | undefined {
  const parts = /^\x1b\]11;rgba?:([\da-f]+)\/([\da-f]+)\/([\da-f]+)/i.exec(reply)?.slice(1);
  if (!parts) return undefined;
  const [red = 0, green = 0, blue = 0] = parts.map((part) => Number.parseInt(part, 16) / (16 ** part.length - 1));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 ? 'light' : 'dark';
}

/** Returns the text with the terminal codes of its look. React and Ink draw many pieces much faster as one text. */
export function paint(
  text: string,
  {color, backgroundColor, dimColor, ...styles}: Look & Pick<TextProps, 'italic' | 'strikethrough' | 'inverse'>,
): string {
  let painter: ChalkInstance = dimColor ? chalk.dim : chalk;
  if (color) painter = withColor(painter, color);
  if (backgroundColor) painter = painter.bgHex(backgroundColor);
  for (const style of STYLES) if (styles[style]) painter = painter[style];
  return painter === chalk ? text : painter(text);
}

const STYLES = ['bold', 'italic', 'underline', 'strikethrough', 'inverse'] as const;

function withColor(painter: ChalkInstance, color: string): ChalkInstance {
  return color.startsWith('#') ? painter.hex(color) : painter[color as ForegroundColorName];
}
