/**
 * Creates responses of model servers with the parts that the packages and mini-cc use. The body is a stream of Node.js.
 */

interface ResponseParts {
  readonly status: number;
  readonly headers: HeadersInit;
  readonly body: AsyncIterable<Uint8Array>;
  readonly statusText?: string;
  readonly url?: string;
}

/** Replaces `new Response`, whose body would be a web stream. */
export function createResponse({status, headers, body, statusText = '', url = ''}: ResponseParts): Response {
  const text = async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  };
  const response = {
    status,
    statusText,
    url,
    body,
    text,
    ok: status >= 200 && status < 300,
    headers: new Headers(headers),
    json: async (): Promise<unknown> => JSON.parse(await text()),
  };
  return response as unknown as Response;
}
