/** Servers at an address: a small one of the streamable kind, on loopback. */
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {expect, it, onTestFinished} from 'vitest';
import {call, openServers} from './fixture.ts';

const ANSWERS: Readonly<Record<string, (params: Record<string, unknown>) => object>> = {
  initialize: ({protocolVersion}) => ({
    protocolVersion,
    capabilities: {tools: {}},
    serverInfo: {name: 'loopback', version: '2'},
  }),
  'tools/list': () => ({tools: [{name: 'add', description: 'Adds', inputSchema: {type: 'object'}}]}),
  'tools/call': ({arguments: input}) => {
    const {a = 0, b = 0} = input as {a?: number; b?: number};
    return {content: [{type: 'text', text: String(a + b)}]};
  },
};

async function serve(token: string) {
  let session = 1;
  const seen: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    if (request.headers.authorization !== `Bearer ${token}`) return response.writeHead(401).end();
    if (request.method !== 'POST') return response.writeHead(405).end();
    const {id, method, params = {}} = JSON.parse(text);
    seen.push(method);
    const known = request.headers['mcp-session-id'];
    if (method !== 'initialize' && known !== String(session)) return response.writeHead(404).end();
    if (id === undefined) return response.writeHead(202).end();
    if (!ANSWERS[method]) return response.writeHead(400).end();
    const body = JSON.stringify({jsonrpc: '2.0', id, result: ANSWERS[method]!(params)});
    // Both ways in which such a server may answer.
    const isStream = method === 'tools/call';
    response.writeHead(200, {
      'content-type': isStream ? 'text/event-stream' : 'application/json',
      'mcp-session-id': String(session),
    });
    response.end(isStream ? `event: message\ndata: ${body}\n\n` : body);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const forget = () => {
    session += 1;
  };
  return {url, seen, forget};
}

it('speaks to a server over HTTP with its headers, and anew when it has forgotten the session', async () => {
  const {url, seen, forget} = await serve('s3cret');
  const entry = (token: string) => ({type: 'http', url: '${ADDRESS}', headers: {Authorization: `Bearer ${token}`}});
  const {mcp} = openServers(
    {math: entry('${TOKEN:-s3cret}'), closed: entry('wrong')},
    {env: {MCP_TIMEOUT: '60000', MCP_TOOL_TIMEOUT: '30000', ADDRESS: url}},
  );
  const source = mcp.forMain();
  expect((await call(source, 'mcp__math__add', {a: 2, b: 3})).text).toBe('5');
  forget();
  const lost = await call(source, 'mcp__math__add', {a: 2, b: 3});
  expect(lost).toMatchObject({
    isError: true,
    text: expect.stringMatching(/cannot be reached: .*The next call starts it anew\.$/),
  });
  expect((await call(source, 'mcp__math__add', {a: 1, b: 1})).text).toBe('2');
  expect(seen.filter((method) => method === 'initialize')).toHaveLength(2);
  expect((await call(source, 'mcp__closed__add')).text).toMatch(
    /^The MCP server closed cannot be used: it wants a login/,
  );
  const [closed, math] = mcp.list();
  expect([closed!.status, math!.status]).toEqual(['needs-auth', 'connected']);
  // What is shown of an entry has no value of a variable and no header.
  expect(JSON.stringify(mcp.list())).not.toMatch(/s3cret|127\.0\.0\.1/);
});
