import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {getEffectiveSettings} from '../../src/config/effective-settings.ts';
import {LOCAL, makeFolders, PROJECT, USER} from './fixture.ts';

describe('effective settings', () => {
  it('list every setting once, from its file or by default', () => {
    const at = makeFolders({[USER]: {limits: {idleSeconds: 2}}, [LOCAL]: {agents: {'a.b': {maxTurns: 3}}}});
    const {settings} = getEffectiveSettings(at, {});
    const keys = settings.map(({key}) => key);
    expect(new Set(keys).size).toBe(keys.length);
    const find = (key: string) => settings.find((each) => each.key === key);
    expect(find('limits.idleSeconds')).toEqual({
      key: 'limits.idleSeconds',
      value: 2,
      source: 'user',
      from: [path.join(at.base, USER)],
    });
    expect(find('agents."a.b".maxTurns')).toMatchObject({value: 3, source: 'local'});
    expect(find('limits.profile')).toEqual({key: 'limits.profile', value: 'standard', source: 'default', from: []});
    expect(find('retry.maxWaitSeconds')).toMatchObject({value: null, text: '120 in print mode, 300 in the REPL'});
    expect(keys.filter((key) => /^(?:hooks|version|\$schema)/.test(key))).toEqual([]);
  });

  it('name all files of rules that add up', () => {
    const at = makeFolders({[USER]: {permissions: {deny: ['bash']}}, [PROJECT]: {permissions: {deny: ['grep']}}});
    const {settings} = getEffectiveSettings(at, {});
    expect(settings.find(({key}) => key === 'permissions.deny')).toMatchObject({
      value: ['bash', 'grep'],
      from: [path.join(at.base, USER), path.join(at.base, PROJECT)],
    });
  });

  it('follow the environment where it wins over files, and the command line where it wins over both', () => {
    const at = makeFolders({[USER]: {model: 'opus'}});
    const model = (env: Record<string, string>) =>
      getEffectiveSettings(at, env).settings.find(({key}) => key === 'model');
    expect(model({ANTHROPIC_MODEL: 'haiku'})).toEqual({
      key: 'model',
      value: 'haiku',
      source: 'environment',
      from: ['ANTHROPIC_MODEL'],
    });
    const typed = {...at, explicit: '{"model": "sonnet"}'};
    const {settings} = getEffectiveSettings(typed, {ANTHROPIC_MODEL: 'haiku'});
    expect(settings.find(({key}) => key === 'model')).toMatchObject({value: 'sonnet', source: 'command line'});
    expect(model({ANTHROPIC_MODEL: ''})).toMatchObject({value: 'opus', source: 'user'});
    expect(getEffectiveSettings(at, {OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x'}).warnings).toEqual([]);
  });

  it('show of keys and tokens only whether they are set, in any setting or variable', () => {
    const env = {
      ANTHROPIC_API_KEY: 'sk-verysecret',
      ANTHROPIC_AUTH_TOKEN: '',
      ANTHROPIC_BASE_URL: 'https://me:pass-word@host.example/v1?key=query-secret',
      ANTHROPIC_MODEL: 'sk-verysecret',
    };
    const at = makeFolders({[USER]: {subagentModel: 'x-sk-verysecret', 'sk-verysecret': 1}});
    const shown = getEffectiveSettings(at, env);
    expect(JSON.stringify(shown)).not.toMatch(/verysecret|pass-word|query-secret/);
    const variable = (name: string) => shown.environment.find((each) => each.name === name)?.value;
    expect(variable('ANTHROPIC_API_KEY')).toBe('set');
    expect(variable('ANTHROPIC_AUTH_TOKEN')).toBe('not set');
    expect(variable('ANTHROPIC_BASE_URL')).toBe('https://…@host.example/v1?…');
    expect(shown.offline).toBe(false);
    expect(getEffectiveSettings(at, {}).offline).toBe(true);
  });
});
