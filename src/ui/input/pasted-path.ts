/** Terminals paste the path of a file that is dropped on them. That of an image goes along with the prompt. */

const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;

/** @returns the path as `@` names it; undefined when the paste is not the absolute path of an image, as terminals write it. */
export function toImageMention(pasted: string): string | undefined {
  const line = pasted.trim();
  if (line.includes('\n')) return undefined;
  const path = unquote(line);
  if (!/^(?:~?\/)/.test(path) || !IMAGE.test(path) || path.includes('"')) return undefined;
  return /\s/.test(path) ? `@"${path}" ` : `@${path} `;
}

function unquote(text: string): string {
  if (text.startsWith('file://')) {
    try {
      return decodeURIComponent(text.replace(/^file:\/\/[^/]*/, ''));
    } catch (error) {
      // Not a URL after all.
      if (error instanceof URIError) return text;
      throw error;
    }
  }
  const [, quoted] = /^'(.*)'$|^"(.*)"$/.exec(text)?.filter((part) => part !== undefined) ?? [];
  if (quoted !== undefined) return quoted;
  // Several paths have unescaped blanks between them.
  return /(?<!\\)\s/.test(text) ? '' : text.replace(/\\(.)/g, '$1');
}
