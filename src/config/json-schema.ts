/** The schema of settings as JSON Schema for editors, and its keys, defaults and descriptions. */
import {z} from 'zod';
import {findMeant, findNearest, findTypo} from '../core/util/names.ts';
import {FORMAT_VERSION, settingsSchema} from './schema.ts';
import {FILE_KEYS, formatPath} from './setting-keys.ts';

const SETTINGS_SCHEMA_ID = `urn:mini-cc:schema:settings:${FORMAT_VERSION}`;

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** One setting. `open` marks an object whose keys the user chooses. */
export interface SettingDescription {
  readonly path: readonly string[];
  readonly description: string;
  readonly open: boolean;
  readonly default?: unknown;
  /** Text for a default that depends on other things. */
  readonly defaultText?: string;
}

/** Returns the JSON Schema (draft 2020-12) of a settings file. */
export function settingsJsonSchema(): Record<string, unknown> {
  const {$schema, ...rest} = z.toJSONSchema(settingsSchema, {
    io: 'input',
    override: ({jsonSchema}) => {
      const {defaultText, description} = jsonSchema;
      if (defaultText === undefined) return;
      delete jsonSchema.defaultText;
      jsonSchema.description = `${description} Default: ${defaultText}.`;
    },
  });
  return {$schema, $id: SETTINGS_SCHEMA_ID, title: 'mini-cc settings', ...rest};
}

/** Lists all settings in the order of the schema. */
export function allSettings(): SettingDescription[] {
  return below(rawSchema(), []).filter(({path}) => !FILE_KEYS.includes(path[0]!));
}

/**
 * Finds the known key that an unknown one was meant as, or the nearest key if none is similar. Keys are paths with
 * dots.
 */
export function getMeantKey(path: readonly string[]): {readonly meant?: string; readonly nearest?: string} {
  const parent = path.slice(0, -1);
  const wrong = path.at(-1)!;
  const nested = [...parent, ...wrong.split('.')];
  if (wrong.includes('.') && getObjectAt(rawSchema(), nested.slice(0, -1))?.properties?.[nested.at(-1)!]) {
    return {meant: `${nested.map((key) => JSON.stringify(key)).join(': {')}: …${'}'.repeat(nested.length - 1)}`};
  }
  const siblings = Object.keys(getObjectAt(rawSchema(), parent)?.properties ?? {});
  const slip = findTypo(wrong, siblings);
  if (slip !== undefined) return {meant: formatPath([...parent, slip])};
  // The key may be right but in the wrong place.
  const elsewhere = allSettings().find((setting) => !setting.open && setting.path.at(-1) === wrong);
  if (elsewhere) return {meant: formatPath(elsewhere.path)};
  const meant = findMeant(wrong, siblings);
  if (meant !== undefined) return {meant: formatPath([...parent, meant])};
  const nearest = findNearest(wrong, siblings);
  return nearest === undefined ? {} : {nearest: formatPath([...parent, nearest])};
}

function rawSchema(): JsonSchema {
  return z.toJSONSchema(settingsSchema, {io: 'input'});
}

function below(schema: JsonSchema, path: readonly string[]): SettingDescription[] {
  const {properties} = getObject(schema);
  if (properties) {
    return Object.entries(properties).flatMap(([key, value]) =>
      typeof value === 'object' ? below(value, [...path, key]) : [],
    );
  }
  const {description = '', default: fallback, defaultText, type} = schema;
  return [
    {
      path,
      description,
      open: type === 'object',
      ...(fallback === undefined ? {} : {default: fallback}),
      ...(typeof defaultText === 'string' ? {defaultText} : {}),
    },
  ];
}

/** @returns undefined when the path leaves the schema */
function getObjectAt(schema: JsonSchema, path: readonly string[]): JsonSchema | undefined {
  let at: JsonSchema = getObject(schema);
  for (const key of path) {
    const {properties = {}, additionalProperties} = at;
    const next = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
    if (typeof next !== 'object') return undefined;
    at = getObject(next);
  }
  return at;
}

/** Returns the object when the schema allows a word or an object. */
function getObject(schema: JsonSchema): JsonSchema {
  return schema.anyOf?.find((each): each is JsonSchema => typeof each === 'object' && each.type === 'object') ?? schema;
}
