/** What a README says first. */
import type {Line} from './results.ts';

/**
 * The first paragraph, whatever its length, as one text at its first line. Headings, badges, pictures, lists, tables,
 * code and what stands before the text (front matter, comments) are none.
 */
export function opening(lines: readonly Line[]): Line | undefined {
  let fence = '';
  let matter = lines[0]?.text.trim() === '---';
  let comment = false;
  for (const [index, {text, number}] of lines.entries()) {
    const mark = /^\s*(```|~~~)/.exec(text)?.[1] ?? '';
    if (matter) {
      matter = index === 0 || text.trim() !== '---';
    } else if (fence !== '' || mark !== '') {
      fence = fence === '' ? mark : mark === fence ? '' : fence;
    } else if (comment || /^\s*<!--/.test(text)) {
      comment = !text.includes('-->');
    } else if (isProse(text) && !isUnderline(lines[index + 1]?.text)) {
      const end = lines.findIndex((line, at) => at > index && /^\s*$|^\s*#|^\s*(```|~~~|[-*+]\s|\|)/.test(line.text));
      const texts = lines
        .slice(index, end < 0 ? undefined : end)
        .map((line) => line.text.replace(/^\s*>\s*/, '').trim());
      return {number, text: plain(texts.join(' '))};
    }
  }
  return undefined;
}

function isProse(text: string): boolean {
  const trimmed = text.trim().replace(/^>\s*/, '');
  if (/^(?:[-+*]\s|\d+[.)]\s|\||<|\.\. |:\w+:|!\[|\[!\[|\[[^\]]+\]:)/.test(trimmed) || /^#/.test(trimmed)) return false;
  return /^[\p{L}\p{N}\p{So}\p{Ps}\p{Pi}*_`"'[]/u.test(trimmed) && /\p{L}/u.test(trimmed);
}

/** Below a heading of the other style. */
function isUnderline(text: string | undefined): boolean {
  return text !== undefined && /^\s*(=+|-+|~+|\^+)\s*$/.test(text);
}

function plain(text: string): string {
  return text.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('**', '');
}
