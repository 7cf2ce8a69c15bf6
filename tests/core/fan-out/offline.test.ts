/** Mechanical fan-outs of the built-in model: a rename by the code index, a replacement, a header. */
import {expect, test} from 'vitest';
import {say} from '../../support/messages-server.ts';
import {getText, openProject} from './session-fixture.ts';

const FILES: Readonly<Record<string, string>> = {
  'src/target.ts': 'export function target(x: number): number {\r\n  return x; // target\r\n}\r\n',
  'src/a.ts': "import {target} from './target.ts';\n\nexport const a = () => target(1) + target(2);\n",
  'src/b.ts': "import {target as t} from './target.ts';\n\nexport const b = () => t(1);\n",
  'src/c.ts':
    "import * as all from './target.ts';\n\nexport const c = (target: string) => `${target} ${all.target(3)}`;\n",
  'src/d.ts': "export const d = {target: 'a text about target'};\n",
  'src/e.ts': 'export {target} from "./target.ts";\n',
};
const offline = (files = FILES, more = {}) =>
  openProject({files, script: () => say('no server is asked'), options: {offline: true, ...more}});
const readAll = async (made: Awaited<ReturnType<typeof offline>>) =>
  Object.fromEntries(await Promise.all(Object.keys(FILES).map(async (file) => [file, await made.folder.read(file)])));

test('a rename in parts gives the same bytes as the rename of one agent, and is taken back to the byte', async () => {
  const one = await offline(FILES, {fanOut: 'off'});
  expect(await one.session.submit('Rename target to goal')).toMatchObject({result: {outcome: 'success'}});
  const made = await offline();
  const text = getText(await made.session.submit('Rename target to goal in all files'));
  expect(text).toMatch(/^fan-out: 3 agents · 3 ok · 5 files changed/);
  const after = await readAll(made);
  expect(after).toEqual(await readAll(one));
  expect(after['src/d.ts']).toBe(FILES['src/d.ts']);
  expect(after['src/c.ts']).toContain('(target: string) => `${target} ${all.goal(3)}`');
  expect(after['src/target.ts']).toBe('export function goal(x: number): number {\r\n  return x; // target\r\n}\r\n');
  expect(made.server.requests).toEqual([]);
  await made.session.submit('/fanout undo');
  expect(await readAll(made)).toEqual(FILES);
});

test('a rename that would not be whole is refused before any part begins', async () => {
  const {session, folder} = await offline();
  const files = Object.keys(FILES).filter((file) => file !== 'src/a.ts');
  const request = {type: 'fan_out', instruction: 'Rename target to goal', files} as const;
  await expect(session.request(request)).rejects.toThrow('src/a.ts would have to change, too. Nothing was changed.');
  expect(session.request({type: 'runs'})).toEqual([]);
  expect(await folder.git('status', '--short')).toBe('');
});

test('a text is replaced in all files; a part without it has nothing to do', async () => {
  const {session, folder} = await offline();
  const text = getText(await session.submit('Replace "a text about" with "words on" in all files in src/'));
  expect(text).toMatch(/^fan-out: 3 agents · 3 ok · 1 file changed/);
  expect(await folder.read('src/d.ts')).toBe("export const d = {target: 'words on target'};\n");
});

test('a header is put on top of each file, once, below the line of an interpreter', async () => {
  const files = {...FILES, 'src/run.js': '#!/usr/bin/env node\nrun();\n', 'src/z.ts': '// © Ann\nexport {};\n'};
  const {session, folder} = await offline(files);
  const text = getText(await session.submit('Add the header "// © Ann" to all files in src/'));
  expect(text).toMatch(/^fan-out: 3 agents · 3 ok · 7 files changed/);
  expect(await folder.read('src/a.ts')).toBe(`// © Ann\n${FILES['src/a.ts']}`);
  expect(await folder.read('src/target.ts')).toBe(`// © Ann\r\n${FILES['src/target.ts']}`);
  expect(await folder.read('src/run.js')).toBe('#!/usr/bin/env node\n// © Ann\nrun();\n');
  expect(await folder.read('src/z.ts')).toBe(files['src/z.ts']);
});

test('what it cannot do is an error', async () => {
  const {session} = await offline();
  expect(await session.submit('Refactor all files to use promises')).toMatchObject({result: {outcome: 'error'}});
});
