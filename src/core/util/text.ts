/**
 * What models, tools, files and names bring to the screen is shown, not obeyed: control characters, what turns the
 * direction of writing, and what cannot be seen and so could hide words from whoever reads.
 */

/** Most texts hold nothing of it. */
const PLAIN = /^[\t\n\x20-\x7e]*$/;

/** Control characters but newlines and tabs, separators of lines, halves of characters, and all that has no picture. */
const OBEYED_OR_UNSEEN =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** Unseen characters that belong to the one before: there they are part of a picture or a letter. */
const PART_OF_A_PICTURE = new RegExp(
  [
    // Emoji: how they look, and several joined into one.
    '(?<=[\\p{Emoji}--[0-9#*]])[\\ufe0e\\ufe0f]',
    '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
    '(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})',
    // The flags of England, Scotland and Wales; other tags spell words that nobody sees.
    '(?<=\\u{1f3f4})\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}',
    // Letters of scripts that are written with joiners, and forms of Chinese characters.
    '(?<=[[\\p{L}\\p{M}]--\\p{ASCII}--[\\p{sc=Latin}\\p{sc=Greek}\\p{sc=Cyrillic}\\p{sc=Han}\\p{sc=Hangul}]])[\\u200c\\u200d]',
    '(?<=\\p{sc=Han})[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]',
    '(?<=\\p{sc=Mongolian})[\\u180b-\\u180d\\u180f]',
  ].join('|'),
  'gv',
);

/**
 * Makes what a terminal would obey or hide visible: `␛` for ESC, `\u202E` for a bidi override, `\u{E0041}` for a tag.
 * Newlines and tabs are kept.
 */
export function showControls(text: string): string {
  if (PLAIN.test(text)) return text;
  const kept = new Set<number>();
  if (/\p{Default_Ignorable_Code_Point}/u.test(text)) {
    for (const {0: part, index} of text.matchAll(PART_OF_A_PICTURE)) {
      for (let at = index; at < index + part.length; at += 1) kept.add(at);
    }
  }
  return text.replace(OBEYED_OR_UNSEEN, (character, at: number) => (kept.has(at) ? character : shown(character)));
}

function shown(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  const hex = code.toString(16).toUpperCase();
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}

/** The text in one line: each run of white space becomes one space, none is left at the ends. */
export function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
