import {chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {Redactor} from '../../src/core/secrets/redaction.ts';
import {KeptRules} from '../../src/storage/saved-rules.ts';

const NO_KEYS = new Redactor([]);

function folder(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'mini-cc-rules-'));
  onTestFinished(() => {
    chmodSync(made, 0o700);
    rmSync(made, {recursive: true, force: true});
  });
  return path.join(made, 'projects', 'slug');
}

test('rules are kept for their project alone, once each, and readable by the user alone', async () => {
  const at = folder();
  const mine = new KeptRules(at, '/project/a-b', NO_KEYS);
  const other = new KeptRules(at, '/project/a/b', NO_KEYS);
  expect(mine.read()).toEqual({rules: []});
  await mine.add(['bash(npm test)']);
  await other.add(['bash(make)']);
  await mine.add(['bash(npm test)', 'edit_file(/src/**)']);
  expect(new KeptRules(at, '/project/a-b', NO_KEYS).read()).toEqual({rules: ['bash(npm test)', 'edit_file(/src/**)']});
  expect(other.read()).toEqual({rules: ['bash(make)']});
  expect(new KeptRules(at, '/work', NO_KEYS).read()).toEqual({rules: []});
  expect(statSync(mine.source).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(mine.source, 'utf8'))).toMatchObject({version: 1});
});

test.each([
  ['nonsense', '{"version": 1, "projects":', 'holds no rules of mini-cc'],
  ['something else', '{"version": 1, "projects": {"/work": ["bash"]}}', 'holds no rules of mini-cc'],
  ['a newer version', '{"version": 2, "projects": {}}', 'was written by a newer version of mini-cc'],
])('a file that holds %s gives no rules, says so, and is not written over', async (_, text, words) => {
  const at = folder();
  mkdirSync(at, {recursive: true});
  const rules = new KeptRules(at, '/work', NO_KEYS);
  writeFileSync(rules.source, text);
  expect(rules.read()).toEqual({rules: [], warning: expect.stringContaining(words)});
  await expect(rules.add(['bash'])).rejects.toThrow(words);
  expect(readFileSync(rules.source, 'utf8')).toBe(text);
});
