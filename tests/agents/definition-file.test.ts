import {execFileSync} from 'node:child_process';
import {chmod, mkdir, symlink} from 'node:fs/promises';
import path from 'node:path';
import {expect, test} from 'vitest';
import {readDefinitionFile} from '../../src/agents/definition-file.ts';
import {agentWorkspace} from './fixture.ts';

async function file(content: string | Uint8Array) {
  const workspace = await agentWorkspace();
  return workspace.write(workspace.project, 'x.json', content);
}

const getProblem = (name: string, lossy = false) => readDefinitionFile(name, {lossy}).problems[0];

test('a byte order mark is not part of the text', async () => {
  expect(readDefinitionFile(await file('\uFEFF{}'), {lossy: false})).toEqual({text: '{}', problems: []});
});

test('a file of four megabytes is read, a larger one is not', async () => {
  expect(readDefinitionFile(await file('x'.repeat(4 * 1024 * 1024)), {lossy: false}).problems).toEqual([]);
  const large = await file('x'.repeat(4.5 * 1024 * 1024));
  expect(getProblem(large)).toMatchObject({
    rule: 'too-large',
    message: 'has 4.5 MB, and at most 4 MB are read',
  });
});

test('bytes that are not UTF-8 are reported with line and column', async () => {
  const name = await file(Buffer.concat([Buffer.from('{\n "\uFFFD é'), Buffer.from([0xe9, 0x22]), Buffer.from('}')]));
  expect(getProblem(name)).toMatchObject({severity: 'error', rule: 'encoding', line: 2, column: 6});
  expect(readDefinitionFile(name, {lossy: true})).toMatchObject({
    text: '{\n "\uFFFD é\uFFFD"}',
    problems: [{severity: 'warning', line: 2, column: 6}],
  });
  expect(getProblem(await file(Buffer.from('\uFEFF{}', 'utf16le')))?.message).toBe('is UTF-16: save it as UTF-8');
});

test('the problem says what the path is: a folder, a pipe, a broken or circular link, or a missing file', async () => {
  const {root} = await agentWorkspace();
  const at = (name: string) => path.join(root, name);
  await mkdir(at('folder.json'));
  execFileSync('mkfifo', [at('pipe.json')]);
  await symlink('nowhere', at('broken.json'));
  await symlink('loop.json', at('loop.json'));
  const messages = ['folder.json', 'pipe.json', 'broken.json', 'loop.json', 'absent.json'].map(
    (name) => getProblem(at(name))?.message,
  );
  expect(messages).toEqual([
    'is a folder, not a file',
    'is not a regular file',
    'is a link to "nowhere", which is not there',
    'is a link that leads back to itself',
    'is not there',
  ]);
});

test('a link to a file is read', async () => {
  const target = await file('{}');
  await symlink(target, `${target}.link`);
  expect(readDefinitionFile(`${target}.link`, {lossy: false}).text).toBe('{}');
});

test('a file without read permission is reported', async () => {
  const name = await file('{}');
  await chmod(name, 0o000);
  const root = process.getuid?.() === 0;
  // Root may read everything.
  expect(getProblem(name)?.message).toBe(root ? undefined : 'cannot be read: permission denied');
});
