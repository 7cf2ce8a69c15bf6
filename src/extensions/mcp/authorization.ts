/** Authorizes requests to a server at an address: by the tokens of a login, or as a program with its own credentials. */
import {
  type AuthProvider,
  computeScopeUnion,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  fetchToken,
  type OAuthClientProvider,
  type OAuthServerInfo,
  refreshAuthorization,
  selectResourceURL,
} from '@modelcontextprotocol/client';
import {MiniCcError} from '../../core/util/errors.ts';
import {withoutUndefined} from '../../core/util/objects.ts';
import {describeLogin, type LoginStore, type StoredLogin} from './login-store.ts';
import type {OAuthEntry} from './server-entry.ts';

/** A server at an address, and where its logins are stored. */
export interface Login {
  readonly url: string;
  readonly oauth: OAuthEntry;
  /** Secret of the client that the entry names. */
  readonly clientSecret: string | undefined;
  readonly store: LoginStore;
}

type Challenge = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0];

/** Authorizes requests without a person. */
export interface SessionAuth extends AuthProvider {
  /**
   * Stores the scope that the server wants beyond the granted one, for the next login.
   * @returns true when the program has got it by its own credentials
   */
  addScope(scope: string | undefined): Promise<boolean>;
}

/**
 * Uses the login that is stored. Nothing is asked of a sign-in server before the user logged in, or named a secret.
 * @param server name of the server, for the error that says how to log in
 */
export function createSessionAuth(login: Login, server: string): SessionAuth {
  const {url, store, clientSecret} = login;
  let sent: string | undefined;
  let last: Challenge | undefined;
  return {
    async token() {
      sent = store.get(url).tokens?.access_token;
      return sent;
    },
    async onUnauthorized(challenge) {
      last = challenge;
      const stored = store.get(url);
      // Another mini-cc may have got a new token in the meantime.
      if (stored.tokens && stored.tokens.access_token !== sent) return;
      if (stored.tokens?.refresh_token && (await refresh(login, stored, challenge))) return;
      if (clientSecret !== undefined && (await authorizeProgram(login, challenge))) return;
      throw new MiniCcError('MCP_AUTH', describeLogin(server));
    },
    async addScope(scope) {
      const stored = store.get(url);
      const wantedScope = computeScopeUnion(stored.wantedScope, stored.tokens?.scope as string | undefined, scope);
      await store.set(url, {...stored, wantedScope});
      if (stored.client || clientSecret === undefined || !last) return false;
      return authorizeProgram(login, last);
    },
  };
}

/** @returns false when the tokens cannot be used any more; they are then removed */
async function refresh({url, store, oauth, clientSecret}: Login, stored: StoredLogin, challenge: Challenge) {
  const {client = getClient(oauth, clientSecret), tokens} = stored;
  const {authorizationServerUrl, authorizationServerMetadata: metadata, resource} = await discover(url, challenge);
  const issuer = metadata?.issuer ?? authorizationServerUrl;
  if (!client || (tokens?.issuer !== undefined && tokens.issuer !== issuer)) return false;
  try {
    const {refresh_token: refreshToken = ''} = tokens ?? {};
    const fresh = await refreshAuthorization(authorizationServerUrl, {
      ...withoutUndefined({metadata, resource}),
      clientInformation: client,
      refreshToken,
      fetchFn: challenge.fetchFn,
    });
    await store.set(url, {...stored, tokens: {...tokens, ...fresh, issuer}});
    return true;
  } catch {
    if (store.get(url).tokens?.access_token === tokens?.access_token)
      await store.set(url, {...stored, tokens: undefined});
    return false;
  }
}

/** Gets a token for the program itself, where the sign-in server gives such tokens and no person can log in there. */
async function authorizeProgram(login: Login, challenge: Challenge): Promise<boolean> {
  const {url, oauth, clientSecret, store} = login;
  const {scope} = extractWWWAuthenticateParams(challenge.response);
  const found = await discover(url, challenge);
  const {grant_types_supported: grants = []} = found.authorizationServerMetadata ?? {};
  if (!grants.includes('client_credentials') || grants.includes('authorization_code')) return false;
  const {wantedScope} = store.get(url);
  const wanted = oauth.scopes ?? scope ?? found.resourceMetadata?.scopes_supported?.join(' ');
  const about = {
    metadata: found.authorizationServerMetadata,
    resource: found.resource,
    scope: computeScopeUnion(wanted, wantedScope),
  };
  const tokens = await fetchToken(new ProgramClient(oauth, clientSecret), found.authorizationServerUrl, {
    ...withoutUndefined(about),
    fetchFn: challenge.fetchFn,
  });
  await store.set(url, {tokens, wantedScope});
  return true;
}

/** Finds the sign-in server of an MCP server, and the name under which tokens for it are asked. */
async function discover(
  url: string,
  {response, fetchFn}: Challenge,
): Promise<OAuthServerInfo & {resource: string | URL | undefined}> {
  const {resourceMetadataUrl} = extractWWWAuthenticateParams(response);
  const info = await discoverOAuthServerInfo(url, {...withoutUndefined({resourceMetadataUrl}), fetchFn});
  const selected = await selectResourceURL(url, {} as OAuthClientProvider, info.resourceMetadata);
  return {...info, resource: selected && info.resourceMetadata ? info.resourceMetadata.resource : selected};
}

/** Returns the client that the entry names. */
export function getClient({clientId}: OAuthEntry, secret: string | undefined): StoredLogin['client'] {
  return clientId === undefined
    ? undefined
    : {client_id: clientId, ...(secret !== undefined && {client_secret: secret})};
}

/** A client that no person logs in to. */
class ProgramClient implements OAuthClientProvider {
  readonly redirectUrl = undefined;
  readonly clientMetadata = {redirect_uris: [], grant_types: ['client_credentials']};

  constructor(
    private readonly oauth: OAuthEntry,
    private readonly secret: string | undefined,
  ) {}

  clientInformation = () => getClient(this.oauth, this.secret);
  tokens = () => undefined;
  saveTokens = () => undefined;
  redirectToAuthorization = () => undefined;
  saveCodeVerifier = () => undefined;
  codeVerifier = () => '';
  prepareTokenRequest = (scope?: string) =>
    new URLSearchParams({grant_type: 'client_credentials', ...(scope !== undefined && {scope})});
}
