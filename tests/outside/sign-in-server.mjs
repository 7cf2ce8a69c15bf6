// An MCP server whose logins are those of oidc-provider. It runs in the folder where that package is installed: PORT.
import {once} from 'node:events';
import {createServer} from 'node:http';
import Provider from 'oidc-provider';

// The addresses that it states need its port before it listens.
const probe = createServer().listen(Number(process.argv[2]), '127.0.0.1');
await once(probe, 'listening');
const {port} = probe.address();
await new Promise((resolve) => probe.close(resolve));
const base = `http://127.0.0.1:${port}`;
const resource = `${base}/mcp`;
const provider = new Provider(base, {
  clientDefaults: {grant_types: ['authorization_code', 'refresh_token']},
  features: {
    registration: {enabled: true},
    devInteractions: {enabled: false},
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({scope: 'notes', accessTokenFormat: 'opaque', accessTokenTTL: 600}),
    },
  },
  scopes: ['openid', 'offline_access', 'notes'],
  interactions: {url: (_, {uid}) => `/interaction/${uid}`},
  findAccount: (_, id) => ({accountId: id, claims: () => ({sub: id})}),
  issueRefreshToken: () => true,
  cookies: {keys: ['k']},
  ttl: {AccessToken: 600, Grant: 600, Session: 600, Interaction: 600, RefreshToken: 600},
});
const app = provider.callback();
createServer(async (req, res) => {
  const url = new URL(req.url, base);
  if (url.pathname === '/.well-known/oauth-protected-resource/mcp')
    return res
      .writeHead(200, {'content-type': 'application/json'})
      .end(JSON.stringify({resource, authorization_servers: [base], scopes_supported: ['notes']}));
  if (url.pathname.startsWith('/interaction/')) {
    const {prompt, params, grantId} = await provider.interactionDetails(req, res);
    if (prompt.name === 'login') return provider.interactionFinished(req, res, {login: {accountId: 'ada'}});
    const grant = grantId
      ? await provider.Grant.find(grantId)
      : new provider.Grant({accountId: 'ada', clientId: params.client_id});
    grant.addOIDCScope('openid offline_access notes');
    grant.addResourceScope(resource, 'notes');
    return provider.interactionFinished(
      req,
      res,
      {consent: {grantId: await grant.save()}},
      {mergeWithLastSubmission: true},
    );
  }
  if (url.pathname !== '/mcp') return app(req, res);
  let text = '';
  for await (const c of req) text += c;
  const token = await provider.AccessToken.find((req.headers.authorization ?? '').replace('Bearer ', ''));
  if (!token || token.isExpired || token.aud !== resource)
    return res
      .writeHead(401, {
        'www-authenticate': `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`,
      })
      .end();
  if (req.method !== 'POST') return res.writeHead(405).end();
  const {id, method, params} = JSON.parse(text);
  const results = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: {tools: {}},
      serverInfo: {name: 'closed', version: '1'},
    },
    'tools/list': {tools: [{name: 'who', inputSchema: {type: 'object'}}]},
    'tools/call': {content: [{type: 'text', text: `you are ${token.accountId}`}]},
  };
  if (id === undefined) return res.writeHead(202).end();
  if (!results[method]) return res.writeHead(400).end();
  res
    .writeHead(200, {'content-type': 'application/json'})
    .end(JSON.stringify({jsonrpc: '2.0', id, result: results[method]}));
}).listen(port, '127.0.0.1', () => console.log(base));
