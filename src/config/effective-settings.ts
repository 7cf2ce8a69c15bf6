/** The settings that take effect, for people to read: each value and its source. */
import {getKnownSecrets, type Variables} from '../core/secrets/known-secrets.ts';
import {Redactor} from '../core/secrets/redaction.ts';
import {mapTexts} from '../core/util/objects.ts';
import {removeLogins} from '../core/util/text.ts';
import {describeVariables, isModelConfigured, VARIABLES_OVER_SETTINGS, withoutOverruled} from './environment.ts';
import {allSettings, type SettingDescription} from './json-schema.ts';
import type {LayerName, Leaf} from './layers.ts';
import {formatPath, isAmong, NEVER_SHOWN} from './setting-keys.ts';
import {type LoadedSettings, loadSettings, type SettingsOptions} from './settings.ts';

export type {Variables} from '../core/secrets/known-secrets.ts';

export interface EffectiveSetting {
  readonly key: string;
  /** Null for a default that depends on other things. `text` names these. */
  readonly value: unknown;
  readonly text?: string;
  readonly source: 'default' | 'environment' | LayerName;
  /** The variable or the files. There are several when lists add up. */
  readonly from: readonly string[];
}

export interface EffectiveSettings {
  readonly settings: readonly EffectiveSetting[];
  /** For keys and tokens this says only whether they are set. */
  readonly environment: readonly {readonly name: string; readonly value: string}[];
  readonly files: LoadedSettings['files'];
  readonly warnings: readonly string[];
  readonly claims: LoadedSettings['claims'];
  /** True when no key, no server and no provider is set, so that the built-in model answers. */
  readonly offline: boolean;
}

/** @throws UsageError for wrong settings */
export function getEffectiveSettings(places: SettingsOptions, env: Variables): EffectiveSettings {
  const {settings: loaded, origins, files, warnings, keyNames, claims} = loadSettings(places);
  const redactor = new Redactor(getKnownSecrets(env, keyNames, [places.cwd, places.home]));
  const clean = <T>(value: T): T => redactor.values(mapTexts(value, removeLogins)) as T;
  const settings = allSettings().flatMap((each) => getEffective(each, origins, withoutOverruled(env, origins)));
  return {
    settings: settings.map((each) => ({...each, value: clean(each.value)})),
    environment: clean(describeVariables(env)),
    files,
    claims,
    warnings: clean(warnings),
    offline: !isModelConfigured(env, loaded),
  };
}

function getEffective(description: SettingDescription, origins: readonly Leaf[], env: Variables): EffectiveSetting[] {
  const key = formatPath(description.path);
  if (description.open) return origins.filter(({path}) => isAmong(path, [key])).map(fromFiles);
  const over = VARIABLES_OVER_SETTINGS[key];
  if (over !== undefined && env[over]) return [{key, value: env[over], source: 'environment', from: [over]}];
  const set = origins.find(({path}) => formatPath(path) === key);
  if (set) return [fromFiles(set)];
  const {default: value = null, defaultText: text} = description;
  return [{key, value, source: 'default', from: [], ...(text === undefined ? {} : {text})}];
}

function fromFiles({path, value, from}: Leaf): EffectiveSetting {
  const hidden = isAmong(path, NEVER_SHOWN);
  return {
    key: formatPath(path),
    value: hidden ? 'set' : value,
    source: from.at(-1)!.layer,
    from: from.map(({file}) => file),
  };
}
