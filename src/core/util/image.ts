/** Size and type of images, and the limits of model servers for them. */

import {imageSize} from 'image-size';

/** Longest side in pixels that servers take. */
const MAX_IMAGE_PIXELS = 8_000;
/** The same where a request has more than `MANY_IMAGES`. */
export const MAX_PIXELS_OF_MANY = 2_000;
export const MANY_IMAGES = 20;
/** The most images of one request. */
export const MAX_IMAGES = 100;
/** Characters of an image in base64. */
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

/** By the content, not by a name. Undefined for what is no image that servers take, or is damaged. */
export function measureImage(bytes: Uint8Array): MeasuredImage | undefined {
  try {
    const {width, height, type = ''} = imageSize(bytes);
    const known = TYPES[type];
    return known && width > 0 && height > 0 ? {type: known, width, height} : undefined;
  } catch {
    // The library throws for what it does not know and for what is cut off.
    return undefined;
  }
}

/** @returns e.g. `1200 × 9000 pixels; at most 8000 a side can be shown`; undefined when the image is small enough. */
export function describeOversize({width, height}: MeasuredImage, maxPixels = MAX_IMAGE_PIXELS): string | undefined {
  if (Math.max(width, height) <= maxPixels) return undefined;
  return `${width} × ${height} pixels; at most ${maxPixels} a side can be shown`;
}

/** Why a server would refuse an image in base64; undefined when it would not. */
export function findImageProblem(
  {data, media_type}: {readonly data: string; readonly media_type: string},
  maxPixels = MAX_IMAGE_PIXELS,
): string | undefined {
  if (data.length > MAX_BASE64)
    return `${Math.ceil(data.length / 1024 / 1024)} MB in base64; at most 5 MB can be shown`;
  if (data === '' || data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return 'a damaged image';
  const image = measureImage(Buffer.from(data, 'base64'));
  if (!image) return 'a damaged image, or of a type that cannot be shown';
  if (image.type !== media_type) return `an image of type ${image.type} that was named ${media_type}`;
  return describeOversize(image, maxPixels);
}
