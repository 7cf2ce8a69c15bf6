/** Finds model servers on this machine at their default ports, and how many runs one can serve. Nothing leaves the machine. */

import {toFields} from '../core/util/objects.ts';
import {runProgram} from '../core/util/processes.ts';
import {findOwnProgram} from '../core/util/programs.ts';
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
      const models = await listModels(origin);
      return models && {name, label, host, models: models.map((id) => `${name}/${id}`)};
    }),
  );
  return found.filter((server) => server !== undefined);
}

/** Returns undefined when nothing or another program listens. */
async function listModels(origin: string): Promise<readonly string[] | undefined> {
  const body = await getJson('/v1/models', origin, TIMEOUT_MS);
  return Array.isArray(toFields(body).data) ? readModelNames(body) : undefined;
}

/** Returns undefined when the server sends no JSON, or is slow or missing. It never rejects. */
async function getJson(path: string, baseURL: string, limitMs: number): Promise<unknown> {
  try {
    const response = await createFetch()(new URL(path, baseURL), {signal: AbortSignal.timeout(limitMs)});
    const text = await response.text();
    return response.ok ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns one line that offers the server to a person who has set no model. */
export function offerLocalServer({label, host, models: [first]}: LocalServer): string {
  const how = first === undefined ? 'it has no model yet' : `to use it: --model ${first}, or /model`;
  return `${label} answers at ${host}: ${how}`;
}

const MAX_RUNS = 3;
/** A rough estimate of the GPU memory in MiB that one more run needs for its context. */
const MIB_PER_RUN = 1024;

interface CapacityOptions {
  readonly baseURL: string;
  /** Environment whose PATH is searched for nvidia-smi. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds for both answers. */
  readonly limitMs?: number;
}

/**
 * Measures how many runs a model server on this machine can serve at the same time: 3, or fewer when the memory of the
 * GPU is too small. It takes at most 300 ms, uses Ollama's own API and nvidia-smi, and never rejects.
 */
export async function measureLocalCapacity({baseURL, env, limitMs = TIMEOUT_MS}: CapacityOptions): Promise<number> {
  const [spills, freeMib] = await Promise.all([modelSpills(baseURL, limitMs), getFreeGpuMemory(env, limitMs)]);
  // A part of the model is in main memory already, so a second run would make both slow.
  if (spills) return 1;
  if (freeMib === undefined) return MAX_RUNS;
  return Math.min(MAX_RUNS, 1 + Math.floor(freeMib / MIB_PER_RUN));
}

/** Tells whether a loaded model is only partly in the GPU's memory, according to Ollama's `GET /api/ps`. */
async function modelSpills(baseURL: string, limitMs: number): Promise<boolean> {
  // A server of another kind has no such models. The first model call reports a missing one.
  const {models} = toFields(await getJson('/api/ps', baseURL, limitMs));
  return (
    Array.isArray(models) && models.filter(isLoadedModel).some(({size, size_vram: inGpu}) => inGpu > 0 && inGpu < size)
  );
}

interface LoadedModel {
  readonly size: number;
  readonly size_vram: number;
}

function isLoadedModel(model: Partial<LoadedModel> | null): model is LoadedModel {
  return typeof model?.size === 'number' && typeof model.size_vram === 'number';
}

/**
 * Returns the free memory of all NVIDIA GPUs in MiB; undefined when there is no GPU, or nvidia-smi is missing or slow.
 */
async function getFreeGpuMemory(env: CapacityOptions['env'], limitMs: number): Promise<number | undefined> {
  if (findOwnProgram('nvidia-smi', env.PATH) === undefined) return undefined;
  const args = ['--query-gpu=memory.free', '--format=csv,noheader,nounits'];
  const {exitCode, stdout} = await runProgram('nvidia-smi', args, {env, limitMs, killSignal: 'SIGKILL'});
  const free = stdout
    .toString()
    .split('\n')
    .filter((line) => /^\s*\d+\s*$/.test(line));
  return exitCode !== 0 || free.length === 0 ? undefined : free.reduce((sum, line) => sum + Number(line), 0);
}
