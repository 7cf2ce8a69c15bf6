/** A web server on loopback that answers by path and records the requests. */
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {onTestFinished} from 'vitest';
import {createWebFetch, type WebFetchOptions} from '../../../src/tools/web/web-fetch.ts';
import {fixture} from '../fixture.ts';

export type Page = (response: ServerResponse, request: IncomingMessage) => void;

export async function webServer(pages: Readonly<Record<string, Page>>) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const page = pages[request.url ?? ''];
    if (page) page(response, request);
    else response.writeHead(404, {'content-type': 'text/html'}).end('<h1>Nothing here</h1>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const {port} = server.address() as AddressInfo;
  return {url: `http://127.0.0.1:${port}`, port, requests};
}

export function page(type: string, body: string | Buffer, headers: Record<string, string> = {}): Page {
  return (response) => response.writeHead(200, {'content-type': type, ...headers}).end(body);
}

/** The tool, with rules that name these private hosts. */
export function fetcher(allowed: readonly string[] = ['127.0.0.1'], more: Partial<WebFetchOptions> = {}) {
  const tool = createWebFetch({mayReachPrivate: (host) => allowed.includes(host), ...more});
  const at = fixture();
  return {
    tool,
    fetch: (url: string, given: {prompt?: string} = {}, context: Parameters<typeof at.call>[2] = {}) =>
      at.call(tool, {url, ...given}, context),
    access: (url: string) => tool.access({url}, at.workspace),
  };
}
