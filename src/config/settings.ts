/** Reads the settings files as layers, checks them, merges them and freezes the result. */
import {realpathSync} from 'node:fs';
import path from 'node:path';
import type {Claim, Trusts} from '../core/contract/permission.ts';
import {UsageError} from '../core/util/errors.ts';
import {formatNotYetAvailable, PLANNED_FEATURES} from '../core/util/planned-features.ts';
import {formatProblem} from '../core/util/problem.ts';
import {showControls} from '../core/util/text.ts';
import {formatPath, NEEDS_TRUST} from './keys.ts';
import {type LayerName, type LayerSource, type Leaf, mergeLayers, toTree} from './layers.ts';
import {type SettingsValues, settingsSchema} from './schema.ts';
import {readSettingsFile, remove, type SettingsFile, valueAt} from './settings-file.ts';

export type Settings = DeepReadonly<SettingsValues>;

type DeepReadonly<T> = T extends object ? {readonly [K in keyof T]: DeepReadonly<T[K]>} : T;

export interface LoadedSettings {
  /** What some file sets, without what is not yet available. */
  readonly settings: Settings;
  /** One line each, for the user. */
  readonly warnings: readonly string[];
  /** Each value of `settings`, with the files that it comes from. */
  readonly origins: readonly Leaf[];
  /** All files that were looked for, the strongest last. */
  readonly files: readonly (LayerSource & {readonly found: boolean})[];
  /** Variables that hold keys of model servers, by `apiKeyEnv`. */
  readonly keyNames: readonly string[];
  /** What files of the project say that needs trust, whether it is trusted or not. */
  readonly claims: readonly Claim[];
}

export interface SettingsOptions {
  /** `~/.mini-cc`, or what `MINI_CC_HOME` names. */
  readonly home: string;
  readonly cwd: string;
  /** `--settings FILE`. */
  readonly explicit?: string;
  /** What the user trusts of the project's files. Default: nothing. */
  readonly trusts?: Trusts;
}

/** Of more errors only the first ones are printed. */
const MAX_ERRORS = 10;

/** Stronger layers win, key by key. @throws UsageError for files that are wrong, a line for each mistake. */
export function loadSettings(options: SettingsOptions): LoadedSettings {
  const warnings: string[] = [];
  const errors: string[] = [];
  const keyNames: string[] = [];
  const claims: Claim[] = [];
  const layers = layerFiles(options).map((source) => {
    const {file, layer, isProjects} = source;
    const read = readSettingsFile(file, layer === 'command line');
    for (const problem of read.problems.toSorted((a, b) => a.line - b.line || a.column - b.column)) {
      (problem.severity === 'error' ? errors : warnings).push(formatProblem(problem));
    }
    if (isProjects) claims.push(...dropUntrusted(read, file, options.trusts));
    // Also while providers are not yet available: the environment has their keys.
    keyNames.push(...Object.values(read.values.providers ?? {}).flatMap(({apiKeyEnv}) => apiKeyEnv ?? []));
    dropNotYet(read, file, warnings);
    return {file, layer, isProjects, found: read.found, values: read.values};
  });
  if (errors.length > 0) throw new UsageError(showControls(limitErrors(errors).join('\n')));
  const origins = mergeLayers(layers);
  return deepFreeze({
    settings: settingsSchema.parse(toTree(origins)),
    warnings: warnings.map(showControls),
    origins,
    files: layers.map(({file, layer, found}) => ({file, layer, found})),
    keyNames,
    claims,
  });
}

/** The weakest first. */
function layerFiles({home, cwd, explicit}: SettingsOptions): {file: string; layer: LayerName; isProjects: boolean}[] {
  const project = path.join(cwd, '.mini-cc');
  // Started in the home directory, the project's folder is the user's own.
  const isHome = getRealPath(project) === getRealPath(home);
  return [
    {file: path.join(home, 'settings.json'), layer: 'user', isProjects: false},
    ...(isHome ? [] : [{file: path.join(project, 'settings.json'), layer: 'project', isProjects: true} as const]),
    {file: path.join(project, 'settings.local.json'), layer: 'local', isProjects: !isHome},
    ...(explicit === undefined
      ? []
      : [{file: path.resolve(cwd, explicit), layer: 'command line', isProjects: false} as const]),
  ];
}

function getRealPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    // It does not exist or cannot be entered: reading files in it reports that.
    return path.resolve(folder);
  }
}

/** Removes what is not trusted. @returns all that needs trust in the file. */
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
  for (const key of PLANNED_FEATURES.settings) {
    const keys = key.split('.');
    if (!remove(values, keys)) continue;
    const {line, column} = tree?.keyPlace(keys) ?? {line: 1, column: 1};
    warnings.push(`${file}:${line}:${column}: ${formatNotYetAvailable(formatPath(keys))} and is ignored`);
  }
}

function limitErrors(errors: readonly string[]): string[] {
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
