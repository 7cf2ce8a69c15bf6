/** Turns errors of the clients into errors with one line that says what to do. The clients are not loaded here. */

import {getErrorMessage, ModelError, type ModelErrorKind} from '../core/util/errors.ts';
import type {ServerWords} from './protocol.ts';
import {isLoopback} from './providers.ts';

/** The common fields of the clients' errors for an answer of the server. */
interface ServerError {
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  readonly message: string;
  /** The JSON of the server, if it sent any: `{error: {type, code, message}}`. */
  readonly error: unknown;
}

/** The classes of errors of a client. The packages of Anthropic and OpenAI use the same names. */
interface ClientErrors {
  readonly APIConnectionError: new (...args: never[]) => Error;
  readonly APIConnectionTimeoutError: new (...args: never[]) => Error;
  readonly APIError: new (...args: never[]) => ServerError & Error;
}

/** @param server names of the server and its key for the text */
export function toModelError(error: unknown, client: ClientErrors, server: ServerWords): ModelError {
  if (error instanceof ModelError) return error;
  if (isBadHeader(error)) return toHeaderError(error, server);
  if (error instanceof client.APIConnectionError) {
    return toConnectionError(error, error instanceof client.APIConnectionTimeoutError, server);
  }
  return error instanceof client.APIError ? toAnsweredError(error, server) : toStreamError(error, server);
}

/** Creates the error of a stream that another attempt may bring whole. */
export function createStreamError(message = 'the stream is garbled'): ModelError {
  return new ModelError('stream', message, {retryable: true});
}

/** @param response an answer without events */
export function assertEventStream({headers}: Response): void {
  const type = headers.get('content-type') ?? '';
  if (type === '' || /event-stream/i.test(type)) return;
  throw createStreamError(`the server sent ${type.split(';')[0]} instead of a reply`);
}

/** Tells whether a header cannot be sent: Node.js refuses control characters, and `Headers` also those above 255. */
function isBadHeader(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && cause.code === 'ERR_INVALID_CHAR') return true;
    if (cause instanceof TypeError && /ByteString|^Headers\.\w+: /.test(cause.message)) return true;
  }
  return false;
}

/** Nothing was sent, and another attempt would fail in the same way. */
function toHeaderError(error: unknown, {host, key, redactor}: ServerWords): ModelError {
  const why = `a header of requests to ${host} has a character that none may have: check ${key}`;
  return new ModelError('authentication', redactor.text(why), {retryable: false}, {cause: error});
}

function toConnectionError(error: Error, isTimeout: boolean, {host, redactor}: ServerWords): ModelError {
  const text = isTimeout ? `${host} did not answer in time` : `cannot reach ${host}${formatCause(error)}`;
  const isRefusedHere = getCauseCode(error) === 'ECONNREFUSED' && isLoopback(`http://${host}`);
  const details = {retryable: true, ...(isRefusedHere && {isRefusedHere})};
  return new ModelError('connection', redactor.text(text), details, {cause: error});
}

/** The package of a cloud found no credentials on this machine, and another attempt would find none. */
export function toCredentialsError(error: Error, server: ServerWords): ModelError {
  if (isBadHeader(error)) return toHeaderError(error, server);
  const {host, address, redactor} = server;
  const cause = error.cause instanceof Error ? error.cause.message : error.message;
  const text = `no credentials for ${host}: ${cause.split('\n')[0]!.replace(/\.$/, '')}; or set apiKeyEnv in ${address}`;
  return new ModelError('authentication', redactor.text(text), {retryable: false}, {cause: error});
}

/**
 * Describes a broken stream. A connection that breaks in mid-stream throws a plain error, `terminated`; invalid JSON
 * throws a SyntaxError.
 */
function toStreamError(error: unknown, {redactor}: ServerWords): ModelError {
  const message = getErrorMessage(error);
  const why = message === 'terminated' ? '' : ` (${message})`;
  const text = error instanceof SyntaxError ? 'the stream is garbled' : `the stream broke off${why}`;
  return new ModelError('stream', redactor.text(text), {retryable: true}, {cause: error});
}

function toAnsweredError(error: ServerError, server: ServerWords): ModelError {
  const {type, code} = getFields(error);
  const details = getServerMessage(error);
  const {status} = error;
  const kind = isBilling(`${type} ${code} ${details}`) ? 'billing' : getKind(status, type, code);
  const advice = getAdvice(kind, server);
  const limitEndsAt = kind === 'rate_limit' || kind === 'billing' ? parseLimitEnd(error.headers) : undefined;
  const message = `${advice}${status === undefined ? '' : ` (${status})`}${details === '' ? '' : `: ${details}`}`;
  return new ModelError(
    kind,
    server.redactor.text(message),
    {
      retryable: limitEndsAt === undefined && ['rate_limit', 'overloaded', 'server', 'stream'].includes(kind),
      ...(limitEndsAt !== undefined && {limitEndsAt}),
      ...(status === undefined ? {} : {status}),
      ...(details === '' ? {} : {words: server.redactor.text(details)}),
      ...parseRetryAfter(error.headers),
    },
    {cause: error},
  );
}

/** Reads the fields, which servers nest in different ways: `{error: {type}}` or `{type}`. */
function getFields({error}: ServerError): {type: unknown; code: unknown; message: unknown} {
  const body = error as {error?: unknown; type?: unknown; code?: unknown; message?: unknown} | null | undefined;
  const inner = typeof body?.error === 'object' && body.error !== null ? (body.error as typeof body) : body;
  return {type: inner?.type, code: inner?.code, message: inner?.message ?? body?.message ?? body?.error};
}

