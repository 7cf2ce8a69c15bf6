/** Finds the folders in which package managers keep the sources of a project's dependencies. */
import {existsSync} from 'node:fs';
import path from 'node:path';
import {traceLinks} from './trace-links.ts';

/** Paths below the home. */
const STORES = ['.cargo/registry', 'go/pkg/mod', '.m2/repository', '.gradle/caches/modules-2'];

/** @returns absolute paths of the existing stores, as given and with links resolved */
export function getPackageStores(home: string, env: Readonly<Record<string, string | undefined>>): string[] {
  const {CARGO_HOME, GOMODCACHE, GOPATH} = env;
  const moved = [
    ...(CARGO_HOME ? [path.join(CARGO_HOME, 'registry')] : []),
    ...(GOMODCACHE ? [GOMODCACHE] : []),
    ...(GOPATH ? [path.join(GOPATH.split(path.delimiter)[0]!, 'pkg', 'mod')] : []),
  ];
  const stores = [...STORES.map((name) => path.join(home, name)), ...moved].filter(
    (place) => path.isAbsolute(place) && existsSync(place),
  );
  return [...new Set(stores.flatMap((place) => [place, traceLinks(place)?.real ?? place]))];
}
