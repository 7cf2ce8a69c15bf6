import {chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync} from 'node:fs';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {runProgram} from '../../../src/core/util/processes.ts';
import {
  findOwnProgram,
  getCommandSearchPath,
  getOwnSearchPath,
  keepOutPrograms,
  namesProjectProgram,
} from '../../../src/core/util/programs.ts';

/** A repository whose workspace is a folder further down, and a folder elsewhere. All have the program `tool`. */
async function setUp() {
  const base = realpathSync(await mkdtemp(path.join(tmpdir(), 'programs-')));
  onTestFinished(() => rm(base, {recursive: true}));
  const workspace = path.join(base, 'repository/packages/app');
  const plant = (folder: string) => {
    mkdirSync(folder, {recursive: true});
    writeFileSync(path.join(folder, 'tool'), '#!/bin/sh\necho "$0"\n');
    chmodSync(path.join(folder, 'tool'), 0o755);
    return folder;
  };
  mkdirSync(path.join(base, 'repository/.git'), {recursive: true});
  const own = [path.join(workspace, 'node_modules/.bin'), path.join(base, 'repository/node_modules/.bin')].map(plant);
  const elsewhere = plant(path.join(base, 'tools'));
  const link = path.join(base, 'link');
  symlinkSync(own[0]!, link);
  keepOutPrograms(workspace);
  return {base, workspace, own, link, elsewhere};
}

test('a program of the workspace, of its repository, of a relative folder or behind a link to them is not one of mini-cc', async () => {
  const {own, link, elsewhere} = await setUp();
  const before = [...own, link, '', '.', 'node_modules/.bin'];
  const searchPath = [...before, elsewhere].join(':');
  expect(findOwnProgram('tool', searchPath)).toBe(path.join(elsewhere, 'tool'));
  expect(findOwnProgram('tool', before.join(':'))).toBeUndefined();
  expect(getOwnSearchPath(searchPath)).toBe(elsewhere);
  expect((await runProgram('tool', [], {env: {PATH: searchPath}})).stdout.toString().trim()).toBe(`${elsewhere}/tool`);
  expect(await runProgram('tool', [], {env: {PATH: before.join(':')}})).toMatchObject({ended: 'start', code: 'ENOENT'});
});

test('a link elsewhere to a program of the project is passed over too', async () => {
  const {base, own, elsewhere} = await setUp();
  const links = path.join(base, 'links');
  mkdirSync(links);
  symlinkSync(path.join(own[0]!, 'tool'), path.join(links, 'tool'));
  expect(findOwnProgram('tool', `${links}:${elsewhere}`)).toBe(path.join(elsewhere, 'tool'));
});

test('a workspace that has the system in it keeps no program out', () => {
  keepOutPrograms('/');
  expect(findOwnProgram('sh', '/usr/bin:/bin')).toBe('/usr/bin/sh');
});

test('commands do not see what npm put on PATH, but what the user put there', async () => {
  const {own, workspace, elsewhere} = await setUp();
  const venv = path.join(workspace, '.venv/bin');
  const PATH = [...own, venv, elsewhere].join(':');
  expect(getCommandSearchPath({PATH})).toBe(PATH);
  expect(getCommandSearchPath({PATH, npm_config_user_agent: 'npm/11'})).toBe(`${venv}:${elsewhere}`);
});

test('an editor of the project is recognised, with arguments and by a relative path', async () => {
  const {own, workspace, elsewhere} = await setUp();
  expect(namesProjectProgram(`${own[0]}/tool --wait`)).toBe(true);
  expect(namesProjectProgram(`env A=b "${workspace}/node_modules/.bin/tool"`)).toBe(true);
  expect(namesProjectProgram(path.relative(process.cwd(), `${own[0]}/tool`))).toBe(true);
  for (const fine of ['vi', 'code --wait', `${elsewhere}/tool -u ~/x`]) expect(namesProjectProgram(fine)).toBe(false);
});
