/**
 * Logs a person in to a server by their browser, as the authorization of the protocol says: the sign-in server is found,
 * mini-cc registers there, and the browser comes back with a code to an address of this machine.
 */
import {randomBytes} from 'node:crypto';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {
  type AuthProvider,
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type FetchLike,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import {inBackground} from '../../core/util/background.ts';
import {getErrorCode, getErrorMessage, MiniCcError} from '../../core/util/errors.ts';
import {withoutUndefined} from '../../core/util/objects.ts';
import {toOneLine} from '../../core/util/text.ts';
import {getClient, type Login} from './authorization.ts';
import type {StoredLogin} from './login-store.ts';

/**
 * Shows the address to open, and waits for the address that the browser ended at.
 * @returns what the person pasted; undefined when they gave up. It need not settle: `signal` says that it is not needed.
 */
export type ShowAddress = (address: string, signal: AbortSignal) => Promise<string | undefined>;

/** @returns what answers a challenge of the server with the whole login, and whether it did */
export function createBrowserAuth(login: Login, show: ShowAddress, signal: AbortSignal) {
  const {url, oauth, store} = login;
  let tokens: string | undefined;
  const logIn = async (
    challenge: {resourceMetadataUrl?: URL | undefined; scope?: string | undefined},
    fetchFn: FetchLike,
  ) => {
    const callback = await openCallback(oauth.callbackPort ?? 0);
    try {
      const client = new BrowserClient(login, callback.address);
      const scope = computeScopeUnion(oauth.scopes ?? challenge.scope, store.get(url).wantedScope);
      const {resourceMetadataUrl} = challenge;
      const options = {serverUrl: url, ...withoutUndefined({resourceMetadataUrl, scope}), fetchFn};
      await auth(client, {...options, forceReauthorization: true});
      if (!client.authorizationUrl) return;
      const params = await waitForCode(client.authorizationUrl, callback.arrived, show, signal);
      if (params.get('state') !== client.stateValue) throw new Error('the answer belongs to another login');
      const code = params.get('code');
      if (code === null) throw new Error(`it was refused: ${params.get('error_description') ?? params.get('error')}`);
      const iss = params.get('iss') ?? undefined;
      await auth(client, {...options, authorizationCode: code, ...withoutUndefined({iss})});
      await store.set(url, {client: client.client, tokens: client.saved});
      tokens = client.saved?.access_token;
    } catch (error) {
      throw new MiniCcError('MCP_LOGIN', toOneLine(`the login failed: ${getErrorMessage(error)}`), {cause: error});
    } finally {
      callback.close();
    }
  };
  const provider: AuthProvider = {
    // Without a token the server says what it wants.
    token: async () => tokens,
    onUnauthorized: ({response, fetchFn}) => logIn(extractWWWAuthenticateParams(response), fetchFn),
  };
  return {provider, logIn: () => logIn({}, fetch), isDone: () => tokens !== undefined};
}

async function waitForCode(
  address: URL,
  arrived: Promise<URLSearchParams>,
  show: ShowAddress,
  signal: AbortSignal,
): Promise<URLSearchParams> {
  const ended = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('it was stopped')), {once: true, signal: ended.signal});
  });
  const pasted = show(address.href, AbortSignal.any([signal, ended.signal])).then((text) => {
    if (text === undefined) throw new Error('it was given up');
    if (!URL.canParse(text.trim())) throw new Error('what was pasted is no address');
    return new URL(text.trim()).searchParams;
  });
  try {
    return await Promise.race([arrived, pasted, stopped]);
  } finally {
    ended.abort();
    inBackground(pasted, () => undefined);
  }
}

/** Listens on loopback for the browser that comes back. @param port 0: any that is free */
async function openCallback(port: number) {
  let arrive: (params: URLSearchParams) => void = () => undefined;
  const arrived = new Promise<URLSearchParams>((resolve) => {
    arrive = resolve;
  });
  const server = createServer((request, response) => {
    const {pathname, searchParams} = new URL(request.url ?? '/', 'http://localhost');
    if (pathname !== '/callback') return response.writeHead(404).end();
    response.writeHead(200, {'content-type': 'text/plain; charset=utf-8', connection: 'close'});
    response.end('mini-cc has the answer. You can close this page.\n');
    arrive(searchParams);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const why = getErrorCode(error) === 'EADDRINUSE' ? `the port ${port} is in use` : getErrorMessage(error);
      reject(new MiniCcError('MCP_LOGIN', `the login failed: ${why}`));
    });
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    address: `http://localhost:${(server.address() as AddressInfo).port}/callback`,
    arrived,
    close: () => server.close(),
  };
}

/** The client of one login. Nothing of it is stored before the login has succeeded. */
class BrowserClient implements OAuthClientProvider {
  client: StoredLogin['client'];
  saved: OAuthTokens | undefined;
  authorizationUrl: URL | undefined;
  readonly stateValue = randomBytes(24).toString('base64url');
  #verifier = '';
  #discovery: OAuthDiscoveryState | undefined;

  constructor(
    {oauth, clientSecret}: Login,
    readonly redirectUrl: string,
  ) {
    this.client = getClient(oauth, clientSecret);
  }

  get clientMetadata() {
    return {client_name: 'mini-cc', redirect_uris: [this.redirectUrl], token_endpoint_auth_method: 'none'};
  }

  state = () => this.stateValue;
  clientInformation = () => this.client;
  saveClientInformation = (client: NonNullable<StoredLogin['client']>) => {
    this.client = client;
  };
  tokens = () => undefined;
  saveTokens = (tokens: OAuthTokens) => {
    this.saved = tokens;
  };
  redirectToAuthorization = (address: URL) => {
    this.authorizationUrl = address;
  };
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
  saveDiscoveryState = (state: OAuthDiscoveryState) => {
    this.#discovery = state;
  };
  discoveryState = () => this.#discovery;
}
