/** What is in force here and why, for people to read: each setting's value and where it comes from. */

import {knownSecrets, type Variables} from '../core/secrets/known-secrets.ts';
import {Redactor} from '../core/secrets/redaction.ts';
import {NOT_YET, notYet} from '../core/util/not-yet.ts';
import {describeVariables, isModelConfigured, VARIABLES_OVER_SETTINGS} from './environment.ts';
import {allSettings, type SettingAbout} from './json-schema.ts';
import {isAmong, NEVER_SHOWN, pathText} from './keys.ts';
import type {LayerName, Leaf} from './layers.ts';
import {type LoadedSettings, loadSettings, type SettingsPlaces} from './settings.ts';

export type {Variables} from '../core/secrets/known-secrets.ts';

export interface SettingInForce {
  readonly key: string;
  /** Null for a default that depends: then `text` says on what. */
  readonly value: unknown;
  readonly text?: string;
  readonly source: 'default' | 'environment' | LayerName;
  /** The variable, or the files; more than one where lists add up. */
  readonly from: readonly string[];
}

export interface InForce {
  readonly settings: readonly SettingInForce[];
  /** Names and what may be shown of the values: of keys and tokens only whether they are set. */
  readonly environment: readonly {readonly name: string; readonly value: string}[];
  readonly files: LoadedSettings['files'];
  readonly warnings: readonly string[];
  readonly claims: LoadedSettings['claims'];
  /** No key and no server is set: the built-in model answers. */
  readonly offline: boolean;
}

/** @throws UsageError for settings that are wrong. */
export function settingsInForce(places: SettingsPlaces, env: Variables): InForce {
  const {origins, files, warnings, keyNames, claims} = loadSettings(places);
  const redactor = new Redactor(knownSecrets(env, keyNames, [places.cwd, places.home]));
  const clean = <T>(value: T): T => redactor.values(shown(value)) as T;
  const settings = allSettings()
    .filter(({path}) => !isAmong(path, NOT_YET.settings))
    .flatMap((about) => inForce(about, origins, env));
  const unused = NOT_YET.variables.filter((name) => env[name]).map((name) => `${notYet(name)} and is ignored`);
  return {
    settings: settings.map((each) => ({...each, value: clean(each.value)})),
    environment: clean(describeVariables(env)),
    files,
    claims,
    warnings: clean([...warnings, ...unused]),
    offline: !isModelConfigured(env),
  };
}

function inForce(about: SettingAbout, origins: readonly Leaf[], env: Variables): SettingInForce[] {
  const key = pathText(about.path);
  if (about.open) return origins.filter(({path}) => isAmong(path, [key])).map(fromFiles);
  const over = VARIABLES_OVER_SETTINGS[key];
  if (over !== undefined && env[over]) return [{key, value: env[over], source: 'environment', from: [over]}];
  const set = origins.find(({path}) => pathText(path) === key);
  if (set) return [fromFiles(set)];
  const {default: value = null, defaultText: text} = about;
  return [{key, value, source: 'default', from: [], ...(text === undefined ? {} : {text})}];
}

function fromFiles({path, value, from}: Leaf): SettingInForce {
  const hidden = isAmong(path, NEVER_SHOWN);
  return {
    key: pathText(path),
    value: hidden ? 'set' : value,
    source: from.at(-1)!.layer,
    from: from.map(({file}) => file),
  };
}

function shown(value: unknown): unknown {
  if (typeof value === 'string') return withoutLogins(value);
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shown(each)]));
}

/** The name, password and query of an address may be keys that nobody knows: `…` stands instead. */
function withoutLogins(text: string): string {
  return text
    .replace(/\b([a-z][a-z\d+.-]*:\/\/)[^\s/@]*@/gi, '$1…@')
    .replace(/\b(https?:\/\/[^\s?#]*)\?[^\s#]*/gi, '$1?…');
}
