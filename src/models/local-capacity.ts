/**
 * How many runs a model server on this machine can serve at the same time: 3, or fewer when the memory of the GPU is
 * too small. Measured once, at the first dispatch, in at most 300 ms, through Ollama's own API and nvidia-smi.
 */

import {runProgram} from '../core/util/processes.ts';
import {createFetch} from './http-fetch.ts';

const MAX_RUNS = 3;
const TIMEOUT_MS = 300;
/** A rough estimate, in MiB, of the GPU memory that one more run needs for its context. */
const MIB_PER_RUN = 1024;

interface CapacityOptions {
  readonly baseURL: string;
  /** Its PATH is searched for nvidia-smi. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** @returns 1 to 3. Never rejects. */
export async function measureLocalCapacity({baseURL, env}: CapacityOptions): Promise<number> {
  const [spills, freeMib] = await Promise.all([modelSpills(baseURL), getFreeGpuMemory(env)]);
  // A part of the model is in main memory already: a second run would only make both slow.
  if (spills) return 1;
  if (freeMib === undefined) return MAX_RUNS;
  return Math.min(MAX_RUNS, 1 + Math.floor(freeMib / MIB_PER_RUN));
}

/** Whether a loaded model is only partly in the GPU's memory, according to Ollama's `GET /api/ps`. */
async function modelSpills(baseURL: string): Promise<boolean> {
  try {
    const response = await createFetch()(new URL('/api/ps', baseURL), {signal: AbortSignal.timeout(TIMEOUT_MS)});
    const text = await response.text();
    return (
      response.ok && getLoadedModels(JSON.parse(text)).some(({size, size_vram: inGpu}) => inGpu > 0 && inGpu < size)
    );
  } catch {
    // Another kind of server, a slow one, or none: the first model call reports that better.
    return false;
  }
}

interface LoadedModel {
  readonly size: number;
  readonly size_vram: number;
}

function getLoadedModels(answer: unknown): LoadedModel[] {
  const models = typeof answer === 'object' && answer !== null && 'models' in answer ? answer.models : [];
  return (Array.isArray(models) ? models : []).filter(
    (model: Partial<LoadedModel> | null): model is LoadedModel =>
      typeof model?.size === 'number' && typeof model.size_vram === 'number',
  );
}

/** MiB that are free on all NVIDIA GPUs together; undefined when there is none, or nvidia-smi is missing or slow. */
async function getFreeGpuMemory(env: CapacityOptions['env']): Promise<number | undefined> {
  const args = ['--query-gpu=memory.free', '--format=csv,noheader,nounits'];
  const {exitCode, stdout} = await runProgram('nvidia-smi', args, {env, limitMs: TIMEOUT_MS, killSignal: 'SIGKILL'});
  const free = stdout
    .toString()
    .split('\n')
    .filter((line) => /^\s*\d+\s*$/.test(line));
  return exitCode !== 0 || free.length === 0 ? undefined : free.reduce((sum, line) => sum + Number(line), 0);
}
