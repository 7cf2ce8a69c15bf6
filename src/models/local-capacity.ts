/**
 * How many runs a model server on this machine can serve side by side: 3, or fewer when the memory of its GPU says so.
 * Asked at the first dispatch, in at most 300 ms, of what answers by itself: Ollama's own API and nvidia-smi.
 */
import {runProgram} from '../core/util/processes.ts';

const MOST = 3;
const LIMIT_MS = 300;
/** What one more run wants beside the model: its context, roughly. MiB. */
const RUN_MIB = 1024;

export interface CapacityPlaces {
  readonly baseURL: string;
  /** Where nvidia-smi is looked for. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** 1 to 3. Never rejects. */
export async function localCapacity(places: CapacityPlaces): Promise<number> {
  const [spills, freeMib] = await Promise.all([modelSpills(places.baseURL), freeGpuMemory(places.env)]);
  // Part of the model lies in main memory already: a second run would only make both slow.
  if (spills) return 1;
  if (freeMib === undefined) return MOST;
  return Math.min(MOST, 1 + Math.floor(freeMib / RUN_MIB));
}

/** Ollama, asked by `GET /api/ps`: does a loaded model lie in the GPU's memory only in part? */
async function modelSpills(baseURL: string): Promise<boolean> {
  try {
    const response = await fetch(new URL('/api/ps', baseURL), {signal: AbortSignal.timeout(LIMIT_MS)});
    if (!response.ok) return false;
    return loadedModels(await response.json()).some(({size, size_vram: inGpu}) => inGpu > 0 && inGpu < size);
  } catch {
    // Another kind of server, a slow one, or one that is down: the first model call says so better than we can here.
    return false;
  }
}

interface LoadedModel {
  readonly size: number;
  readonly size_vram: number;
}

function loadedModels(answer: unknown): LoadedModel[] {
  const models = typeof answer === 'object' && answer !== null && 'models' in answer ? answer.models : [];
  return (Array.isArray(models) ? models : []).filter(
    (model: Partial<LoadedModel> | null): model is LoadedModel =>
      typeof model?.size === 'number' && typeof model.size_vram === 'number',
  );
}

/** MiB that are free on all NVIDIA GPUs together; undefined where there is none, or nvidia-smi is slow or missing. */
async function freeGpuMemory(env: CapacityPlaces['env']): Promise<number | undefined> {
  const args = ['--query-gpu=memory.free', '--format=csv,noheader,nounits'];
  const {exitCode, stdout} = await runProgram('nvidia-smi', args, {env, limitMs: LIMIT_MS, killSignal: 'SIGKILL'});
  const free = stdout
    .toString()
    .split('\n')
    .filter((line) => /^\s*\d+\s*$/.test(line));
  return exitCode !== 0 || free.length === 0 ? undefined : free.reduce((sum, line) => sum + Number(line), 0);
}
