/** Shortens the codes of styles in text for the terminal. */

const CODES = /\x1b\[([\d;:]*)m/g;
/** The codes that end each style. Code 22 ends both bold and dim. */
const ENDS: Readonly<Record<string, string>> = {
  1: '22',
  2: '22',
  3: '23',
  4: '24',
  7: '27',
  9: '29',
};
const END = /^(?:2[2-9]|[3-5]9)$/;
/** Stands for several styles at once and for unknown ones. Only the end of all styles ends them. */
const UNKNOWN = 'unknown';
const END_OF_ALL = '\x1b[m';

/**
 * Shortens the codes of styles. A fifth of an answer with highlighted code is `\x1b[39m`, the end of a colour. When no
 * other style is in effect, `\x1b[m` ends it too, and is two bytes shorter.
 * @param text text that begins without any style
 * @returns text that looks the same
 */
export function shortenCodes(text: string): string {
  /** The codes that would end the styles in effect. */
  const open = new Set<string>();
  return text.replace(CODES, (code, given: string) => {
    if (given === '' || given === '0') {
      open.clear();
      return END_OF_ALL;
    }
    if (!END.test(given)) open.add(getEnd(given));
    else if (open.delete(given) && open.size === 0) return END_OF_ALL;
    return code;
  });
}

function getEnd(code: string): string {
  if (/^(?:[39][0-7]|38;5;\d+|38;2;\d+;\d+;\d+)$/.test(code)) return '39';
  if (/^(?:(?:4|10)[0-7]|48;5;\d+|48;2;\d+;\d+;\d+)$/.test(code)) return '49';
  return ENDS[code] ?? UNKNOWN;
}
