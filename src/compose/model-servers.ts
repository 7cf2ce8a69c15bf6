/** How many runs each model server may have, and what to say where no server is set. */
import type {Settings} from '../config/settings.ts';
import type {PoolSizes} from '../core/runs/pool.ts';
import {measureLocalCapacity} from '../models/local-capacity.ts';
import {type LocalServer, offerLocalServer} from '../models/local-servers.ts';
import type {SessionOptions} from './options.ts';

/** What the settings say, else 8 for hosted models, and for those of a server on this machine what it can take, up to 3. */
export function getPoolSizes(settings: Settings, env: SessionOptions['env']): PoolSizes {
  const size = settings.subagents?.maxConcurrent ?? 'auto';
  if (size !== 'auto') return size;
  return ({local, source}) =>
    local && source
      ? {server: source.baseURL, size: () => measureLocalCapacity({baseURL: source.baseURL, env})}
      : {server: source?.baseURL ?? '', size: 8};
}

const OFFLINE_BY_DEFAULT =
  'no API key or server is set: the offline model answers. For a real one: export ANTHROPIC_API_KEY=… (or ANTHROPIC_BASE_URL=… for a server of yours), then start again.';

/** One line each, for the user. @param servers those that run on this machine */
export function describeOffline(servers: readonly LocalServer[]): readonly string[] {
  return [OFFLINE_BY_DEFAULT, ...servers.map(offerLocalServer)];
}
