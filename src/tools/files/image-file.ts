/** Images that the Messages API takes, known by their first bytes and not by their name. */

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** The API takes 5 MB of base64. */
export const MAX_IMAGE_BYTES = 3.75 * 1024 * 1024;

export function imageTypeOf(bytes: Buffer): ImageType | undefined {
  const starts = (text: string, at = 0): boolean => bytes.toString('latin1', at, at + text.length) === text;
  if (starts('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (starts('\xff\xd8\xff')) return 'image/jpeg';
  if (starts('GIF87a') || starts('GIF89a')) return 'image/gif';
  if (starts('RIFF') && starts('WEBP', 8)) return 'image/webp';
  return undefined;
}
