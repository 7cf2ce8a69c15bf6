/** Merges the values of several files. Each leaf knows the files that it comes from. */

import type {ToolFacts} from '../core/contract/tool-facts.ts';
import {expandToolNames} from '../core/permissions/rules/rule.ts';
import type {Path} from './jsonc-file.ts';
import {ADDS_UP, isAmong, LOWERS, NARROWS, WHOLE_ENTRIES} from './setting-keys.ts';

/** Values of `--setting-sources`. A source has settings, agents, skills, commands and memory. Default: all. */
export const SETTING_SOURCES = ['user', 'project', 'local'] as const;

export type SettingSource = (typeof SETTING_SOURCES)[number];
/** Says whether files of this source are read. @param sources undefined means all */
export function isRead(source: SettingSource, sources: readonly SettingSource[] | undefined): boolean {
  return sources?.includes(source) ?? true;
}

/** Where files are that the user and the project bring. */
export interface UserPlaces {
  readonly cwd: string;
  /** The user's home, which contains `.claude`. */
  readonly home: string;
  /** `~/.mini-cc`, or the folder that `MINI_CC_HOME` names. */
  readonly miniCcHome: string;
  /** Value of `--setting-sources`. Default: all. */
  readonly sources?: readonly SettingSource[] | undefined;
}

export type LayerName = SettingSource | 'command line' | 'managed';

export interface LayerSource {
  readonly layer: LayerName;
  readonly file: string;
}

export interface Leaf {
  readonly path: Path;
  readonly value: unknown;
  /** The files of the value, the weakest first. There are several only when lists add up. */
  readonly from: readonly LayerSource[];
}

interface Layer extends LayerSource {
  readonly values: object;
  /** True when the file belongs to the project, and not to the user. */
  readonly isProjects: boolean;
}

/**
 * Merges layers key by key.
 * @param layers the weakest first: a later one wins
 * @param tools resolve the names when lists narrow
 */
export function mergeLayers(layers: readonly Layer[], tools: readonly ToolFacts[]): Leaf[] {
  const leaves = new Map<string, Leaf>();
  const usersOwn = new Map<string, Leaf>();
  for (const {layer, file, values, isProjects} of layers) {
    for (const [path, value] of getLeaves(values, [])) {
      const id = JSON.stringify(path);
      const below = leaves.get(id);
      const from = {layer, file};
      const own = usersOwn.get(id);
      let leaf: Leaf = {path, value, from: [from]};
      if (below && isAmong(path, ADDS_UP)) leaf = addUp(below, value, from);
      else if (isProjects && own && isAmong(path, NARROWS)) leaf = narrow(own, value, from, tools);
      else if (isProjects && isLowered(path)) leaf = lower(own, leaf);
      leaves.set(id, leaf);
      if (!isProjects) usersOwn.set(id, leaf);
    }
  }
  return [...leaves.values()];
}

export function toTree(leaves: readonly Leaf[]): Record<string, unknown> {
  const tree: Record<string, unknown> = {};
  for (const {path, value} of leaves) {
    let at = tree;
    for (const key of path.slice(0, -1)) {
      if (!Object.hasOwn(at, key) || at[key] === null) at[key] = {};
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
  return {
    path: below.path,
    value: [...new Set([...toList(below.value), ...toList(value)])],
    from: [...below.from, from],
  };
}

/** Returns the names that both lists contain. `*` stands for all names. */
function narrow(
  {path, value: own, from: owners}: Leaf,
  value: unknown,
  from: LayerSource,
  tools: readonly ToolFacts[],
): Leaf {
  const [kept, asked] = [toList(own), toList(value)];
  const expand = (each: readonly string[]) => expandToolNames(each, tools);
  const names = new Set(expand(asked));
  const whole = kept.flatMap((name) => (name.includes('*') ? expand([name]) : name));
  const both = asked.includes('*') ? kept : whole.filter((name) => expand([name]).every((each) => names.has(each)));
  return {path, value: kept.includes('*') ? asked : both, from: [...owners, from]};
}

function isLowered(path: Path): boolean {
  return Object.keys(LOWERS).some((key) => `${key}.`.startsWith(`${path.join('.')}.`));
}

/** Returns the project's limit when it is lower than the user's own or the default, otherwise the latter. */
function lower(own: Leaf | undefined, asked: Leaf): Leaf {
  const most = own ? own.value : LOWERS[asked.path.join('.')];
  const isLower = typeof asked.value === 'number' && (typeof most !== 'number' || asked.value < most);
  return isLower ? asked : (own ?? {...asked, value: most});
}

function toList(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
