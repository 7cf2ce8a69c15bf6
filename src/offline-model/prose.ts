/** Finds prose that explains code: doc comments, docstrings, file headers, and the first paragraph of a README. */

import type {Line} from './results.ts';
import {isComment} from './words.ts';

/** Returns the comment above the definition at that line, or else the docstring below it. */
export function getDocComment(lines: readonly Line[], at: number): string | undefined {
  const index = lines.findIndex((line) => line.number === at);
  if (index < 0) return undefined;
  return commentAbove(lines, index) ?? docstringBelow(lines, index);
}

/** Returns the comment at the start of a file, unless it is a licence or a note to a tool. */
export function getFileHeader(lines: readonly Line[]): string | undefined {
  let start = lines.findIndex((line) => line.text.trim() !== '' && !line.text.startsWith('#!'));
  if (start < 0 || start > 4) return undefined;
  while (/^\s*(['"]use \w+['"];?|# -\*-.*|<\?php)\s*$/.test(lines[start]?.text ?? '')) start++;
  const first = lines[start]?.text ?? '';
  if (/^\s*[rbu]?("""|''')/.test(first)) return docstringBelow(lines, start - 1);
  const block: string[] = [];
  const isBlock = /^\s*\/\*/.test(first);
  for (const line of lines.slice(start)) {
    if (isBlock ? block.length > 0 && /\*\//.test(block.at(-1)!) : !isComment(line.text)) break;
    block.push(line.text);
  }
  const text = clean(block);
  return text === '' || /copyright|license|eslint|@ts-|SPDX|generated/i.test(text.slice(0, 120)) ? undefined : text;
}

function commentAbove(lines: readonly Line[], index: number): string | undefined {
  let above = index - 1;
  while (/^\s*(@\w|#\[|\[\w+)/.test(lines[above]?.text ?? '')) above--;
  const block: string[] = [];
  // A docstring above belongs to the function or file around the definition.
  while (above >= 0 && isComment(lines[above]!.text) && !/^\s*["']{3}/.test(lines[above]!.text)) {
    block.unshift(lines[above]!.text);
    if (/^\s*\/\*/.test(lines[above]!.text)) break;
    above--;
  }
  const text = clean(block);
  return text === '' ? undefined : text;
}

function docstringBelow(lines: readonly Line[], index: number): string | undefined {
  const first = lines[index + 1]?.text ?? '';
  const open = /^\s*[rbu]?("""|''')(.*)$/.exec(first);
  if (!open) return undefined;
  const block: string[] = [];
  for (const line of lines.slice(index + 1)) {
    const text = block.length === 0 ? open[2]! : line.text;
    const end = text.indexOf(open[1]!);
    block.push(end >= 0 ? text.slice(0, end) : text);
    if (end >= 0) break;
  }
  return block.join('\n').trim() || undefined;
}

function clean(block: readonly string[]): string {
  const lines = block.map((line) =>
    line
      .replace(/^\s*(\/\*\*?|\*\/|\*|\/\/[/!]?|#+!?|--|;;+|<!--)\s?/, '')
      .replace(/\s*(\*\/|-->)\s*$/, '')
      .trim(),
  );
  const tags = lines.findIndex((line) => /^@\w+/.test(line));
  return (tags >= 0 ? lines.slice(0, tags) : lines).join('\n').trim();
}

/**
 * Returns the first paragraph of a README as one text, with the number of its first line. Headings, badges, pictures,
 * lists, tables, code, front matter and comments are skipped.
 */
export function getReadmeOpening(lines: readonly Line[]): Line | undefined {
  const texts = lines
    .map(({text}) => text)
    .join('\n')
    .replace(SKIPPED, (block) => block.replace(/.+/g, ''))
    .split('\n');
  const start = texts.findIndex((text, index) => isProse(text) && !isUnderline(texts[index + 1]));
  if (start < 0) return undefined;
  const end = texts.findIndex((text, at) => at > start && /^\s*$|^\s*#|^\s*([-*+]\s|\|)/.test(text));
  const own = texts.slice(start, end < 0 ? undefined : end).map((text) => text.replace(/^\s*>\s*/, '').trim());
  return {number: lines[start]!.number, text: plain(own.join(' '))};
}

/** Front matter, blocks of code, comments, and tags of several lines. */
const SKIPPED =
  /(?<![\s\S])---\n[\s\S]*?\n---$|^\s*(```|~~~)[\s\S]*?(?:^\s*\1.*$|(?![\s\S]))|^\s*<!--[\s\S]*?(?:-->.*$|(?![\s\S]))|^\s*<[^>\n]*\n[^>]*>.*$/gm;

function isProse(text: string): boolean {
  const trimmed = text.trim().replace(/^>\s*/, '');
  if (/^(?:[-+*]\s|\d+[.)]\s|\||<|\.\. |:\w+:|!\[|\[!\[|\[[^\]]+\]:)/.test(trimmed) || /^#/.test(trimmed)) return false;
  return /^[\p{L}\p{N}\p{So}\p{Ps}\p{Pi}*_`"'[]/u.test(trimmed) && /\p{L}/u.test(trimmed);
}

/** Returns whether a line underlines a heading. */
function isUnderline(text: string | undefined): boolean {
  return text !== undefined && /^\s*(=+|-+|~+|\^+)\s*$/.test(text);
}

function plain(text: string): string {
  return text.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('**', '');
}
