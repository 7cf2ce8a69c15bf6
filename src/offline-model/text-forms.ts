/** Recognizes comments and quoted parts in single lines. */

export function isComment(line: string): boolean {
  return /^\s*(\/\/|\/\*|\*(\s|\/|$)|--\s|<!--|;;|#(?!\s*(define|include|if|pragma|\[|!\[)|\w+\s*[(=;]))/.test(line);
}

/** Returns whether the position in the line is inside a string, or in a comment at the end of the line. */
export function isQuoted(line: string, at: number): boolean {
  let quote = '';
  for (let index = 0; index < at; index++) {
    const char = line[index]!;
    if (char === '\\') index++;
    else if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === "'" || char === '"' || char === '`') quote = char;
    else if (char === '/' && line[index + 1] === '/' && line[index - 1] !== ':') return true;
  }
  return quote !== '' && line.indexOf(quote, at) >= 0;
}

export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
