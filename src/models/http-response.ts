/** A response of a model server as far as the packages and our readers use one: its body is read as a stream of Node.js. */

interface ResponseParts {
  readonly status: number;
  readonly headers: HeadersInit;
  readonly body: AsyncIterable<Uint8Array>;
  readonly statusText?: string;
  readonly url?: string;
}

/** In place of `new Response`, whose body would be a stream of the web. */
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
