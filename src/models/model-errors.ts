/** Turns what the SDK throws into an error with one line that says what to do. */

import Anthropic from '@anthropic-ai/sdk';
import type {Redactor} from '../core/secrets/redaction.ts';
import {getErrorMessage, ModelError, type ModelErrorKind} from '../core/util/errors.ts';

/** @param server host of the server, named in connection errors. @param redactor removes keys from the text. */
export function toModelError(error: unknown, server: string, redactor: Redactor): ModelError {
  if (error instanceof ModelError) return error;
  const {kind, message, details} = parseSdkError(error, server);
  return new ModelError(kind, redactor.text(message), details, {cause: error});
}

function parseSdkError(error: unknown, server: string): ModelError {
  if (error instanceof Anthropic.APIConnectionTimeoutError) {
    return new ModelError('connection', `${server} did not answer in time`, {retryable: true});
  }
  if (error instanceof Anthropic.APIConnectionError) {
    return new ModelError('connection', `cannot reach ${server}${formatCause(error)}`, {retryable: true});
  }
  if (error instanceof Anthropic.APIError) return parseApiError(error);
  // A connection that breaks in the middle of a stream throws a plain error, `terminated`. Invalid JSON throws a SyntaxError.
  const message =
    error instanceof SyntaxError ? 'the stream is garbled' : `the stream broke off (${getErrorMessage(error)})`;
  return new ModelError('stream', message, {retryable: true});
}

function parseApiError(error: InstanceType<typeof Anthropic.APIError>): ModelError {
  const body = error.error as {error?: {type?: unknown; code?: unknown}} | undefined;
  const details = getServerMessage(error);
  const kind = isBilling(`${body?.error?.type} ${body?.error?.code} ${details}`)
    ? 'billing'
    : getKind(error.status, body?.error?.type);
  const status = error.status as number | undefined;
  const message = `${ADVICE[kind] ?? 'the model server failed'}${status === undefined ? '' : ` (${status})`}${details === '' ? '' : `: ${details}`}`;
  return new ModelError(kind, message, {
    retryable: ['rate_limit', 'overloaded', 'server', 'stream'].includes(kind),
    ...(status === undefined ? {} : {status}),
    ...parseRetryAfter(error.headers),
  });
}

/** Servers send it with various statuses, also 400 and 429, and some tell it in the message alone. */
function isBilling(text: string): boolean {
  return /billing_error|insufficient[ _](quota|balance|credit)|credit balance|exceeded your current quota/i.test(text);
}

/** An error event in a stream has a type but no status. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
};

function getKind(given: number | undefined, type: unknown): ModelErrorKind {
  const status = given ?? (typeof type === 'string' ? STATUS_OF_TYPE[type] : undefined);
  if (type === 'overloaded_error' || status === 529) return 'overloaded';
  if (status === 402) return 'billing';
  if (type === 'rate_limit_error' || status === 429) return 'rate_limit';
  if (status === 401 || status === 403) return 'authentication';
  if (status === 404 || isRedirect(status)) return 'not_found';
  if (status === undefined || status >= 500 || status === 408 || status === 409) return 'server';
  return 'bad_request';
}

const ADVICE: Readonly<Partial<Record<ModelErrorKind, string>>> = {
  authentication: 'the model server refused the key: check ANTHROPIC_API_KEY',
  billing: 'the model server asks for payment: check the billing of this key',
  rate_limit: 'the model server limits the rate of requests',
  overloaded: 'the model server is overloaded',
  not_found: 'the model server does not know this model or address: check --model and ANTHROPIC_BASE_URL',
  bad_request: 'the model server refused the request',
};

/** Not followed: it could take the key to another server. */
function isRedirect(status: number | undefined): boolean {
  return status !== undefined && status >= 300 && status < 400;
}

/** The message in the server's JSON, or else the first line of what it sent; at most 200 characters. */
function getServerMessage(error: InstanceType<typeof Anthropic.APIError>): string {
  if (isRedirect(error.status)) return `it redirects to ${error.headers?.get('location')?.slice(0, 200) ?? 'nowhere'}`;
  const body = error.error as {error?: {message?: unknown}; message?: unknown} | undefined;
  const message = body?.error?.message ?? body?.message;
  const text = typeof message === 'string' ? message : error.message.replace(/^\d{3}\s*/, '');
  return text.trim().split('\n')[0]!.slice(0, 200);
}

/** Reads `retry-after-ms`, or `Retry-After` in seconds or as a date. */
function parseRetryAfter(headers: Headers | undefined): {retryAfterMs?: number} {
  const ms = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (Number.isFinite(ms)) return {retryAfterMs: ms};
  const value = headers?.get('retry-after');
  if (!value) return {};
  const seconds = Number.parseFloat(value);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(wait) && wait > 0 ? {retryAfterMs: wait} : {};
}

/** ` (ECONNREFUSED)`, or empty. */
function formatCause(error: Error): string {
  let cause: unknown = error.cause;
  while (cause instanceof Error) {
    if ('code' in cause && typeof cause.code === 'string') return ` (${cause.code})`;
    cause = cause.cause;
  }
  return '';
}
