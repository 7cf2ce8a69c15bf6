import {once} from 'node:events';
import {createServer, type RequestListener} from 'node:http';
import type {AddressInfo, Socket} from 'node:net';
import {text} from 'node:stream/consumers';
import {createBrotliCompress, createDeflate, createGzip} from 'node:zlib';
import {describe, expect, it, onTestFinished, vi} from 'vitest';
import {createFetch} from '../../src/models/http-fetch.ts';

async function serve(listener: RequestListener) {
  const server = createServer(listener);
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => void sockets.push(socket));
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, server};
}

describe('the fetch for model servers', () => {
  it('sends method, headers and bytes, and gives status, headers and body as the global one does', async () => {
    const {url} = await serve(async (request, response) => {
      const body = await text(request);
      response.writeHead(418, 'Teapot', {'Request-Id': 'r1', 'set-cookie': ['a', 'b']});
      response.end(JSON.stringify({method: request.method, key: request.headers['x-api-key'], body}));
    });
    const init = {method: 'POST', headers: {'X-Api-Key': 'k'}, body: Buffer.from('ü')};
    const [own, global] = await Promise.all(
      [createFetch(), fetch].map(async (send) => {
        const {ok, status, statusText, headers, json} = await send(`${url}/a?b=c`, init).then((response) => ({
          ...{ok: response.ok, status: response.status, statusText: response.statusText, headers: response.headers},
          json: () => response.json(),
        }));
        const named = ['request-id', 'REQUEST-ID', 'set-cookie', 'none'].map((name) => headers.get(name));
        return {ok, status, statusText, named, json: await json()};
      }),
    );
    expect(own).toEqual(global);
    expect(own).toMatchObject({ok: false, status: 418, json: {method: 'POST', key: 'k', body: 'ü'}});
  });

  it('uses a connection again, and takes a new one where the server closed it meanwhile', async () => {
    let count = 0;
    const {url, sockets} = await serve((request, response) => {
      count += 1;
      // The second connection: closed as the request comes in.
      if (count === 3 && sockets.length === 1) request.socket.destroy();
      else response.end(String(count));
    });
    const send = createFetch();
    const ask = async () => (await send(url)).text();
    expect([await ask(), await ask(), sockets.length]).toEqual(['1', '2', 1]);
    expect([await ask(), sockets.length]).toEqual(['4', 2]);
  });

  it('takes a new connection after the machine slept: the old one may lead nowhere', async () => {
    let count = 0;
    const {url, sockets} = await serve((_, response) => void response.end(String(++count)));
    const send = createFetch();
    const ask = async () => (await send(url)).text();
    expect([await ask(), await ask(), sockets.length]).toEqual(['1', '2', 1]);
    vi.useFakeTimers({toFake: ['Date'], now: Date.now() + 3_600_000});
    onTestFinished(() => void vi.useRealTimers());
    expect([await ask(), await ask(), sockets.length]).toEqual(['3', '4', 2]);
  });

  it('goes through the proxy of the environment, but not to this machine and to what NO_PROXY names', async () => {
    const asked: string[] = [];
    const proxy = await serve((request, response) => {
      asked.push(String(request.url));
      response.end('by proxy');
    });
    proxy.server.on('connect', ({url}, socket) => {
      asked.push(`CONNECT ${url}`);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    const own = await serve((_, response) => void response.end('direct'));
    const send = createFetch({HTTP_PROXY: proxy.url, https_proxy: proxy.url, NO_PROXY: 'other.invalid'});
    expect(await (await send('http://models.invalid/a')).text()).toBe('by proxy');
    expect(await (await send(own.url)).text()).toBe('direct');
    await expect(send('https://models.invalid/b')).rejects.toThrow('fetch failed');
    await expect(send('http://other.invalid/c')).rejects.toMatchObject({
      cause: {code: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/)},
    });
    // An empty variable in small letters counts as none.
    const other = createFetch({HTTP_PROXY: proxy.url, no_proxy: '', NO_PROXY: 'other.invalid'});
    await expect(other('http://other.invalid/d')).rejects.toThrow('fetch failed');
    for (const host of ['127.8.9.10', '0.0.0.0', '[::1]', 'me.localhost']) {
      await expect(other(`http://${host}:1/`), host).rejects.toThrow('fetch failed');
    }
    expect(asked).toEqual(['http://models.invalid/a', 'CONNECT models.invalid:443']);
  });

  it('is stopped at once while a proxy says nothing', async () => {
    const proxy = await serve(() => undefined);
    const asked = once(proxy.server, 'connect');
    const aborting = new AbortController();
    const sent = createFetch({HTTPS_PROXY: proxy.url})('https://models.invalid/a', {signal: aborting.signal});
    const [, socket] = (await asked) as [unknown, Socket];
    onTestFinished(() => void socket.destroy());
    aborting.abort(new Error('stopped by the user'));
    await expect(sent).rejects.toThrow('stopped by the user');
  });

  it('does not repeat a request that the server may have begun', async () => {
    vi.useFakeTimers({toFake: ['performance']});
    onTestFinished(() => void vi.useRealTimers());
    let count = 0;
    const {url} = await serve((request, response) => {
      count += 1;
      if (count === 1) return response.end();
      vi.advanceTimersByTime(1_000);
      request.socket.destroy();
    });
    const send = createFetch();
    await (await send(url)).text();
    await expect(send(url)).rejects.toMatchObject({cause: {code: 'ECONNRESET'}});
    expect(count).toBe(2);
  });

  it('reads a body that a gateway compressed, as it comes', async () => {
    const {url} = await serve((request, response) => {
      const coding = request.url!.slice(1);
      response.setHeader('content-encoding', coding);
      const encoder = coding === 'br' ? createBrotliCompress() : coding === 'gzip' ? createGzip() : createDeflate();
      encoder.pipe(response);
      encoder.write('begin');
      encoder.flush();
      if (coding === 'deflate') encoder.end(' end');
    });
    const send = createFetch();
    for (const coding of ['gzip', 'br']) {
      const {body} = await send(`${url}/${coding}`);
      for await (const chunk of body!) {
        expect(Buffer.from(chunk).toString()).toBe('begin');
        break;
      }
    }
    expect(await (await send(`${url}/deflate`)).text()).toBe('begin end');
  });

  it('does not repeat a request on a new connection', async () => {
    let count = 0;
    const {url} = await serve((request) => {
      count += 1;
      request.socket.destroy();
    });
    await expect(createFetch()(url)).rejects.toMatchObject({
      ...{name: 'TypeError', message: 'fetch failed', cause: {code: 'ECONNRESET'}},
    });
    expect(count).toBe(1);
  });

  it('does not follow a redirect', async () => {
    const {url} = await serve((_, response) => response.writeHead(302, {location: 'http://127.0.0.1:1/'}).end());
    const response = await createFetch()(url);
    expect([response.status, response.headers.get('location')]).toEqual([302, 'http://127.0.0.1:1/']);
  });

  it('rejects with the reason of its signal before, during and after the head of the answer', async () => {
    const {url, server, sockets} = await serve((request, response) => {
      if (request.url === '/body') response.write('begin');
    });
    const reason = new Error('enough');
    const send = createFetch();
    await expect(send(url, {signal: AbortSignal.abort(reason)})).rejects.toBe(reason);
    const atOnce = new AbortController();
    const first = createFetch()(url, {signal: atOnce.signal});
    atOnce.abort(reason);
    await expect(first).rejects.toBe(reason);
    const head = new AbortController();
    const asked = once(server, 'request');
    const waiting = send(url, {signal: head.signal});
    await asked;
    head.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    const body = new AbortController();
    const reading = (await send(`${url}/body`, {signal: body.signal})).text();
    body.abort(reason);
    await expect(reading).rejects.toBe(reason);
    const unread = new AbortController();
    await send(`${url}/body`, {signal: unread.signal});
    const closed = once(sockets.at(-1)!, 'close');
    unread.abort(reason);
    await closed;
  });

  it('says that a body broke off', async () => {
    const {url, sockets} = await serve((_, response) => response.write('begin'));
    const response = await createFetch()(url);
    sockets[0]!.destroy();
    await expect(response.text()).rejects.toMatchObject({name: 'TypeError', message: 'terminated'});
  });
});
