import {lstatSync, readlinkSync} from 'node:fs';
import {quote} from './problem.ts';

/** The one error family: a stable `code` for programs, a message that a person can act on. */
export class MiniCcError extends Error {
  /** Written out in each class: the bundle gives classes other names. */
  override readonly name: string = 'MiniCcError';

  constructor(
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What the user typed, set or wrote is wrong: exit code 2. */
export class UsageError extends MiniCcError {
  override readonly name = 'UsageError';

  constructor(message: string, options?: ErrorOptions) {
    super('USAGE', message, options);
  }
}

/** What a model call can fail with. `retryable` says if asking again may help. */
export type ModelErrorKind =
  | 'authentication'
  | 'billing'
  | 'bad_request'
  | 'not_found'
  | 'rate_limit'
  | 'overloaded'
  | 'server'
  | 'connection'
  | 'stream'
  | 'idle';

/** A model call failed. */
export class ModelError extends MiniCcError {
  override readonly name = 'ModelError';

  constructor(
    readonly kind: ModelErrorKind,
    message: string,
    readonly details: {
      readonly status?: number;
      readonly retryable: boolean;
      /** Milliseconds that the server asked to wait (`Retry-After`). */
      readonly retryAfterMs?: number;
    },
    options?: ErrorOptions,
  ) {
    super(`MODEL_${kind.toUpperCase()}`, message, options);
  }
}

/** One line that says what went wrong, whatever was thrown. */
export function getErrorMessage(error: unknown): string {
  if (error instanceof Error) return error.message;
  return String(error);
}

/** The `code` of a system error, e.g. `ENOENT`. */
export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** For what need not be there: undefined for a missing file. @throws every other error */
export function ignoreMissing(error: unknown): undefined {
  const code = getErrorCode(error);
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}

/** @param absent what to say of a file that is not there; undefined where it need not be. */
export function describeReadError<T extends string | undefined>(file: string, error: unknown, absent: T): string | T {
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'ENOENT':
      return danglingLink(file) ?? absent;
    case 'ENOTDIR':
      return absent;
    case 'ELOOP':
      return 'is a link that leads back to itself';
    case 'EACCES':
    case 'EPERM':
      return 'cannot be read: permission denied';
    default:
      return `cannot be read: ${getErrorMessage(error)}`;
  }
}

function danglingLink(file: string): string | undefined {
  const about = lstatSync(file, {throwIfNoEntry: false});
  return about?.isSymbolicLink() ? `is a link to ${quote(readlinkSync(file))}, which is not there` : undefined;
}
