/** Output past a tool's cap: the middle is cut from what the model reads, the whole is kept in a file. */

/** Head and tail of `text` with a line between them that says how much is missing and where the whole is. */
export function cutMiddle(text: string, maxChars: number, keptAt: string): string {
  if (text.length <= maxChars) return text;
  const head = Math.floor(maxChars / 2);
  const tail = maxChars - head;
  // A cut may fall between the two halves of a character.
  return joinCut(text.slice(0, head).toWellFormed(), text.slice(-tail).toWellFormed(), text.length - maxChars, keptAt);
}

export function joinCut(head: string, tail: string, missing: number, keptAt: string): string {
  return `${head}\n\n[... ${missing.toLocaleString('en-US')} characters cut; the whole output: ${keptAt} ...]\n\n${tail}`;
}
