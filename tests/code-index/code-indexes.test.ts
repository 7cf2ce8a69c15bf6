import {mkdtempSync, realpathSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {CodeIndexes} from '../../src/code-index/code-indexes.ts';

const createFolder = () => realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-indexes-')));

function openIndexes(): CodeIndexes {
  const indexes = new CodeIndexes({
    ...{root: createFolder(), cacheFolder: createFolder()},
    env: {PATH: process.env.PATH ?? ''},
  });
  onTestFinished(() => indexes.close());
  return indexes;
}

test('three indexes stay open, those that were used last', () => {
  const indexes = openIndexes();
  const [a, b, c, d] = [createFolder(), createFolder(), createFolder(), createFolder()];
  const [first, second, third] = [indexes.for(a), indexes.for(b), indexes.for(c)];
  expect(indexes.for(a)).toBe(first);
  indexes.for(d);
  expect([indexes.for(a), indexes.for(c)]).toEqual([first, third]);
  expect(indexes.for(b)).not.toBe(second);
});

test('an index that is asked something is not closed for another one until it has answered', async () => {
  const indexes = openIndexes();
  const asked = createFolder();
  writeFileSync(path.join(asked, 'a.ts'), 'export const found = 1;\n');
  const index = indexes.for(asked);
  const answer = index.definitions({name: 'found'});
  for (const _ of [1, 2, 3, 4]) indexes.for(createFolder());
  expect((await answer).found).toMatchObject([{path: 'a.ts', line: 1}]);
  expect(indexes.for(asked)).toBe(index);
  for (const _ of [1, 2, 3]) indexes.for(createFolder());
  expect(indexes.for(asked)).not.toBe(index);
});
