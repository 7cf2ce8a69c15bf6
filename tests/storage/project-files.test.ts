import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {listProjectFiles} from '../../src/storage/project-files.ts';
import {typescriptProject} from '../support/workspace.ts';

const none = () => Promise.reject(new Error('git lists the files'));

it('the files of a project are those that git tracks and those that it does not ignore, sorted, below the folder', async () => {
  const project = await typescriptProject();
  onTestFinished(project.remove);
  for (const name of ['src/new é.ts', 'a.ts', 'dist/main.js']) await project.write(name, '');
  const tracked = ['src/greet.ts', 'src/languages.ts', 'src/main.ts'];
  expect(await listProjectFiles(path.join(project.path, 'src'), none)).toEqual({
    tracked: tracked.map((name) => path.basename(name)),
    all: ['greet.ts', 'languages.ts', 'main.ts', 'new é.ts'],
  });
  expect(await listProjectFiles(project.path, none)).toEqual({
    tracked: ['.gitignore', 'README.md', 'package.json', ...tracked, 'tests/greet.test.ts'],
    all: ['.gitignore', 'README.md', 'a.ts', 'package.json', ...tracked, 'src/new é.ts', 'tests/greet.test.ts'],
  });
});

it('the files of a folder without git are all that are listed, sorted', async () => {
  const project = await typescriptProject({git: false});
  onTestFinished(project.remove);
  const listAll = () => Promise.resolve(['b', 'a']);
  expect(await listProjectFiles(project.path, listAll)).toEqual({tracked: ['a', 'b'], all: ['a', 'b']});
  expect(await listProjectFiles('/nowhere', listAll)).toEqual({tracked: ['a', 'b'], all: ['a', 'b']});
});
