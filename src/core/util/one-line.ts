/** The text in one line: each run of white space becomes one space, none is left at the ends. */
export function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
