/** Measures images, and checks them against the limits of model servers. */

import {imageSize} from 'image-size';

/** Longest side in pixels that servers accept. */
const MAX_IMAGE_PIXELS = 8_000;
/** Longest side in pixels in a request with more than `MANY_IMAGES`. */
export const MAX_PIXELS_OF_MANY = 2_000;
export const MANY_IMAGES = 20;
/** Largest number of images in one request. */
export const MAX_IMAGES = 100;
/** Largest number of characters of an image in base64. */
const MAX_BASE64 = 5 * 1024 * 1024;

type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

const TYPES: Readonly<Record<string, ImageType>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

interface MeasuredImage {
  readonly type: ImageType;
  readonly width: number;
  readonly height: number;
}

/**
 * Reads the type and size from the content, not from a name. Undefined for a file that is damaged or is no image that
 * servers accept.
 */
export function measureImage(bytes: Uint8Array): MeasuredImage | undefined {
  try {
    const {width, height, type = ''} = imageSize(bytes);
    const known = TYPES[type];
    return known && width > 0 && height > 0 ? {type: known, width, height} : undefined;
  } catch {
    // The library throws for unknown types and incomplete files.
    return undefined;
  }
}

/** @returns e.g. `1200 × 9000 pixels; at most 8000 a side can be shown`; undefined when the image is small enough */
export function describeOversize({width, height}: MeasuredImage, maxPixels = MAX_IMAGE_PIXELS): string | undefined {
  if (Math.max(width, height) <= maxPixels) return undefined;
  return `${width} × ${height} pixels; at most ${maxPixels} a side can be shown`;
}

/** A pattern for the whole text would keep a place for each character, and millions of them overflow the stack. */
function hasWrongCharacters(base64: string): boolean {
  return (
    /[^A-Za-z0-9+/]/.test(base64.slice(0, -2)) || !/^[A-Za-z0-9+/]{2}$|^[A-Za-z0-9+/]=$|^==$/.test(base64.slice(-2))
  );
}

/** Returns why a server would refuse an image in base64; undefined when it would accept it. */
export function findImageProblem(
  {data, media_type}: {readonly data: string; readonly media_type: string},
  maxPixels = MAX_IMAGE_PIXELS,
): string | undefined {
  if (data.length > MAX_BASE64)
    return `${Math.ceil(data.length / 1024 / 1024)} MB in base64; at most 5 MB can be shown`;
  if (data.length < 4 || data.length % 4 !== 0 || hasWrongCharacters(data)) return 'a damaged image';
  const image = measureImage(Buffer.from(data, 'base64'));
  if (!image) return 'a damaged image, or of a type that cannot be shown';
  if (image.type !== media_type) return `an image of type ${image.type} that was named ${media_type}`;
  return describeOversize(image, maxPixels);
}
