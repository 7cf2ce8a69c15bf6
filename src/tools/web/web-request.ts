/**
 * Makes one request with limits of time and size, to exactly the address that was checked, and turns the reply into
 * text for the model.
 */

import {lookup} from 'node:dns/promises';
import http, {type IncomingMessage} from 'node:http';
import https from 'node:https';
import {isIP, type LookupFunction} from 'node:net';
import {createBrotliDecompress, createGunzip} from 'node:zlib';
import {version} from '../../../package.json';
import {getErrorMessage, MiniCcError, tryOr} from '../../core/util/errors.ts';
import {parseWebAddress, refusePrivateAddress, type WebAddress} from './web-address.ts';

/** Limit of redirects within one host. */
const MAX_REDIRECTS = 5;

export interface WebBounds {
  /** Milliseconds for everything, redirects included. */
  readonly timeoutMs: number;
  /** Limit of the decompressed body in bytes. */
  readonly maxBytes: number;
}

export interface WebReply {
  /** Address after redirects. */
  readonly url: URL;
  readonly status: number;
  readonly statusText: string;
  /** Media type in lower case, without parameters; empty when the server sent none. */
  readonly type: string;
  readonly charset: string | undefined;
  /** `Content-Length`; undefined when the server sent none. */
  readonly length: number | undefined;
  /** Undefined for a type that `wanted` refused. */
  readonly body: Buffer | undefined;
}

type WebOutcome =
  | {readonly kind: 'reply'; readonly reply: WebReply}
  /** A redirect to another host or from https to http. It is not followed, and the model decides. */
  | {readonly kind: 'elsewhere'; readonly from: URL; readonly to: URL; readonly status: number};

/** Resolves a name to its addresses. @throws the resolver's error, such as `ENOTFOUND` */
export type ResolveName = (host: string) => Promise<readonly {readonly address: string; readonly family: number}[]>;

export interface WebRequest {
  readonly address: WebAddress;
  readonly mayReachPrivate: (host: string) => boolean;
  /** Sent by POST instead of a GET request. No redirect is followed then. */
  readonly post?: {readonly body: string; readonly headers: Readonly<Record<string, string>>};
  /** Default: the system's resolver. */
  readonly resolveName?: ResolveName | undefined;
  /** Whether bodies of this type are read. */
  readonly wanted: (type: string) => boolean;
  readonly bounds: WebBounds;
  readonly signal: AbortSignal;
}

