import {chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {Redactor} from '../../src/core/secrets/redaction.ts';
import {SavedRules} from '../../src/storage/saved-rules.ts';

const NO_KEYS = new Redactor([]);

function folder(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'mini-cc-rules-'));
  onTestFinished(() => {
    chmodSync(made, 0o700);
    rmSync(made, {recursive: true, force: true});
  });
  return path.join(made, 'projects', 'slug');
}

test('rules are stored for their own project, once each, and only the user can read them', async () => {
  const at = folder();
  const mine = new SavedRules(at, '/project/a-b', NO_KEYS);
  const other = new SavedRules(at, '/project/a/b', NO_KEYS);
  expect(mine.read()).toEqual({rules: {}});
  await mine.add(['bash(npm test)']);
  await other.add(['bash(make)']);
  await mine.add(['bash(npm test)', 'edit_file(/src/**)']);
  expect(new SavedRules(at, '/project/a-b', NO_KEYS).read()).toEqual({
    rules: {allow: ['bash(npm test)', 'edit_file(/src/**)']},
  });
  expect(other.read()).toEqual({rules: {allow: ['bash(make)']}});
  expect(new SavedRules(at, '/work', NO_KEYS).read()).toEqual({rules: {}});
  await mine.add(['bash(rm:*)'], 'deny');
  await mine.remove('bash(npm test)', 'allow');
  expect(mine.read()).toEqual({rules: {allow: ['edit_file(/src/**)'], deny: ['bash(rm:*)']}});
  expect(statSync(mine.source).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(mine.source, 'utf8'))).toMatchObject({version: 1});
});

test.each([
  ['nonsense', '{"version": 1, "projects":', 'is not a file of permission rules of mini-cc'],
  ['something else', '{"version": 1, "projects": {"/work": ["bash"]}}', 'is not a file of permission rules of mini-cc'],
  ['a newer version', '{"version": 2, "projects": {}}', 'was written by a newer version of mini-cc'],
])('a file with %s gives no rules, says so, and is not overwritten', async (_, text, words) => {
  const at = folder();
  mkdirSync(at, {recursive: true});
  const rules = new SavedRules(at, '/work', NO_KEYS);
  writeFileSync(rules.source, text);
  expect(rules.read()).toEqual({rules: {}, warning: expect.stringContaining(words)});
  await expect(rules.add(['bash'])).rejects.toThrow(words);
  expect(readFileSync(rules.source, 'utf8')).toBe(text);
});
