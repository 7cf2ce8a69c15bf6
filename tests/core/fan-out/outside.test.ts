/** What parts of a fan-out need changed outside of their files. */
import {mkdirSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {createOutsideScope, formatOutsidePrompt, parseOutside} from '../../../src/core/fan-out/part-runs.ts';
import {emptyFolder} from '../../support/workspace.ts';

test.each([
  ['Outside: src/a.ts: export f', [{path: 'src/a.ts', change: 'export f'}]],
  [
    '- **Outside:** `src/a b.ts` — export f \n\nOutside: c.ts - g',
    [
      {path: 'src/a b.ts', change: 'export f'},
      {path: 'c.ts', change: 'g'},
    ],
  ],
  ['Nothing outside: all is done', []],
  ['Outside: src/a.ts', []],
])('the report %j asks for %j', (report, requests) => {
  expect(parseOutside(report)).toEqual(requests);
});

test('one agent does them, in their order', () => {
  const requests = ['a.ts', 'b.ts'].map((each) => ({path: each, change: `change ${each}`}));
  const prompt = formatOutsidePrompt('fix all', requests);
  expect(prompt).toContain('\n\nfix all\n\n');
  expect(prompt).toMatch(/\n1\. a\.ts: change a\.ts\n2\. b\.ts: change b\.ts$/);
});

test('it may write the files that they name in the workspace, once each, besides those of the parts; only the latter are allowed', async () => {
  const folder = await emptyFolder();
  onTestFinished(folder.remove);
  mkdirSync(path.join(folder.path, '.git'));
  const names = ['a.ts', './a.ts', '../other.ts', '/etc/passwd', '.git/config', 'part.ts'];
  const requests = names.map((each) => ({path: each, change: 'x'}));
  const part = path.join(folder.path, 'part.ts');
  const scope = createOutsideScope(requests, {files: [part], allowed: [part]}, folder.path);
  expect(scope).toEqual({files: [path.join(folder.path, 'a.ts'), part], allowed: [part]});
});
