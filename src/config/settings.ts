/** Settings: one schema, read in layers, frozen. Unknown keys are named with the nearest known one. */
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import leven from 'leven';
import {z} from 'zod';
import {UsageError} from '../core/errors.ts';

const settingsSchema = z.object({
  model: z.string().min(1).optional(),
  subagentModel: z.string().min(1).optional(),
  agents: z.record(z.string(), z.object({model: z.string().min(1).optional()})).optional(),
  permissions: z.object({allow: z.array(z.string()).optional(), deny: z.array(z.string()).optional()}).optional(),
  subagents: z.object({maxConcurrent: z.union([z.literal('auto'), z.int().min(1).max(64)]).optional()}).optional(),
  limits: z.object({idleSeconds: z.int().min(0).optional()}).optional(),
  retry: z
    .object({maxAttempts: z.int().min(1).max(20).optional(), maxWaitSeconds: z.number().min(0).optional()})
    .optional(),
  maxOutputTokens: z.int().min(256).optional(),
});

export type Settings = Readonly<z.infer<typeof settingsSchema>>;

/** Keys that are in the contract and come with a later release. */
const LATER = new Set(
  'fallback providers pricing sandbox hooks mcpServers verify fanOut retention roles trust thinking'.split(' '),
);
/** In a project's settings these could make a machine run code: they wait for trust in the directory. */
const NEEDS_TRUST: readonly (readonly string[])[] = [['permissions', 'allow']];

export interface LoadedSettings {
  readonly settings: Settings;
  /** One line each, for the user. */
  readonly warnings: readonly string[];
}

export interface SettingsPlaces {
  /** `~/.mini-cc`, or what `MINI_CC_HOME` names. */
  readonly home: string;
  readonly cwd: string;
  /** `--settings FILE`. */
  readonly explicit?: string;
}

/** Later layers win, key by key. @throws UsageError for a file that is wrong, with file and place. */
export function loadSettings(places: SettingsPlaces): LoadedSettings {
  const warnings: string[] = [];
  const project = path.join(places.cwd, '.mini-cc');
  const layers = [
    {file: path.join(places.home, 'settings.json'), trusted: true},
    {file: path.join(project, 'settings.json'), trusted: false},
    {file: path.join(project, 'settings.local.json'), trusted: false},
  ].filter(({file}) => existsSync(file));
  if (places.explicit !== undefined) {
    const file = path.resolve(places.cwd, places.explicit);
    if (!existsSync(file)) throw new UsageError(`--settings: no such file: ${file}`);
    layers.push({file, trusted: true});
  }
  let merged: Record<string, unknown> = {};
  for (const {file, trusted} of layers) {
    const layer = readLayer(file, warnings);
    if (!trusted) dropUntrusted(layer, file, warnings);
    merged = merge(merged, layer);
  }
  return {settings: Object.freeze(settingsSchema.parse(merged)), warnings};
}

function readLayer(file: string, warnings: string[]): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = settingsSchema.loose().safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UsageError(`${file}: ${issue?.path.join('.') || 'settings'}: ${issue?.message}`);
  }
  const known = Object.keys(settingsSchema.shape);
  for (const key of Object.keys(parsed.data)) {
    if (known.includes(key) || key === '$schema') continue;
    if (LATER.has(key)) warnings.push(`${file}: ${key} is not yet available and is ignored`);
    else warnings.push(`${file}: unknown key ${key} is ignored (did you mean ${nearest(key, known)}?)`);
  }
  return parsed.data;
}

function dropUntrusted(layer: Record<string, unknown>, file: string, warnings: string[]): void {
  for (const [section, key] of NEEDS_TRUST) {
    const part = layer[section!];
    if (!isRecord(part) || !(key! in part)) continue;
    delete part[key!];
    warnings.push(`${file}: ${section}.${key} is ignored: trust in a directory is not yet available`);
  }
}

function merge(below: Record<string, unknown>, above: Record<string, unknown>): Record<string, unknown> {
  const merged = {...below};
  for (const [key, value] of Object.entries(above)) {
    const old = merged[key];
    if (isRecord(old) && isRecord(value)) merged[key] = merge(old, value);
    // Rules add up: a deny from below is not lifted by a list from above.
    else if (Array.isArray(old) && Array.isArray(value)) merged[key] = [...new Set([...old, ...value])];
    else merged[key] = value;
  }
  return merged;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nearest(word: string, known: readonly string[]): string {
  return known.toSorted((a, b) => leven(word, a) - leven(word, b))[0]!;
}
