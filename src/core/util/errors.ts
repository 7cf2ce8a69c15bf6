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

/** A model call failed; `partialText` is what had arrived by then. */
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
      readonly partialText?: string;
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
