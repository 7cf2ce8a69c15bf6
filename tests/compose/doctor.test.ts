import {once} from 'node:events';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {expect, it, onTestFinished} from 'vitest';
import {checkServer} from '../../src/compose/doctor.ts';

async function at(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each([
  [200, false],
  [401, true],
  [403, true],
  [404, false],
])('a server that answers %d is reached, and refuses the key: %s', async (code, refusesKey) => {
  const baseURL = await at((_, response) => response.writeHead(code).end('{}'));
  expect(await checkServer({baseURL, apiKey: 'key'})).toEqual({reached: true, refusesKey});
});

it('the key goes to this server alone: a redirect is not followed', async () => {
  const paths: string[] = [];
  const baseURL = await at((request, response) => {
    paths.push(request.url ?? '');
    response.writeHead(302, {location: '/elsewhere'}).end();
  });
  expect(await checkServer({baseURL: `${baseURL}/`, apiKey: 'key'})).toMatchObject({reached: true});
  expect(paths).toEqual(['/v1/models?limit=1']);
});

it('a token is sent as a bearer, a key in its header', async () => {
  const sent: unknown[] = [];
  const baseURL = await at(({headers}, response) => {
    sent.push([headers.authorization, headers['x-api-key']]);
    response.end('{}');
  });
  await checkServer({baseURL, authToken: 'token'});
  await checkServer({baseURL, apiKey: 'key'});
  await checkServer({baseURL});
  expect(sent).toEqual([
    ['Bearer token', undefined],
    [undefined, 'key'],
    [undefined, undefined],
  ]);
});

it('a server that is down is not reached, and the reason is said', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const why = expect.stringContaining('ECONNREFUSED');
  expect(await checkServer({baseURL: `http://127.0.0.1:${port}`})).toEqual({reached: false, why});
});

it('a server that is silent is not waited for longer than 4 s', async () => {
  const baseURL = await at(() => undefined);
  expect(await checkServer({baseURL})).toEqual({reached: false, why: 'no answer within 4 s'});
});
