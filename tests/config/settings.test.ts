import {mkdirSync, mkdtempSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {memoryFiles} from '../../src/config/memory-files.ts';
import {loadSettings} from '../../src/config/settings.ts';

function places(files: Record<string, unknown>) {
  const base = mkdtempSync(path.join(tmpdir(), 'mini-cc-settings-'));
  for (const [name, value] of Object.entries(files)) {
    const file = path.join(base, name);
    mkdirSync(path.dirname(file), {recursive: true});
    writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
  }
  mkdirSync(path.join(base, 'work'), {recursive: true});
  return {home: path.join(base, 'home'), cwd: path.join(base, 'work'), base};
}

describe('settings', () => {
  it('of a nearer layer win, key by key', () => {
    const {base: _, ...at} = places({
      'home/settings.json': {model: 'opus', retry: {maxAttempts: 2}},
      'work/.mini-cc/settings.json': {model: 'sonnet', agents: {explore: {model: 'haiku'}}},
      'work/.mini-cc/settings.local.json': {retry: {maxWaitSeconds: 9}},
    });
    expect(loadSettings(at).settings).toEqual({
      model: 'sonnet',
      agents: {explore: {model: 'haiku'}},
      retry: {maxAttempts: 2, maxWaitSeconds: 9},
    });
  });

  it('by --settings win over all others; a missing file is an error of usage', () => {
    const at = places({'home/settings.json': {model: 'opus'}, 'x.json': {model: 'mine'}});
    expect(loadSettings({...at, explicit: '../x.json'}).settings.model).toBe('mine');
    expect(() => loadSettings({...at, explicit: 'gone.json'})).toThrow(/no such file: .*gone\.json/);
  });

  it('that are unknown are named with the nearest known key; those of a later release say so', () => {
    const {warnings} = loadSettings(places({'home/settings.json': {modle: 'x', providers: {}}}));
    expect(warnings.join('\n')).toMatch(/settings\.json: unknown key modle is ignored \(did you mean model\?\)/);
    expect(warnings.join('\n')).toMatch(/providers is not yet available/);
  });

  it('that are wrong name the file and the key', () => {
    expect(() => loadSettings(places({'home/settings.json': {retry: {maxAttempts: 'many'}}}))).toThrow(
      /settings\.json: retry\.maxAttempts: /,
    );
    expect(() => loadSettings(places({'home/settings.json': '{"model": '}))).toThrow(/settings\.json: /);
  });

  it('of a project cannot allow tools, and it is said; they can forbid', () => {
    const {settings, warnings} = loadSettings(
      places({'work/.mini-cc/settings.json': {permissions: {allow: ['bash'], deny: ['write_file']}}}),
    );
    expect(settings.permissions).toEqual({deny: ['write_file']});
    expect(warnings[0]).toContain('permissions.allow is ignored');
  });
});

describe('memory files', () => {
  it('are read from the repository down to the working directory, AGENTS.md before CLAUDE.md', () => {
    const {base} = places({
      'home/AGENTS.md': 'mine',
      'AGENTS.md': 'not of this repository',
      'repo/.git/HEAD': 'ref: refs/heads/main',
      'repo/AGENTS.md': 'root',
      'repo/CLAUDE.md': 'hidden by AGENTS.md',
      'repo/pkg/CLAUDE.md': 'near',
    });
    const texts = memoryFiles(path.join(base, 'repo', 'pkg'), path.join(base, 'home')).map((file) => file.text);
    expect(texts).toEqual(['mine', 'root', 'near']);
  });
});
