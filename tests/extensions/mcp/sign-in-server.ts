/** An MCP server at an address that wants a login, with its sign-in server, on loopback. Both check what they get. */
import {createHash, randomUUID} from 'node:crypto';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {onTestFinished} from 'vitest';

interface Grant {
  readonly challenge: string;
  readonly scope: string;
}

export async function serveWithLogin() {
  const codes = new Map<string, Grant>();
  const tokens = new Map<string, string>();
  const refreshes = new Map<string, string>();
  const seen: string[] = [];
  const known = {wantedScope: 'read', issued: [] as string[]};
  let base = '';
  const issue = (scope: string) => {
    const [access, refresh] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    known.issued.push(access, refresh);
    tokens.set(access, scope);
    refreshes.set(refresh, scope);
    return {access_token: access, refresh_token: refresh, token_type: 'Bearer', expires_in: 3600, scope};
  };
  const json = (response: ServerResponse, body: unknown, status = 200) =>
    response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(body));
  const signIn: Readonly<Record<string, (text: string, url: URL, response: ServerResponse) => unknown>> = {
    '/.well-known/oauth-protected-resource/mcp': (_, __, response) =>
      json(response, {resource: `${base}/mcp`, authorization_servers: [base]}),
    '/.well-known/oauth-authorization-server': (_, __, response) =>
      json(response, {
        ...{issuer: base, authorization_endpoint: `${base}/authorize`, token_endpoint: `${base}/token`},
        ...{registration_endpoint: `${base}/register`, response_types_supported: ['code']},
        code_challenge_methods_supported: ['S256'],
      }),
    '/register': (text, _, response) => json(response, {...JSON.parse(text), client_id: 'registered'}, 201),
    '/authorize': (_, {searchParams}, response) => {
      const code = randomUUID();
      codes.set(code, {challenge: searchParams.get('code_challenge')!, scope: searchParams.get('scope') ?? ''});
      const back = new URL(searchParams.get('redirect_uri')!);
      back.search = new URLSearchParams({code, state: searchParams.get('state')!}).toString();
      response.writeHead(302, {location: back.href}).end();
    },
    '/token': (text, _, response) => {
      const asked = new URLSearchParams(text);
      seen.push(asked.get('grant_type')!);
      const scope = refreshes.get(asked.get('refresh_token') ?? '');
      if (scope !== undefined) {
        refreshes.delete(asked.get('refresh_token')!);
        return json(response, issue(scope));
      }
      const grant = codes.get(asked.get('code') ?? '');
      const verifier = createHash('sha256')
        .update(asked.get('code_verifier') ?? '')
        .digest('base64url');
      if (grant?.challenge !== verifier) return json(response, {error: 'invalid_grant'}, 400);
      return json(response, issue(grant.scope));
    },
  };
  const answerTool = (request: IncomingMessage, text: string, response: ServerResponse) => {
    const scope = tokens.get(request.headers.authorization?.replace('Bearer ', '') ?? '');
    const challenge = (more: string) => ({'www-authenticate': `Bearer ${more}scope="${known.wantedScope}"`});
    if (scope === undefined) return response.writeHead(401, challenge('')).end();
    if (request.method !== 'POST') return response.writeHead(405).end();
    const {id, method, params} = JSON.parse(text);
    if (id === undefined) return response.writeHead(202).end();
    if (method === 'tools/call' && scope !== known.wantedScope) {
      return response.writeHead(403, challenge('error="insufficient_scope", ')).end();
    }
    const {protocolVersion = ''} = params ?? {};
    const results: Record<string, unknown> = {
      initialize: {protocolVersion, capabilities: {tools: {}}, serverInfo: {name: 'closed', version: '1'}},
      'tools/list': {tools: [{name: 'say', inputSchema: {type: 'object'}}]},
      'tools/call': {content: [{type: 'text', text: `it is ${request.headers.authorization}`}]},
    };
    if (!results[method]) return response.writeHead(400).end();
    return json(response, {jsonrpc: '2.0', id, result: results[method]});
  };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const url = new URL(request.url!, base);
    if (url.pathname === '/mcp') return answerTool(request, text, response);
    return signIn[url.pathname] ? signIn[url.pathname]!(text, url, response) : response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${base}/mcp`,
    seen,
    known,
    forgetAccess: () => tokens.clear(),
    forgetAll: () => [tokens, refreshes].map((each) => each.clear()),
  };
}
