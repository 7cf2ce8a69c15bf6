/** Merges the values of several files. Each leaf knows the files that it comes from. */
import type {Path} from './jsonc-file.ts';
import {ADDS_UP, isAmong, WHOLE_ENTRIES} from './keys.ts';

export type LayerName = 'user' | 'project' | 'local' | 'command line';

export interface LayerSource {
  readonly layer: LayerName;
  readonly file: string;
}

export interface Leaf {
  readonly path: Path;
  readonly value: unknown;
  /** Several only where lists add up, the weakest first. */
  readonly from: readonly LayerSource[];
}

interface Layer extends LayerSource {
  readonly values: object;
}

/** @param layers the weakest first: a later one wins, key by key. */
export function mergeLayers(layers: readonly Layer[]): Leaf[] {
  const leaves = new Map<string, Leaf>();
  for (const {layer, file, values} of layers) {
    for (const [path, value] of getLeaves(values, [])) {
      const id = JSON.stringify(path);
      const below = leaves.get(id);
      const from = {layer, file};
      leaves.set(id, below && isAmong(path, ADDS_UP) ? addUp(below, value, from) : {path, value, from: [from]});
    }
  }
  return [...leaves.values()];
}

/** The object made of the leaves. */
export function toTree(leaves: readonly Leaf[]): Record<string, unknown> {
  const tree: Record<string, unknown> = {};
  for (const {path, value} of leaves) {
    let at = tree;
    for (const key of path.slice(0, -1)) {
      if (!Object.hasOwn(at, key)) at[key] = {};
      at = at[key] as Record<string, unknown>;
    }
    at[path.at(-1)!] = value;
  }
  return tree;
}

function getLeaves(value: object, path: Path): [Path, unknown][] {
  return Object.entries(value).flatMap(([key, entry]): [Path, unknown][] => {
    const own = [...path, key];
    if (entry === undefined) return [];
    const isWhole = own.length > 1 && isAmong(own, WHOLE_ENTRIES);
    const isLeaf = typeof entry !== 'object' || entry === null || Array.isArray(entry) || isWhole;
    return isLeaf ? [[own, entry]] : getLeaves(entry, own);
  });
}

function addUp(below: Leaf, value: unknown, from: LayerSource): Leaf {
  const entries = [below.value, value].flatMap((each) => (Array.isArray(each) ? each : []));
  return {path: below.path, value: [...new Set(entries)], from: [...below.from, from]};
}
