/** The environment variables that mini-cc reads. */

import {OWN_KEYS, type Variables} from '../core/secrets/known-secrets.ts';
import type {Leaf} from './layers.ts';

/** Variables that win over settings of files, by the key of the setting. */
export const VARIABLES_OVER_SETTINGS: Readonly<Record<string, string>> = {
  model: 'ANTHROPIC_MODEL',
  'fanOut.mode': 'MINI_CC_FAN_OUT',
};

/** Leaves out the variables whose setting the command line gives in `--settings`, which wins. */
export function withoutOverruled<V extends Variables>(env: V, origins: readonly Leaf[]): V {
  const given = origins.filter(({from}) => from.at(-1)?.layer === 'command line');
  const overruled = given.map(({path}) => VARIABLES_OVER_SETTINGS[path.join('.')]);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !overruled.includes(name))) as V;
}

/** Variables that are shown besides the keys. */
const SHOWN_VARIABLES = [
  'ANTHROPIC_BASE_URL',
  'ANTHROPIC_MODEL',
  'ANTHROPIC_DEFAULT_OPUS_MODEL',
  'ANTHROPIC_DEFAULT_SONNET_MODEL',
  'ANTHROPIC_DEFAULT_HAIKU_MODEL',
  'MINI_CC_HOME',
  'MINI_CC_DEBUG',
  'MINI_CC_FAN_OUT',
  'NO_COLOR',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
];

/** Says whether a key, a server or a provider is set. Without any of them the built-in model answers. */
export function isModelConfigured(
  env: Variables,
  {providers = {}}: {readonly providers?: object | undefined} = {},
): boolean {
  const isServerSet = env.ANTHROPIC_API_KEY || env.ANTHROPIC_AUTH_TOKEN || env.ANTHROPIC_BASE_URL;
  return Boolean(isServerSet) || Object.keys(providers).length > 0;
}

/** Lists each variable with what may be shown of it. For keys this is only whether they are set. */
export function describeVariables(env: Variables): {readonly name: string; readonly value: string}[] {
  const value = (name: string) => env[name] || 'not set';
  return [
    ...OWN_KEYS.map((name) => ({name, value: env[name] ? 'set' : 'not set'})),
    ...SHOWN_VARIABLES.map((name) => ({name, value: value(name)})),
  ];
}
