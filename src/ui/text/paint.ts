/** Styled text as a string with the codes of the terminal: React and Ink then draw one text, and not one for each style. */
import chalk, {type ChalkInstance, type ForegroundColorName} from 'chalk';
import type {Look, Theme} from '../theme.ts';
import type {Row, TextStyle} from './styled-text.tsx';

/** @param theme undefined: without codes */
export function paintRows(rows: readonly Row[], theme: Theme | undefined): string {
  return rows.map((row) => paintRow(row, theme)).join('\n');
}

function paintRow(row: Row, theme: Theme | undefined): string {
  let painted = '';
  for (const {text, style} of row) painted += theme ? paint(text, style, theme) : text;
  return painted;
}

function paint(text: string, {tone, ...style}: TextStyle, theme: Theme): string {
  const look: Look & TextStyle = {...(tone && theme[tone]), ...style};
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
