import {lstatSync, readlinkSync} from 'node:fs';
import {quote} from './problem.ts';

/** Base class of mini-cc's errors: a stable `code` for programs, and a message that says what a person can do. */
export class MiniCcError extends Error {
  /** Written out in each class because bundling renames classes. */
  override readonly name: string = 'MiniCcError';

  constructor(
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The user's input, settings or files are wrong. The program exits with code 2. */
export class UsageError extends MiniCcError {
  override readonly name = 'UsageError';

  constructor(message: string, options?: ErrorOptions) {
    super('USAGE', message, options);
  }
}

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

/** Failure of a model call. Its `code` is `MODEL_` and the kind in capitals. */
export class ModelError extends MiniCcError {
  override readonly name = 'ModelError';

  constructor(
    readonly kind: ModelErrorKind,
    message: string,
    readonly details: {
      readonly status?: number;
      /** Whether the same call may succeed later. */
      readonly retryable: boolean;
      /** Milliseconds that the server asked to wait (`Retry-After`). */
      readonly retryAfterMs?: number;
      /** When the limit of the account ends, in milliseconds since the epoch. */
      readonly limitEndsAt?: number;
      /** The server's own words. */
      readonly words?: string;
      /** A server on this machine refused the connection. */
      readonly isRefusedHere?: boolean;
    },
    options?: ErrorOptions,
  ) {
    super(`MODEL_${kind.toUpperCase()}`, message, options);
  }
}

/** Returns the message of an error, or any other thrown value as text. */
export function getErrorMessage(error: unknown): string {
  if (error instanceof Error) return error.message;
  return String(error);
}

/** Returns the result of `look`, or the fallback when it throws, as for a file that is missing or may not be read. */
export function tryOr<T, F>(look: () => T, fallback: F): F | T {
  try {
    return look();
  } catch {
    return fallback;
  }
}

/** Returns the `code` of a system error, e.g. `ENOENT`. */
export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/**
 * Handler for `catch` where a file may be missing: returns undefined for `ENOENT` and `ENOTDIR`. @throws every other
 * error
 */
export function ignoreMissing(error: unknown): undefined {
  const code = getErrorCode(error);
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}

/**
 * Says why a file that a person wrote cannot be read, e.g. `cannot be read: permission denied`.
 * @param absent text for a missing file; undefined if the file is optional
 */
export function describeReadError<T extends string | undefined>(file: string, error: unknown, absent: T): string | T {
  switch (getErrorCode(error)) {
    case 'ENOENT':
      return describeBrokenLink(file) ?? absent;
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

/** Returns what is wrong with a link whose target does not exist; undefined for anything else. */
export function describeBrokenLink(file: string): string | undefined {
  const stat = lstatSync(file, {throwIfNoEntry: false});
  return stat?.isSymbolicLink() ? `is a link to ${quote(readlinkSync(file))}, which is not there` : undefined;
}
