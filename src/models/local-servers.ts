/** Finds model servers on this machine at their default ports. Nothing leaves the machine. */
import {createFetch} from './http-fetch.ts';
import {readModelNames} from './protocol.ts';
import {LOCAL_PROVIDERS, type ProviderSettings} from './providers.ts';

/** Milliseconds. A running server answers at once. */
const TIMEOUT_MS = 300;

export interface LocalServer {
  /** Name of the provider, e.g. `ollama`. */
  readonly name: string;
  readonly label: string;
  readonly host: string;
  /** Names of models, each preceded by the provider. */
  readonly models: readonly string[];
}

type Known = Readonly<Record<string, {readonly label: string; readonly settings: ProviderSettings}>>;

/** Returns the servers that answer with a list of models. It never rejects. */
export async function findLocalServers(known: Known = LOCAL_PROVIDERS): Promise<readonly LocalServer[]> {
  const found = await Promise.all(
    Object.entries(known).map(async ([name, {label, settings}]): Promise<LocalServer | undefined> => {
      const {origin, host} = new URL(settings.baseURL ?? '');
      const models = await listModels(`${origin}/v1/models`);
      return models && {name, label, host, models: models.map((id) => `${name}/${id}`)};
    }),
  );
  return found.filter((server) => server !== undefined);
}

/** Returns undefined when nothing or another program listens. */
async function listModels(url: string): Promise<readonly string[] | undefined> {
  try {
    const response = await createFetch()(url, {signal: AbortSignal.timeout(TIMEOUT_MS)});
    const text = await response.text();
    const body: unknown = response.ok ? JSON.parse(text) : undefined;
    return Array.isArray((body as {data?: unknown} | undefined)?.data) ? readModelNames(body) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns one line that offers the server to a person who has set no model. */
export function offerLocalServer({label, host, models: [first]}: LocalServer): string {
  const how = first === undefined ? 'it has no model yet' : `to use it: --model ${first}, or /model`;
  return `${label} answers at ${host}: ${how}`;
}
