/**
 * Recognises pasted paths. Terminals paste the path of a file that is dropped on them. When it is the path of an image,
 * it becomes an `@` mention, so that the image is sent with the prompt.
 */

const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;

/**
 * @returns the path as an `@` mention; undefined when the paste is not the absolute path of an image as terminals write
 * it
 */
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
      // The text is not a valid URL.
      if (error instanceof URIError) return text;
      throw error;
    }
  }
  const [, quoted] = /^'(.*)'$|^"(.*)"$/.exec(text)?.filter((part) => part !== undefined) ?? [];
  if (quoted !== undefined) return quoted;
  // Unescaped blanks separate several paths.
  return /(?<!\\)\s/.test(text) ? '' : text.replace(/\\(.)/g, '$1');
}