/** @throws MiniCcError `WEB_*` with one line for the model; the signal's reason when aborted */
export async function fetchWeb(request: WebRequest): Promise<WebOutcome> {
  const {address, bounds, signal} = request;
  const time = AbortSignal.timeout(bounds.timeoutMs);
  const either = AbortSignal.any([time, signal]);
  try {
    const checked = checkedLookup(request);
    let {url} = address;
    for (let redirects = 0; ; redirects++) {
      const response = await send(url, request, checked, either);
      const to = getRedirect(response, url);
      if (!to) return {kind: 'reply', reply: await readReply(response, url, request)};
      response.destroy();
      const status = response.statusCode ?? 0;
      const isSame =
        !request.post && to.host === address.host && (to.url.protocol === url.protocol || to.url.protocol === 'https:');
      if (!isSame) return {kind: 'elsewhere', from: url, to: to.url, status};
      if (redirects === MAX_REDIRECTS) {
        throw new MiniCcError('WEB_REDIRECTS', `${address.url} redirects more than ${MAX_REDIRECTS} times.`);
      }
      url = to.url;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (time.aborted) {
      throw new MiniCcError('WEB_TIMEOUT', `${address.url} did not answer within ${bounds.timeoutMs / 1000} s.`);
    }
    if (error instanceof MiniCcError) throw error;
    throw new MiniCcError('WEB_FAILED', `${address.url} could not be fetched: ${getErrorMessage(error)}`, {
      cause: error,
    });
  }
}

/** Resolves the name once, so that it cannot resolve to another address between the check and the connection. */
function checkedLookup({address: {host}, mayReachPrivate, resolveName = bySystem}: WebRequest): LookupFunction {
  const resolved =
    isIP(host) === 0
      ? resolveName(host).then((addresses) => {
          for (const {address} of addresses) refusePrivateAddress(host, address, mayReachPrivate);
          return addresses;
        })
      : undefined;
  // The error reaches the callback below when a connection is made.
  resolved?.catch(() => undefined);
  return (_hostname, options, callback) => {
    resolved?.then(
      (addresses) => {
        const [first] = addresses;
        if (options.all) callback(null, [...addresses]);
        else callback(null, first?.address ?? '', first?.family ?? 4);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

const bySystem: ResolveName = (host) => lookup(host, {all: true});

function send(
  url: URL,
  {post}: Pick<WebRequest, 'post'>,
  checked: LookupFunction,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const {promise, resolve, reject} = Promise.withResolvers<IncomingMessage>();
  // Without an HTTP agent no connection is shared and no proxy of the environment is used.
  const agent = false;
  const headers = {
    'user-agent': `mini-cc/${version}`,
    accept: 'text/markdown, text/html, text/plain, application/json, application/xml, */*;q=0.1',
    'accept-encoding': 'gzip, br',
    ...(post && {'content-type': 'application/json', ...post.headers}),
  };
  const from = url.protocol === 'https:' ? https : http;
  const method = post ? 'POST' : 'GET';
  from.request(url, {agent, lookup: checked, signal, headers, method}, resolve).on('error', reject).end(post?.body);
  return promise;
}

function getRedirect(response: IncomingMessage, url: URL): WebAddress | undefined {
  const {statusCode = 0, headers} = response;
  if (![301, 302, 303, 307, 308].includes(statusCode) || headers.location === undefined) return undefined;
  const to = URL.parse(headers.location, url);
  if (!to) throw new MiniCcError('WEB_REDIRECTS', `${url} redirects to an invalid URL.`);
  return parseWebAddress(to.href);
}

async function readReply(response: IncomingMessage, url: URL, request: WebRequest): Promise<WebReply> {
  const {statusCode = 0, statusMessage = '', headers} = response;
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim());
  const charset = parameters.map((part) => /^charset=["']?([^"']+)/i.exec(part)?.[1]).find(Boolean);
  const length = headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
  const base = {url, status: statusCode, statusText: statusMessage, type: type.toLowerCase(), charset, length};
  if (!request.wanted(base.type)) {
    response.destroy();
    return {...base, body: undefined};
  }
  return {...base, body: await readBody(response, url, request.bounds.maxBytes)};
}

async function readBody(response: IncomingMessage, url: URL, maxBytes: number): Promise<Buffer> {
  const encoding = (response.headers['content-encoding'] ?? '').trim().toLowerCase();
  const plain = encoding === '' || encoding === 'identity' ? undefined : createDecompressor(encoding, url);
  // Not `pipeline`: it never ends when the connection closes inside a compressed body.
  if (plain) response.on('error', (error) => plain.destroy(error)).pipe(plain);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // Count decompressed bytes, because a few kilobytes may decompress to gigabytes.
    for await (const chunk of (plain ?? response) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        throw new MiniCcError('WEB_SIZE', `${url} is larger than ${maxBytes / 1024 / 1024} MB, so it was not read.`);
      }
      chunks.push(chunk);
    }
  } finally {
    // The loop ends only the decompressor.
    response.destroy();
  }
  return Buffer.concat(chunks);
}

function createDecompressor(encoding: string, url: URL) {
  if (encoding === 'gzip') return createGunzip();
  if (encoding === 'br') return createBrotliDecompress();
  throw new MiniCcError('WEB_ENCODING', `${url} has an unsupported content encoding: ${encoding}.`);
}

/** Number of first bytes in which the charset that a page declares is looked for. */
const PROBE_BYTES = 1024;

const TEXT_TYPES =
  /^(?:text\/.+|application\/(?:.+\+)?(?:json|xml|yaml|toml)|application\/(?:javascript|ecmascript|x-ndjson|x-yaml|x-sh|x-javascript|graphql|sql|rtf)|image\/svg\+xml)$/;

/** True also without a type, because the content decides then. */
export function isTextType(type: string): boolean {
  return type === '' || TEXT_TYPES.test(type);
}

/** @returns undefined when the content is not text. May take until `signal` is aborted. */
export async function decodeReply(reply: WebReply, signal: AbortSignal): Promise<string | undefined> {
  const {body, type, url} = reply;
  if (body === undefined) return undefined;
  const isUtf16 = (body[0] === 0xff && body[1] === 0xfe) || (body[0] === 0xfe && body[1] === 0xff);
  if (type === '' && !isUtf16 && body.subarray(0, PROBE_BYTES).includes(0)) return undefined;
  const text = withoutControls(decode(body, getCharset(reply, isUtf16)));
  const isHtml =
    type === 'text/html' || type === 'application/xhtml+xml' || (type === '' && /^\s*<(?:!doctype|html)/i.test(text));
  if (!isHtml) return text;
  const {htmlToMarkdown} = await import('./html-to-markdown.ts');
  return htmlToMarkdown(text, url.href, signal);
}

/** A byte order mark has precedence over the server's charset, and that over the charset that the page declares. */
function getCharset({body, charset}: WebReply, isUtf16: boolean): string {
  if (isUtf16) return body?.[0] === 0xff ? 'utf-16le' : 'utf-16be';
  if (charset) return charset;
  const start = body?.subarray(0, PROBE_BYTES).toString('latin1') ?? '';
  const named =
    /<meta[^>]+charset\s*=\s*["']?([\w:-]+)/i.exec(start) ?? /^<\?xml[^>]+encoding=["']([\w:-]+)/.exec(start);
  // The declaration was readable as single bytes, so the page is not UTF-16, even if it says so.
  return named?.[1] && !/^utf-?16/i.test(named[1]) ? named[1] : 'utf-8';
}

function decode(body: Buffer, charset: string): string {
  // A page of an unknown charset is read as UTF-8.
  return tryOr(() => new TextDecoder(charset), new TextDecoder()).decode(body);
}

/** Removes control characters, which no reader needs and no request may contain. */
function withoutControls(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/[\0-\x08\x0b-\x1f\x7f]/g, '');
}
