import {describe, expect, it} from 'vitest';
import {z} from 'zod';
import {allSettings, settingsJsonSchema} from '../../src/config/json-schema.ts';
import {settingsSchema} from '../../src/config/schema.ts';
import {ADDS_UP, NEEDS_TRUST, STRICT, WHOLE_ENTRIES} from '../../src/config/setting-keys.ts';

describe('the JSON Schema of settings', () => {
  const schema = settingsJsonSchema();

  it('has an id, and allows its own keys alone', () => {
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'urn:mini-cc:schema:settings:1',
      type: 'object',
      additionalProperties: false,
    });
    expect(schema.required).toBeUndefined();
  });

  it('describes every setting, and names the default of each single one', () => {
    for (const {path, description, open, ...about} of allSettings()) {
      expect(description, path.join('.')).not.toBe('');
      if (!open) expect(about.default ?? about.defaultText, path.join('.')).toBeDefined();
    }
    expect(JSON.stringify(schema)).toContain('Default: 120 in print mode, 300 in the REPL.');
    expect(JSON.stringify(schema)).not.toContain('defaultText');
  });

  it('accepts what settings accept and refuses what they refuse', () => {
    const read = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    const good = {model: 'opus', sandbox: 'auto', subagents: {maxConcurrent: 'auto'}, agents: {x: {maxTurns: 400}}};
    const wrong = [
      {modle: 1},
      {sandbox: 'on'},
      {subagents: {maxConcurrent: 65}},
      {agents: {x: {maxTurns: 0}}},
      {model: ' '},
    ];
    expect(read.safeParse(good).success).toBe(true);
    expect(settingsSchema.safeParse(good).success).toBe(true);
    for (const each of wrong) {
      expect(read.safeParse(each).success, JSON.stringify(each)).toBe(false);
      expect(settingsSchema.safeParse(each).success, JSON.stringify(each)).toBe(false);
    }
  });

  it('accepts every default that it names', () => {
    for (const {path, default: value} of allSettings()) {
      if (value === undefined) continue;
      const settings = path.reduceRight<unknown>((inner, key) => ({[key]: inner}), value);
      expect(settingsSchema.safeParse(settings).success, path.join('.')).toBe(true);
    }
  });
});

/** Keys of other programs, which no project may set without trust once mini-cc reads them. */
const RESERVED = ['env', 'enabledPlugins', 'extraKnownMarketplaces'];

it('the rules for keys name only keys that exist, or are reserved', () => {
  expect(NEEDS_TRUST).toEqual(expect.arrayContaining(RESERVED));
  const known = [...RESERVED, ...allSettings().map(({path}) => path.join('.'))];
  for (const key of [...NEEDS_TRUST, ...STRICT, ...ADDS_UP, ...WHOLE_ENTRIES]) {
    expect(
      known.some((each) => each === key || each.startsWith(`${key}.`)),
      key,
    ).toBe(true);
  }
});