/**
 * Tells whether the server asks for payment. Servers use various statuses for this, even 400 and 429, and some only the
 * message.
 */
function isBilling(text: string): boolean {
  return /billing_error|insufficient[ _](quota|balance|credit)|credit balance|exceeded your current quota/i.test(text);
}

/** Statuses for error events in a stream, which have a type but no status. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
};

function getKind(given: number | undefined, type: unknown, code: unknown): ModelErrorKind {
  const status =
    given ??
    (typeof code === 'number' && code >= 400 && code < 600 ? code : undefined) ??
    (typeof type === 'string' ? STATUS_OF_TYPE[type] : undefined);
  if (type === 'overloaded_error' || status === 529) return 'overloaded';
  if (status === 402) return 'billing';
  if (type === 'rate_limit_error' || code === 'rate_limit_exceeded' || status === 429) return 'rate_limit';
  if (status === 401 || status === 403) return 'authentication';
  if (status === 404 || code === 'model_not_found' || isRedirect(status)) return 'not_found';
  if (status === undefined || status >= 500 || status === 408 || status === 409) return 'server';
  return 'bad_request';
}

function getAdvice(kind: ModelErrorKind, {key, address}: ServerWords): string {
  switch (kind) {
    case 'authentication':
      return `the model server refused the key: check ${key}`;
    case 'billing':
      return 'the model server asks for payment: check the billing of this key';
    case 'rate_limit':
      return 'the model server limits the rate of requests';
    case 'overloaded':
      return 'the model server is overloaded';
    case 'not_found':
      return `the model server does not know this model or address: check --model and ${address}`;
    case 'bad_request':
      return 'the model server refused the request';
    default:
      return 'the model server failed';
  }
}

/**
 * Tells whether the answer is a redirect. Redirects are not followed, because they could take the key to another
 * server.
 */
function isRedirect(status: number | undefined): boolean {
  return status !== undefined && status >= 300 && status < 400;
}

/** Tells whether the server answered that it does not take a request as it is. */
export function isRefusal(error: unknown): error is ServerError & Error {
  return error instanceof Error && 'status' in error && (error.status === 400 || error.status === 422);
}

/** Returns the message in the server's JSON, or the first line that it sent, with at most 200 characters. */
export function getServerMessage(error: ServerError): string {
  if (isRedirect(error.status)) return `it redirects to ${error.headers?.get('location')?.slice(0, 200) ?? 'nowhere'}`;
  const {message} = getFields(error);
  const text = typeof message === 'string' ? message : error.message.replace(/^\d{3}\s*/, '');
  return text.trim().split('\n')[0]!.slice(0, 200);
}

function parseRetryAfter(headers: Headers | undefined): {retryAfterMs?: number} {
  const ms = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (Number.isFinite(ms)) return {retryAfterMs: limitWait(ms)};
  const value = headers?.get('retry-after');
  if (!value) return {};
  const seconds = Number.parseFloat(value);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(wait) && wait > 0 ? {retryAfterMs: limitWait(wait)} : {};
}

/** Limits a wait so that its end is a date. */
function limitWait(ms: number): number {
  return Math.min(ms, LAST_TIME / 2);
}

const UNIFIED_RESET = 'anthropic-ratelimit-unified-reset';

/**
 * Reads when the limit of an account ends, from the headers of Anthropic and OpenAI. Where a server says when to ask
 * again, the call is only repeated then: such limits are those of a minute. A limit of a subscription is named by
 * `unified-reset`.
 * @returns milliseconds since the epoch, in the future
 */
function parseLimitEnd(headers: Headers | undefined): number | undefined {
  if (!headers) return undefined;
  const unified = parseTime(headers.get(UNIFIED_RESET));
  if (unified !== undefined) return unified;
  if (headers.get('retry-after') ?? headers.get('retry-after-ms')) return undefined;
  const ends = [...headers].flatMap(([name, value]) => {
    if (!/^anthropic-ratelimit-.+-reset$|^x-ratelimit-reset-/.test(name)) return [];
    const remaining = headers.get(name.replace('reset', 'remaining'));
    const isOver = remaining === null ? name.startsWith('x-') : Number(remaining) === 0;
    return isOver ? (parseTime(value) ?? []) : [];
  });
  return ends.length === 0 ? undefined : Math.max(...ends);
}

const UNIT_MS: Readonly<Record<string, number>> = {ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000};
/** The latest time that a date can have, in milliseconds since the epoch. Servers may name a later one. */
const LAST_TIME = 8.64e15;
/** Numbers from here on are seconds since the epoch, and smaller ones are seconds from now. */
const FIRST_EPOCH = 1_000_000_000;

/** Reads a date, seconds, or a duration such as `6m0s`. @returns undefined when it is none, or is past */
function parseTime(value: string | null): number | undefined {
  const text = value?.trim();
  if (!text) return undefined;
  const number = Number(text);
  const durations = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)];
  const isDuration = durations.map(([all]) => all).join('') === text;
  const fromNow = durations.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit!]!, 0);
  const at = Number.isFinite(number)
    ? number * 1000 + (number < FIRST_EPOCH ? Date.now() : 0)
    : isDuration
      ? Date.now() + fromNow
      : Date.parse(text);
  return at > Date.now() ? Math.min(at, LAST_TIME) : undefined;
}

/** Returns the code of the cause in brackets, e.g. ` (ECONNREFUSED)`, or an empty text. */
function formatCause(error: Error): string {
  const code = getCauseCode(error);
  return code === undefined ? '' : ` (${code})`;
}

function getCauseCode(error: Error): string | undefined {
  let cause: unknown = error.cause;
  while (cause instanceof Error) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    cause = cause.cause;
  }
  return undefined;
}
