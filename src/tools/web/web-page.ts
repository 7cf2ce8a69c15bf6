/** Turns a server's reply into text for the model: it decodes the reply and converts HTML to markdown. */
import type {WebReply} from './web-request.ts';

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
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    // The charset is unknown, so the page is read as UTF-8.
    return new TextDecoder().decode(body);
  }
}

/** Removes control characters, which no reader needs and no request may contain. */
function withoutControls(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/[\0-\x08\x0b-\x1f\x7f]/g, '');
}
