/** Whether a model's server answers, and takes the key: asked for its list of models, which costs nothing. */
import {messageOf} from '../core/util/errors.ts';
import type {ModelServer} from './anthropic-model.ts';

export type ServerCheck =
  | {readonly reached: true; readonly refusesKey: boolean}
  /** `why`: the end of a sentence. */
  | {readonly reached: false; readonly why: string};

const LIMIT_MS = 4000;

/** Never rejects. Servers that keep no such list answer too, with an error. */
export async function checkServer({baseURL, apiKey, authToken}: ModelServer): Promise<ServerCheck> {
  const key: Record<string, string> = authToken
    ? {authorization: `Bearer ${authToken}`}
    : apiKey
      ? {'x-api-key': apiKey}
      : {};
  try {
    const {status, body} = await fetch(`${baseURL.replace(/\/+$/, '')}/v1/models?limit=1`, {
      headers: {'anthropic-version': '2023-06-01', ...key},
      // The key is for this server alone.
      redirect: 'manual',
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    await body?.cancel();
    return {reached: true, refusesKey: status === 401 || status === 403};
  } catch (error) {
    return {reached: false, why: reasonOf(error)};
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `it says nothing within ${LIMIT_MS / 1000} s`;
  // Beneath is what the system said: `connect ECONNREFUSED 127.0.0.1:1`.
  const {cause} = error as {cause?: unknown};
  return cause instanceof Error && cause.message !== '' ? cause.message : messageOf(error);
}
