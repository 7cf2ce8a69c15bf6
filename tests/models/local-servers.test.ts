import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {expect, it, onTestFinished} from 'vitest';
import {findLocalServers, offerLocalServer} from '../../src/models/local-servers.ts';
import {startChatServer} from '../support/chat-server.ts';

async function otherServer(status: number, body: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(body)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('finds the servers that answer with a list of models, and offers them in one line', async () => {
  const chat = await startChatServer([]);
  onTestFinished(chat.close);
  const at = (baseURL: string, label = '') => ({label, settings: {baseURL}});
  const found = await findLocalServers({
    up: at(chat.url, 'Up'),
    down: at('http://127.0.0.1:1'),
    page: at(await otherServer(200, '<html>')),
    other: at(await otherServer(200, '{"hello": 1}')),
    failing: at(await otherServer(500, '{"data": []}')),
    silent: at(await otherServer(200, '{"data": []}'), 'Silent'),
  });
  const {host} = new URL(chat.url);
  expect(found[0]).toEqual({name: 'up', label: 'Up', host, models: ['up/gpt-test', 'up/gpt-small']});
  expect(found.slice(1)).toMatchObject([{name: 'silent', models: []}]);
  expect(found.map(offerLocalServer)).toEqual([
    `Up answers at ${host}: to use it: --model up/gpt-test, or /model`,
    expect.stringMatching(/^Silent answers at \S+: it has no model yet$/),
  ]);
});
