/** Model servers that run on this machine, found at the ports that they take by themselves. Nothing leaves the machine. */
import {createFetch} from './http-fetch.ts';
import {readModelNames} from './protocol.ts';
import {LOCAL_PROVIDERS, type ProviderSettings} from './providers.ts';

/** A server that is up answers at once. Milliseconds. */
const TIMEOUT_MS = 300;

export interface LocalServer {
  /** The provider's name: `ollama`. */
  readonly name: string;
  readonly label: string;
  readonly host: string;
  /** With the provider before them. */
  readonly models: readonly string[];
}

type Known = Readonly<Record<string, {readonly label: string; readonly settings: ProviderSettings}>>;

/** Those that answer with a list of models. Never rejects. */
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

/** Undefined where nothing listens, or something else does. */
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

/** One line that offers it to a person who has set no model. */
export function offerLocalServer({label, host, models: [first]}: LocalServer): string {
  const how = first === undefined ? 'it has no model yet' : `to use it: --model ${first}, or /model`;
  return `${label} answers at ${host}: ${how}`;
}
