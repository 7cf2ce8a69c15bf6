/** What models, tools, files and names bring to the screen is shown, not obeyed. */

/** Control characters but newlines and tabs, and what turns the direction of writing. */
const OBEYED_BY_TERMINALS = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Makes what a terminal would obey visible: `␛` for ESC, `\u202E` for a bidi override. Newlines and tabs are kept.
 */
export function showControls(text: string): string {
  return text.replace(OBEYED_BY_TERMINALS, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return '\u2421';
    return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
  });
}
