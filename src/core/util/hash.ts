/** Hashes by SHA-256, in hex. */
import {createHash} from 'node:crypto';

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Returns the hash of a value as `JSON.stringify` writes it. */
export function hashJson(value: object): string {
  return sha256(JSON.stringify(value));
}
