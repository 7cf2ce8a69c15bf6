/** Settings: read in layers, checked, merged, frozen. */

import {realpathSync} from 'node:fs';
import path from 'node:path';
import type {Claim, Trusts} from '../core/contract/trust.ts';
import {showControls} from '../core/util/control-characters.ts';
import {UsageError} from '../core/util/errors.ts';
import {NOT_YET, notYet} from '../core/util/not-yet.ts';
import {formatProblem} from '../core/util/problem.ts';
import {NEEDS_TRUST, pathText} from './keys.ts';
import {type LayerName, type LayerSource, type Leaf, layLayers, treeOf} from './layers.ts';
import {type SettingsValues, settingsSchema} from './schema.ts';
import {readSettingsFile, remove, type SettingsFile, valueAt} from './settings-file.ts';

export type Settings = DeepReadonly<SettingsValues>;

type DeepReadonly<T> = T extends object ? {readonly [K in keyof T]: DeepReadonly<T[K]>} : T;

export interface LoadedSettings {
  /** What is set somewhere; nothing that its engine is still missing for. */
  readonly settings: Settings;
  /** One line each, for the user. */
  readonly warnings: readonly string[];
  /** Each value of `settings`, with the files that it comes from. */
  readonly origins: readonly Leaf[];
  /** All files that were looked for, the nearest last. */
  readonly files: readonly (LayerSource & {readonly found: boolean})[];
  /** Variables that hold keys of model servers, by `apiKeyEnv`. */
  readonly keyNames: readonly string[];
  /** What files of the project say that counts only where it is trusted, trusted or not. */
  readonly claims: readonly Claim[];
}

export interface SettingsPlaces {
  /** `~/.mini-cc`, or what `MINI_CC_HOME` names. */
  readonly home: string;
  readonly cwd: string;
  /** `--settings FILE`. */
  readonly explicit?: string;
  /** What the user trusts of the project's files; without it nothing. */
  readonly trusts?: Trusts;
}

/** A file that mistakes fill is told by its first ones. */
const MAX_ERRORS = 10;

/** Nearer layers win, key by key. @throws UsageError for files that are wrong: each mistake with its place. */
export function loadSettings(places: SettingsPlaces): LoadedSettings {
  const warnings: string[] = [];
  const errors: string[] = [];
  const keyNames: string[] = [];
  const claims: Claim[] = [];
  const layers = layerFiles(places).map((source) => {
    const {file, layer, isProjects} = source;
    const read = readSettingsFile(file, layer === 'command line');
    for (const problem of read.problems.toSorted((a, b) => a.line - b.line || a.column - b.column)) {
      (problem.severity === 'error' ? errors : warnings).push(formatProblem(problem));
    }
    if (isProjects) claims.push(...dropUntrusted(read, file, places.trusts));
    // Also while the engine of providers is missing: the key is there.
    keyNames.push(...Object.values(read.values.providers ?? {}).flatMap(({apiKeyEnv}) => apiKeyEnv ?? []));
    dropNotYet(read, file, warnings);
    return {file, layer, found: read.found, values: read.values};
  });
  if (errors.length > 0) throw new UsageError(showControls(shortened(errors).join('\n')));
  const origins = layLayers(layers);
  return deepFreeze({
    settings: settingsSchema.parse(treeOf(origins)),
    warnings: warnings.map(showControls),
    origins,
    files: layers.map(({file, layer, found}) => ({file, layer, found})),
    keyNames,
    claims,
  });
}

/** The farthest first. */
function layerFiles({home, cwd, explicit}: SettingsPlaces): {file: string; layer: LayerName; isProjects: boolean}[] {
  const project = path.join(cwd, '.mini-cc');
  // Started in the home directory, the project's folder is the user's own.
  const isHome = sameFolder(project, home);
  return [
    {file: path.join(home, 'settings.json'), layer: 'user', isProjects: false},
    ...(isHome ? [] : [{file: path.join(project, 'settings.json'), layer: 'project', isProjects: true} as const]),
    {file: path.join(project, 'settings.local.json'), layer: 'local', isProjects: !isHome},
    ...(explicit === undefined
      ? []
      : [{file: path.resolve(cwd, explicit), layer: 'command line', isProjects: false} as const]),
  ];
}

function sameFolder(a: string, b: string): boolean {
  return realOr(a) === realOr(b);
}

function realOr(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    // Not there or not to be entered: whoever reads files in it says so.
    return path.resolve(folder);
  }
}

/** @returns what needs trust in the file, also what is trusted. */
function dropUntrusted({values}: SettingsFile, file: string, trusts: Trusts = () => false): Claim[] {
  return NEEDS_TRUST.flatMap((key) => {
    const path = key.split('.');
    const value = valueAt(values, path);
    if (value === undefined) return [];
    const claim = {file, key, value};
    if (!trusts(claim)) remove(values, path);
    return [claim];
  });
}

function dropNotYet({values, tree}: SettingsFile, file: string, warnings: string[]): void {
  for (const key of NOT_YET.settings) {
    const keys = key.split('.');
    if (!remove(values, keys)) continue;
    const {line, column} = tree?.keyPlace(keys) ?? {line: 1, column: 1};
    warnings.push(`${file}:${line}:${column}: ${notYet(pathText(keys))} and is ignored`);
  }
}

function shortened(errors: readonly string[]): string[] {
  const more = errors.length - MAX_ERRORS;
  return more > 0 ? [...errors.slice(0, MAX_ERRORS), `and ${more} more`] : [...errors];
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const each of Object.values(value)) deepFreeze(each);
  }
  return value;
}
