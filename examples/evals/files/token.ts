import {createHash} from 'node:crypto';

/** A token for a link that sets a new password. */
export function createToken(): string {
  return Math.random().toString(36).slice(2) + Date.now().toString(36);
}

export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
