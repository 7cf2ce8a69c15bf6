import {once} from 'node:events';
import {type AddressInfo, createServer, getDefaultAutoSelectFamily, setDefaultAutoSelectFamily} from 'node:net';
import {gzipSync} from 'node:zlib';
import {describe, expect, it, onTestFinished} from 'vitest';
import {parseWebAddress} from '../../../src/tools/web/web-address.ts';
import {fetchWeb, type WebRequest} from '../../../src/tools/web/web-request.ts';
import {type Page, page, webServer} from './web-server.ts';

const MUCH_TIME = 600_000;

function get(url: string, {maxBytes = 1000, ...more}: Partial<WebRequest> & {maxBytes?: number} = {}) {
  return fetchWeb({
    address: parseWebAddress(url),
    mayReachPrivate: () => true,
    wanted: () => true,
    bounds: {timeoutMs: MUCH_TIME, maxBytes},
    signal: new AbortController().signal,
    ...more,
  });
}

async function read(url: string, more?: Parameters<typeof get>[1]) {
  const outcome = await get(url, more);
  return outcome.kind === 'reply' ? outcome.reply : expect.fail(outcome.kind);
}

/** A page that begins and never ends. */
function endless(status: number, headers: Readonly<Record<string, string>>, start: string | Buffer = 'start') {
  const closed = Promise.withResolvers<void>();
  const answer: Page = (response) => {
    response.once('close', closed.resolve).writeHead(status, headers).write(start);
  };
  return {answer, closed: closed.promise};
}

/** Takes one connection and gives its first byte: 22 where TLS begins. */
async function firstByteServer() {
  const first = Promise.withResolvers<number | undefined>();
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', (data) => {
        first.resolve(data[0]);
        socket.destroy();
      });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return {port: (server.address() as AddressInfo).port, first: first.promise};
}

describe('a request for a page', () => {
  it('closes the connection of a page that it does not read to its end', async () => {
    const moved = endless(302, {location: 'http://elsewhere.example/'});
    const image = endless(200, {'content-type': 'image/png'});
    const zipped = endless(200, {'content-encoding': 'gzip'}, gzipSync(Buffer.alloc(100_000)));
    const {url} = await webServer({'/moved': moved.answer, '/image': image.answer, '/zipped': zipped.answer});
    expect(await get(`${url}/moved`)).toMatchObject({kind: 'elsewhere', status: 302});
    await moved.closed;
    expect((await read(`${url}/image`, {wanted: (type) => type !== 'image/png'})).body).toBeUndefined();
    await image.closed;
    await expect(get(`${url}/zipped`)).rejects.toThrow('is larger than');
    await zipped.closed;
  });

  it('ends with an error where the connection breaks inside of a compressed page', async () => {
    const {url} = await webServer({
      '/': (response) => {
        response.writeHead(200, {'content-encoding': 'gzip', 'content-length': '1000'});
        response.write(gzipSync('zipped').subarray(0, 12), () => response.destroy());
      },
    });
    await expect(get(url)).rejects.toMatchObject({
      code: 'WEB_FAILED',
      message: expect.stringMatching(/aborted|reset/i),
    });
  });

  it('connects to the address that was checked, also where the system tries one alone', async () => {
    const {port, requests} = await webServer({'/': page('text/plain', 'in')});
    const before = getDefaultAutoSelectFamily();
    onTestFinished(() => setDefaultAutoSelectFamily(before));
    const resolveName = async () => [{address: '127.0.0.1', family: 4}];
    for (const several of [true, false]) {
      setDefaultAutoSelectFamily(several);
      expect(String((await read(`http://app.test:${port}/`, {resolveName})).body)).toBe('in');
      const refused = get(`http://app.test:${port}/`, {resolveName, mayReachPrivate: () => false});
      await expect(refused).rejects.toThrow(/leads to 127\.0\.0\.1, a private address/);
    }
    expect(requests).toHaveLength(2);
  });

  it('names why a host has no address, and is quiet about it when it was aborted before', async () => {
    const resolveName = () => Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), {code: 'ENOTFOUND'}));
    await expect(get('http://app.test/', {resolveName})).rejects.toThrow(
      'http://app.test/ could not be fetched: getaddrinfo ENOTFOUND',
    );
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(get('http://app.test/', {resolveName, signal})).rejects.toThrow('stopped');
  });

  it('speaks TLS to https, also after a redirect from http on the same host', async () => {
    const plain = await firstByteServer();
    await expect(get(`https://127.0.0.1:${plain.port}/`)).rejects.toMatchObject({code: 'WEB_FAILED'});
    expect(await plain.first).toBe(22);
    const behind = await firstByteServer();
    const {url} = await webServer({
      '/': (response) => response.writeHead(301, {location: `https://127.0.0.1:${behind.port}/`}).end(),
    });
    await expect(get(url)).rejects.toMatchObject({code: 'WEB_FAILED'});
    expect(await behind.first).toBe(22);
  });

  it.each([301, 302, 303, 307, 308])('follows a redirect by status %d', async (status) => {
    const {url} = await webServer({
      '/': (response) => response.writeHead(status, {location: '/in'}).end(),
      '/in': page('text/plain', 'in'),
    });
    expect(await read(url)).toMatchObject({url: new URL(`${url}/in`), status: 200, body: Buffer.from('in')});
  });

  it('follows no other status, no redirect without a place, and none to what is no URL', async () => {
    const {url} = await webServer({
      '/300': (response) => response.writeHead(300, {location: '/in'}).end(),
      '/nowhere': (response) => response.writeHead(302).end(),
      '/bad': (response) => response.writeHead(302, {location: 'http://['}).end(),
    });
    expect((await read(`${url}/300`)).status).toBe(300);
    expect((await read(`${url}/nowhere`)).status).toBe(302);
    await expect(get(`${url}/bad`)).rejects.toThrow('redirects to an invalid URL');
  });

  it('reads as many bytes as it may, and not one more', async () => {
    const {url} = await webServer({'/': page('text/plain', 'x'.repeat(1024 * 1024))});
    expect((await read(url, {maxBytes: 1024 * 1024})).body).toHaveLength(1024 * 1024);
    await expect(get(url, {maxBytes: 1024 * 1024 - 1})).rejects.toMatchObject({code: 'WEB_SIZE'});
  });

  it('has type, charset and length as the server says them', async () => {
    const {url} = await webServer({
      '/full': page('Text/HTML ; version=1; Charset="KOI8-R"', 'x', {'content-length': '1'}),
      '/bare': (response) => {
        response.write('x');
        response.end();
      },
    });
    expect(await read(`${url}/full`)).toMatchObject({
      type: 'text/html',
      charset: 'KOI8-R',
      length: 1,
      statusText: 'OK',
    });
    expect(await read(`${url}/bare`)).toMatchObject({type: '', charset: undefined, length: undefined});
  });

  it.each([
    ['identity', 'plain', 'plain'],
    [' GZIP ', gzipSync('zipped'), 'zipped'],
  ])('reads a page of the encoding %j', async (encoding, sent, text) => {
    const {url} = await webServer({'/': page('text/plain', sent, {'content-encoding': encoding})});
    expect(String((await read(url)).body)).toBe(text);
  });
});
