/** Checks that a model server answers and accepts the key. It requests the list of models, which costs nothing. */
import {getErrorMessage} from '../core/util/errors.ts';
import {createFetch} from './http-fetch.ts';
import type {ModelServer} from './protocol.ts';

type ServerCheck =
  | {readonly reached: true; readonly refusesKey: boolean}
  /** `why` completes the sentence "HOST is not reached: WHY". */
  | {readonly reached: false; readonly why: string};

const TIMEOUT_MS = 4000;

/**
 * Checks the server. It never rejects. A server without such a list answers with an error, which shows that it works,
 * too.
 */
export async function checkServer({baseURL, api, apiKey, authToken, sendsKeyAs}: ModelServer): Promise<ServerCheck> {
  const isBearer = authToken !== undefined || api === 'openai' || sendsKeyAs === 'bearer';
  const value = authToken ?? apiKey;
  const key: Record<string, string> = value
    ? isBearer
      ? {authorization: `Bearer ${value}`}
      : {'x-api-key': value}
    : {};
  const path = api === 'openai' ? '/models' : '/v1/models?limit=1';
  try {
    const response = await createFetch()(`${baseURL.replace(/\/+$/, '')}${path}`, {
      headers: {'anthropic-version': '2023-06-01', ...key},
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.text();
    return {reached: true, refusesKey: [401, 403].includes(response.status)};
  } catch (error) {
    return {reached: false, why: getReason(error)};
  }
}

function getReason(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} s`;
  // The cause has the system's own message: `connect ECONNREFUSED 127.0.0.1:1`.
  const {cause} = error as {cause?: unknown};
  return cause instanceof Error && cause.message !== '' ? cause.message : getErrorMessage(error);
}
