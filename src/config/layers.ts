/** Values of several files laid over each other, each leaf with the files that it comes from. */

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
  /** More than one only where lists add up, farthest first. */
  readonly from: readonly LayerSource[];
}

export interface Layer extends LayerSource {
  readonly values: object;
}

/** @param layers the farthest first: the nearest wins, key by key. */
export function layLayers(layers: readonly Layer[]): Leaf[] {
  const leaves = new Map<string, Leaf>();
  for (const {layer, file, values} of layers) {
    for (const [path, value] of leavesOf(values, [])) {
      const id = JSON.stringify(path);
      const below = leaves.get(id);
      const from = {layer, file};
      leaves.set(id, below && isAmong(path, ADDS_UP) ? sum(below, value, from) : {path, value, from: [from]});
    }
  }
  return [...leaves.values()];
}

/** The object that the leaves make up. */
export function treeOf(leaves: readonly Leaf[]): Record<string, unknown> {
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

function leavesOf(value: object, path: Path): [Path, unknown][] {
  return Object.entries(value).flatMap(([key, entry]): [Path, unknown][] => {
    const own = [...path, key];
    if (entry === undefined) return [];
    const isWhole = own.length > 1 && isAmong(own, WHOLE_ENTRIES);
    const isLeaf = typeof entry !== 'object' || entry === null || Array.isArray(entry) || isWhole;
    return isLeaf ? [[own, entry]] : leavesOf(entry, own);
  });
}

function sum(below: Leaf, value: unknown, from: LayerSource): Leaf {
  const entries = [below.value, value].flatMap((each) => (Array.isArray(each) ? each : []));
  return {path: below.path, value: [...new Set(entries)], from: [...below.from, from]};
}
