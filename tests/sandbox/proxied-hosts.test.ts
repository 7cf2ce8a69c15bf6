/** What the forwarder of a confined command is answered, without a sandbox around it: over a pair of streams. */
import {connect as connectHttp2, type IncomingHttpHeaders} from 'node:http2';
import {type AddressInfo, createServer, type Socket} from 'node:net';
import {duplexPair} from 'node:stream';
import {expect, onTestFinished, test} from 'vitest';
import {type AllowedHosts, serveAllowedHosts} from '../../src/sandbox/allowed-hosts.ts';

async function served(hosts: Partial<AllowedHosts> = {}) {
  const server = createServer((socket: Socket) => socket.pipe(socket));
  await new Promise<void>((listening) => server.listen(0, 'localhost', listening));
  const {address, port} = server.address() as AddressInfo;
  const [inside, outside] = duplexPair();
  serveAllowedHosts(outside, {names: ['localhost', '127.0.0.1', '::1'], mayResolveTo: () => true, ...hosts});
  const client = connectHttp2('http://proxy', {createConnection: () => inside});
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  const ask = async (authority: string, headers: Record<string, string> = {':method': 'CONNECT'}) => {
    const stream = client.request({...headers, ':authority': authority}, {endStream: false});
    const answer = await new Promise<IncomingHttpHeaders>((resolve) => stream.once('response', resolve));
    return {stream, status: answer[':status'] as unknown as number};
  };
  return {port, address, ask, client, outside, server};
}

test('an allowed host is reached by its name and by its address, and bytes go both ways until one side ends', async () => {
  const {port, address, ask} = await served();
  const host = address.includes(':') ? `[${address}]` : address;
  for (const authority of [`localhost:${port}`, `${host}:${port}`]) {
    const {stream, status} = await ask(authority);
    expect(status).toBe(200);
    const answer = new Promise((resolve) => stream.once('data', (data: Buffer) => resolve(data.toString())));
    stream.write('hello');
    expect(await answer).toBe('hello');
    const closed = new Promise<string>((resolve) => stream.once('close', () => resolve('closed')));
    stream.end();
    stream.resume();
    expect(await closed).toBe('closed');
  }
});

test('what is not allowed, or is no host with a port, is refused', async () => {
  const {port, ask} = await served({names: ['localhost', '127.0.0.1']});
  for (const authority of [
    `example.org:${port}`,
    'localhost',
    `localhost:${port}:1`,
    'localhost:123456',
    `[::1]:${port}`,
  ])
    expect([authority, (await ask(authority)).status]).toEqual([authority, 403]);
});

test('an address is refused that may not be reached, also one to which an allowed name leads', async () => {
  const asked: string[] = [];
  const mayResolveTo = (host: string, address: string) => asked.push(`${host} ${address}`) < 0;
  const {port, ask} = await served({mayResolveTo});
  expect((await ask(`127.0.0.1:${port}`)).status).toBe(403);
  expect(asked.splice(0)).toEqual(['127.0.0.1 127.0.0.1']);
  expect((await ask(`localhost:${port}`)).status).toBe(502);
  expect(asked).toContain('localhost 127.0.0.1');
});

test('a host that does not answer is no gateway, and nothing but a connection is made', async () => {
  const {port, ask, server} = await served();
  await new Promise((closed) => server.close(closed));
  expect((await ask(`127.0.0.1:${port}`)).status).toBe(502);
  const get = {':method': 'GET', ':path': '/', ':scheme': 'http'};
  expect((await ask('localhost', get)).status).toBe(405);
});
